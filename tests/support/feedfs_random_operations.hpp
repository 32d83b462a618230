// Random operations on a filesystem beside a model of it in memory, in the manner of fsx and fsstress: after each one
// the filesystem must say what the model says. What is allowed is feedfs' semantics: a file is written once, replaced
// whole.
//
// The operations are a function of the seed alone, so the model can be played again without the filesystem (after a
// a remount, in another process) and compared with it.
//
// Thread: one. Owner: the test. Units: bytes. Errors: those of FsxModel. Source: issue 7.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>

#include "tests/support/feedfs_fsx_model.hpp"

namespace feedbench::test {

class RandomOperations : public FsxModel {
  public:
    RandomOperations(std::uint64_t seed, FsxTarget* target, std::uint64_t largest_bytes)
        : FsxModel(seed, target), random_(seed), largest_(largest_bytes) {}
    ~RandomOperations() {
        for (const auto& [slot, node] : slots_)
            if (target_) target_->close(slot);
    }
    RandomOperations(const RandomOperations&) = delete;
    RandomOperations& operator=(const RandomOperations&) = delete;

    void run(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i, ++number_) step();
    }

  private:
    static constexpr int kSlots = 6;

    std::uint64_t draw(std::uint64_t below) { return random_() % below; }
    bool one_in(std::uint64_t n) { return draw(n) == 0; }
    // A name that may or may not be there: few enough that operations meet.
    std::string some_path() {
        std::string path;
        for (std::uint64_t depth = draw(3); depth > 0; --depth) path += "d" + std::to_string(draw(3)) + "/";
        return path + (one_in(4) ? "d" : "f") + std::to_string(draw(one_in(2) ? 4 : 12));
    }
    std::uint64_t some_size() {
        static constexpr std::uint64_t kEdges[] = {0,    1,    511,   4032,  4033,  4095,
                                                   4096, 4097, 65535, 65536, 65537, 131072};
        if (one_in(2)) return kEdges[draw(std::size(kEdges))];
        return draw(one_in(20) ? largest_ + 1 : 40'000);
    }
    void step() {
        switch (draw(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
            return write();
        case 5:
        case 6:
        case 7:
            return read();
        case 8:
            return open_slot();
        case 9:
            return read_slot();
        case 10:
        case 11:
            return rename();
        case 12:
            return unlink();
        case 13:
            return mkdir();
        case 14:
            return rmdir();
        case 15:
            return links();
        case 16:
            return attributes();
        case 17:
            return list();
        case 18:
            return refuse();
        default:
            return pause();
        }
    }

    void write() {
        const std::string path = some_path();
        const bool exclusive = one_in(3), sync = one_in(10);
        const std::uint64_t size = some_size();
        Node made;
        made.content = bytes_of(random_(), size);
        std::vector<FsxPiece> pieces;
        for (std::uint64_t at = 0; at < size;) {
            const std::uint64_t part = std::min<std::uint64_t>(size - at, 1 + draw(one_in(3) ? 3000 : 600'000));
            pieces.push_back({at, made.content.substr(at, part)});
            at += part;
        }
        // Within what stays in memory until it is complete any order is good, and holes are zeros.
        if (size <= 1'000'000 && pieces.size() > 1 && one_in(3)) {
            std::shuffle(pieces.begin(), pieces.end(), random_);
            if (one_in(2)) {
                made.content.replace(pieces.back().offset, pieces.back().bytes.size(), pieces.back().bytes.size(),
                                     '\0');
                pieces.pop_back();
            }
        }
        doing_ = "write " + path + ", " + std::to_string(size) + " bytes in " + std::to_string(pieces.size()) +
                 " pieces" + (exclusive ? ", exclusive" : "");
        int expected = folder_problem(path);
        const Node* there = find(path);
        if (expected == 0 && there) {
            if (exclusive)
                expected = EEXIST;
            else if (there->kind == 'd')
                expected = EISDIR;
            else if (there->kind == 'l')
                return; // through a link: where it leads is the kernel's business
        }
        if (target_) expect(target_->write(path, pieces, size, exclusive, sync), expected);
        if (expected != 0) return;
        made.identity = there ? there->identity : number_;
        if (there) {
            made.mode = there->mode; // a replaced file keeps its mode
            forget_slots_of(made.identity);
        }
        nodes_[path] = std::move(made);
        check(path);
    }

    void forget_slots_of(std::uint64_t identity) {
        if (target_ && target_->keeps_replaced_content()) return;
        std::erase_if(slots_, [&](const auto& one) {
            if (one.second.identity != identity) return false;
            if (target_) target_->close(one.first);
            return true;
        });
    }

    void read() {
        const std::string path = some_path();
        doing_ = "read " + path;
        const Node* node = find(path);
        if (!node || node->kind != 'f') return;
        const std::uint64_t offset = draw(node->content.size() + 2), bytes = draw(one_in(2) ? 5000 : 300'000);
        doing_ += " at " + std::to_string(offset) + ", " + std::to_string(bytes) + " bytes";
        if (!target_) return;
        std::string got;
        expect(target_->read(path, offset, bytes, got), 0);
        compare(got, *node, offset, bytes);
    }

    void open_slot() {
        const int slot = static_cast<int>(draw(kSlots));
        const std::string path = some_path();
        doing_ = "open " + path;
        const Node* node = find(path);
        if (!node || node->kind != 'f') return;
        if (target_ && slots_.contains(slot)) target_->close(slot);
        slots_[slot] = *node;
        if (target_) expect(target_->open(path, slot), 0);
    }
    // What was opened stays what it was, whatever became of its name.
    void read_slot() {
        if (slots_.empty()) return;
        const auto it = std::next(slots_.begin(), static_cast<std::ptrdiff_t>(draw(slots_.size())));
        const std::uint64_t offset = draw(it->second.content.size() + 1), bytes = draw(100'000);
        doing_ = "read what was opened before, at " + std::to_string(offset);
        if (!target_) return;
        std::string got;
        expect(target_->read_open(it->first, offset, bytes, got), 0);
        compare(got, it->second, offset, bytes);
    }

    void rename() {
        const std::string from = some_path(), to = some_path();
        doing_ = "rename " + from + " to " + to;
        const Node* source = find(from);
        const Node* there = find(to);
        if (!source || folder_problem(to) != 0 || from == to) return;
        int expected = 0;
        if (to.starts_with(from + "/"))
            expected = EINVAL;
        else if (from.starts_with(to + "/"))
            expected = ENOTEMPTY;
        else if (there && there->kind == 'd' && source->kind != 'd')
            expected = EISDIR;
        else if (there && there->kind != 'd' && source->kind == 'd')
            expected = ENOTDIR;
        else if (there && there->kind == 'd' && has_children(to))
            expected = ENOTEMPTY;
        if (target_) expect(target_->rename(from, to), expected);
        if (expected != 0) return;
        std::map<std::string, Node> moved;
        moved[to] = *source;
        for (auto it = nodes_.lower_bound(from + "/"); it != nodes_.end() && it->first.starts_with(from + "/"); ++it)
            moved[to + it->first.substr(from.size())] = it->second;
        std::erase_if(nodes_, [&](const auto& one) {
            return one.first == from || one.first.starts_with(from + "/") || one.first == to;
        });
        for (auto& [path, node] : moved) nodes_[path] = std::move(node);
        check(to);
        if (target_) {
            FsxStat about;
            expect(target_->stat(from, about), folder_problem(from) != 0 ? folder_problem(from) : ENOENT);
        }
    }

    void unlink() {
        const std::string path = some_path();
        doing_ = "unlink " + path;
        const Node* node = find(path);
        int expected = folder_problem(path);
        if (expected == 0 && !node) expected = ENOENT;
        if (expected == 0 && node->kind == 'd') expected = EISDIR;
        if (target_) expect(target_->unlink(path), expected);
        if (expected == 0) nodes_.erase(path);
    }
    void mkdir() {
        const std::string path = some_path();
        doing_ = "mkdir " + path;
        const int expected = problem_of_new(path);
        if (target_) expect(target_->mkdir(path), expected);
        if (expected == 0) nodes_[path] = {.kind = 'd', .content = {}, .mode = 0755};
    }
    void rmdir() {
        const std::string path = some_path();
        doing_ = "rmdir " + path;
        const Node* node = find(path);
        int expected = folder_problem(path);
        if (expected == 0 && !node) expected = ENOENT;
        if (expected == 0 && node->kind != 'd') expected = ENOTDIR;
        if (expected == 0 && has_children(path)) expected = ENOTEMPTY;
        if (target_) expect(target_->rmdir(path), expected);
        if (expected == 0) nodes_.erase(path);
    }
    void links() {
        const std::string path = some_path(), target = "to/" + std::to_string(draw(1000)) + std::string(draw(200), 'x');
        doing_ = "symlink " + path;
        const int expected = problem_of_new(path);
        if (target_) expect(target_->symlink(target, path), expected);
        if (expected != 0) return;
        nodes_[path] = {.kind = 'l', .content = target, .mode = 0777};
        check(path);
    }
    void attributes() {
        const std::string path = some_path();
        const unsigned mode = static_cast<unsigned>(0600 | draw(0200));
        const std::int64_t mtime = static_cast<std::int64_t>(draw(2'000'000'000'000'000'000ULL));
        doing_ = "chmod and utimens of " + path;
        const auto it = nodes_.find(path);
        if (it == nodes_.end() || it->second.kind != 'f') return;
        if (target_) {
            expect(target_->chmod(path, mode), 0);
            expect(target_->set_mtime(path, mtime), 0);
        }
        it->second.mode = mode;
        it->second.mtime_ns = mtime;
        check(path);
    }
    void list() {
        const std::string path = one_in(3) ? std::string() : some_path();
        doing_ = "list " + path;
        if (is_directory(path) && (path.empty() || folder_problem(path) == 0)) verify_names(path);
    }
    void refuse() {
        const std::string path = some_path();
        doing_ = "change " + path + ", which is written";
        const Node* node = find(path);
        if (!node || node->kind != 'f' || node->content.empty()) return;
        const std::uint64_t offset = draw(node->content.size());
        if (target_) expect(target_->change_written(path, offset), EOPNOTSUPP);
        check(path);
    }
    void pause() {
        doing_ = "sync";
        const bool restarts = one_in(4);
        if (!target_) {
            if (restarts) slots_.clear();
            return;
        }
        expect(target_->sync(), 0);
        if (!restarts) return;
        for (const auto& [slot, node] : slots_) target_->close(slot);
        slots_.clear();
        doing_ = "restart";
        target_->restart();
    }

    std::mt19937_64 random_;
    const std::uint64_t largest_;
    std::map<int, Node> slots_; // as they were when they were opened
};

} // namespace feedbench::test
