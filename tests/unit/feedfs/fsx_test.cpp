// Random operations on a volume through the library, beside a model: two openings of it take turns.
// FEEDFS_FSX_SECONDS=3600 (with FEEDFS_FSX_SEED) goes on for so long with one seed after another.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>

#include "tests/support/feedfs_random_operations.hpp"
#include "tests/unit/feedfs/volume_rig.hpp"

using namespace feedbench::test;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class LibraryTarget final : public FsxTarget {
  public:
    explicit LibraryTarget(VolumeRig& rig) : rig_(rig) { restart(); }

    int write(const std::string& path, const std::vector<FsxPiece>& pieces, std::uint64_t size, bool exclusive,
              bool sync) override {
        FileSystem& fs = next();
        const auto at = fs.resolve_parent(path);
        if (!at) return at.error().errno_value;
        WriteOptions how;
        how.exclusive = exclusive;
        const auto there = fs.lookup(at->parent, at->name);
        if (there && exclusive) return EEXIST;
        if (there && there->type == InodeType::directory) return EISDIR;
        if (there) how.entry.mode = there->mode;
        const auto writer = fs.create(at->parent, at->name, how);
        if (!writer) return writer.error().errno_value;
        for (const FsxPiece& piece : pieces)
            if (const auto ok = (*writer)->write(piece.offset, std::as_bytes(std::span(piece.bytes))); !ok)
                return ok.error().errno_value;
        if (const auto ok = (*writer)->truncate(size); !ok) return ok.error().errno_value;
        const auto published = fs.publish(**writer, sync ? Publish::durable : Publish::visible);
        return published ? 0 : published.error().errno_value;
    }
    int read(const std::string& path, std::uint64_t offset, std::uint64_t bytes, std::string& out) override {
        const auto file = next().open_read(path);
        return file ? read_from(**file, offset, bytes, out) : file.error().errno_value;
    }
    int change_written(const std::string& path, std::uint64_t) override {
        // There is no call that could: another exclusive file in its place is refused, and nothing is changed.
        const int answer = write(path, {{0, "changed"}}, 7, true, false);
        return answer == EEXIST ? EOPNOTSUPP : answer;
    }
    int open(const std::string& path, int slot) override {
        auto file = next().open_read(path);
        if (!file) return file.error().errno_value;
        open_[slot] = std::move(*file);
        return 0;
    }
    int read_open(int slot, std::uint64_t offset, std::uint64_t bytes, std::string& out) override {
        return read_from(*open_.at(slot), offset, bytes, out);
    }
    void close(int slot) override { open_.erase(slot); }
    int rename(const std::string& from, const std::string& to) override {
        FileSystem& fs = next();
        const auto source = fs.resolve_parent(from), target = fs.resolve_parent(to);
        if (!source || !target) return ENOENT;
        return answer(fs.rename({source->parent, source->name, target->parent, target->name, true}));
    }
    int unlink(const std::string& path) override {
        return at(path, [](FileSystem& fs, InodeId parent, const std::string& name) {
            return answer(fs.unlink(parent, name));
        });
    }
    int mkdir(const std::string& path) override {
        return at(path, [](FileSystem& fs, InodeId parent, const std::string& name) {
            return answer(fs.make_directory(parent, name, {.mode = 0755}));
        });
    }
    int rmdir(const std::string& path) override {
        return at(path, [](FileSystem& fs, InodeId parent, const std::string& name) {
            return answer(fs.remove_directory(parent, name));
        });
    }
    int symlink(const std::string& target, const std::string& path) override {
        return at(path, [&](FileSystem& fs, InodeId parent, const std::string& name) {
            return answer(fs.make_symlink(parent, name, target, {.mode = 0777}));
        });
    }
    int readlink(const std::string& path, std::string& out) override {
        return at(path, [&](FileSystem& fs, InodeId parent, const std::string& name) {
            const auto inode = fs.lookup(parent, name);
            if (inode) out = inode->symlink_target;
            return answer(inode);
        });
    }
    int chmod(const std::string& path, unsigned mode) override {
        return change(path, [&](AttributeChange& wanted) { wanted.mode = mode; });
    }
    int set_mtime(const std::string& path, std::int64_t ns) override {
        return change(path, [&](AttributeChange& wanted) { wanted.mtime_ns = ns; });
    }
    int stat(const std::string& path, FsxStat& out) override {
        return at(path, [&](FileSystem& fs, InodeId parent, const std::string& name) {
            const auto inode = fs.lookup(parent, name);
            if (!inode) return inode.error().errno_value;
            out.kind = inode->type == InodeType::directory ? 'd' : inode->type == InodeType::symlink ? 'l' : 'f';
            out.size = inode->size_bytes;
            out.mode = inode->mode;
            out.mtime_ns = inode->mtime_ns;
            return 0;
        });
    }
    int list(const std::string& path, std::set<std::string>& names) override {
        FileSystem& fs = next();
        const auto directory = fs.resolve(path);
        if (!directory) return directory.error().errno_value;
        std::vector<DirectoryEntry> page;
        std::string after;
        do { // in small pages, so that there are several
            page.clear();
            if (const auto ok = fs.read_directory(directory->inode.id, after, 3, page); !ok)
                return ok.error().errno_value;
            for (const DirectoryEntry& one : page)
                if (!names.insert(after = one.name).second) return EEXIST;
        } while (page.size() == 3);
        return 0;
    }
    int sync() override { return answer(next().sync()); }
    bool keeps_replaced_content() const override { return true; }
    void restart() override {
        open_.clear();
        other_.reset();
        rig_.open();
        other_ = rig_.open_another();
    }

  private:
    FileSystem& next() { return ++turn_ % 2 == 0 ? *rig_.fs : *other_; }
    template <class Answer>
    static int answer(const Answer& given) {
        return given ? 0 : given.error().errno_value;
    }
    template <class Call>
    int at(const std::string& path, const Call& call) {
        FileSystem& fs = next();
        const auto found = fs.resolve_parent(path);
        return found ? call(fs, found->parent, found->name) : found.error().errno_value;
    }
    template <class Set>
    int change(const std::string& path, const Set& set) {
        AttributeChange wanted;
        set(wanted);
        return at(path, [&](FileSystem& fs, InodeId parent, const std::string& name) {
            return answer(fs.set_attributes(parent, name, wanted));
        });
    }
    static int read_from(ReadFile& file, std::uint64_t offset, std::uint64_t bytes, std::string& out) {
        out.resize(bytes);
        const auto got = file.read(offset, std::as_writable_bytes(std::span(out)));
        if (!got) return got.error().errno_value;
        out.resize(*got);
        return 0;
    }

    VolumeRig& rig_;
    std::unique_ptr<FileSystem> other_;
    std::map<int, std::shared_ptr<ReadFile>> open_;
    unsigned turn_ = 0;
};

void play(std::uint64_t seed, std::uint64_t count) {
    VolumeRig rig;
    LibraryTarget target(rig);
    RandomOperations operations(seed, &target, 400'000);
    operations.run(count);
    operations.verify_all();
    target.restart();
    operations.verify_all();
}

} // namespace

TEST_CASE("random operations on a volume end as the model has them") {
    const std::uint64_t first = from_environment("FEEDFS_FSX_SEED", 1),
                        seconds = from_environment("FEEDFS_FSX_SECONDS", 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t seed = first;
    do {
        INFO("seed " << seed);
        REQUIRE_NOTHROW(play(seed, 1500));
        ++seed;
    } while (seed < first + 3 || std::chrono::steady_clock::now() < end);
}

TEST_CASE("the model notices a filesystem that loses a write") {
    struct Forgetful final : FsxTarget {
        explicit Forgetful(FsxTarget& inner) : inner_(inner) {}
        int write(const std::string& p, const std::vector<FsxPiece>& pieces, std::uint64_t size, bool x,
                  bool sync) override {
            auto kept = pieces;
            if (!kept.empty() && !kept.front().bytes.empty())
                kept.front().bytes[0] = static_cast<char>(kept.front().bytes[0] ^ 1);
            return inner_.write(p, kept, size, x, sync);
        }
        int read(const std::string& p, std::uint64_t o, std::uint64_t n, std::string& out) override {
            return inner_.read(p, o, n, out);
        }
        int change_written(const std::string& p, std::uint64_t o) override { return inner_.change_written(p, o); }
        int open(const std::string& p, int s) override { return inner_.open(p, s); }
        int read_open(int s, std::uint64_t o, std::uint64_t n, std::string& out) override {
            return inner_.read_open(s, o, n, out);
        }
        void close(int s) override { inner_.close(s); }
        int rename(const std::string& a, const std::string& b) override { return inner_.rename(a, b); }
        int unlink(const std::string& p) override { return inner_.unlink(p); }
        int mkdir(const std::string& p) override { return inner_.mkdir(p); }
        int rmdir(const std::string& p) override { return inner_.rmdir(p); }
        int symlink(const std::string& t, const std::string& p) override { return inner_.symlink(t, p); }
        int readlink(const std::string& p, std::string& out) override { return inner_.readlink(p, out); }
        int chmod(const std::string& p, unsigned m) override { return inner_.chmod(p, m); }
        int set_mtime(const std::string& p, std::int64_t ns) override { return inner_.set_mtime(p, ns); }
        int stat(const std::string& p, FsxStat& out) override { return inner_.stat(p, out); }
        int list(const std::string& p, std::set<std::string>& names) override { return inner_.list(p, names); }
        int sync() override { return inner_.sync(); }
        bool keeps_replaced_content() const override { return true; }
        FsxTarget& inner_;
    };
    VolumeRig rig;
    LibraryTarget sound(rig);
    Forgetful target(sound);
    RandomOperations operations(5, &target, 10'000);
    REQUIRE_THROWS_AS(
        [&] {
            operations.run(300);
            operations.verify_all();
        }(),
        std::runtime_error);
}
