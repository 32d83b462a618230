// Times of directories: every change of a name moves them, many at once cost one change, what is set holds.
#include <atomic>
#include <thread>

#include "storage/feedfs/metadata/schema.hpp"
#include "tests/unit/feedfs/volume_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

constexpr std::int64_t kStepNs = 1'000'000; // of the clock, at each look

AttributeChange mode(std::uint32_t bits) {
    AttributeChange change;
    change.mode = bits;
    return change;
}
AttributeChange mtime(std::int64_t ns) {
    AttributeChange change;
    change.mtime_ns = ns;
    return change;
}

struct TimesRig : VolumeRig {
    std::atomic<std::int64_t> clock_ns{4'000'000'000'000'000'000};
    InodeId directory = 0;
    TimesRig() {
        open({.now_ns = clock()});
        directory = (*fs->make_directory(kRootInode, "d", {})).id;
    }
    std::function<std::int64_t()> clock() {
        return [this] { return clock_ns += kStepNs; };
    }
    Inode inode(const std::string& path) {
        const auto found = fs->resolve(path);
        if (!found) FAIL(found.error().describe());
        return found->inode;
    }
    // mtime and ctime of a directory after `change`, which must have moved both.
    template <class Change>
    void moves(const std::string& path, const char* what, Change change) {
        INFO(what << " in " << path);
        const Inode before = inode(path);
        const std::int64_t from_ns = clock_ns;
        change();
        const Inode after = inode(path);
        CHECK(after.mtime_ns > before.mtime_ns);
        CHECK(after.mtime_ns > from_ns);
        CHECK(after.mtime_ns <= clock_ns);
        CHECK(after.ctime_ns >= after.mtime_ns);
        CHECK(after.ctime_ns <= clock_ns);
    }
};

TEST_CASE(
    "feedfs: a directory's mtime and ctime move when a name in it comes, goes or changes, by every way of asking") {
    TimesRig rig;
    auto& fs = *rig.fs;
    rig.moves("d", "create", [&] { rig.write("a", VolumeRig::pattern(10), rig.directory); });
    rig.moves("d", "mkdir", [&] { REQUIRE(fs.make_directory(rig.directory, "sub", {})); });
    rig.moves("d", "symlink", [&] { REQUIRE(fs.make_symlink(rig.directory, "link", "a", {})); });
    rig.moves("d", "rename", [&] { REQUIRE(fs.rename({rig.directory, "a", rig.directory, "b"})); });
    rig.moves("d", "rename away", [&] { REQUIRE(fs.rename({rig.directory, "b", kRootInode, "b"})); });
    rig.moves("/", "rename into", [&] { REQUIRE(fs.rename({rig.directory, "link", kRootInode, "link"})); });
    rig.moves("/", "unlink", [&] { REQUIRE(fs.unlink(kRootInode, "link")); });
    rig.moves("d", "rmdir", [&] { REQUIRE(fs.remove_directory(rig.directory, "sub")); });
    rig.moves("d", "a name that only a mount showed", [&] { REQUIRE(fs.touch_directory(rig.directory)); });

    const Inode there = rig.inode("d");
    CHECK(*fs.lookup(kRootInode, "d") == there);
    std::vector<DirectoryEntry> entries;
    REQUIRE(fs.read_directory(kRootInode, "", 100, entries));
    for (const DirectoryEntry& entry : entries)
        if (entry.name == "d") CHECK(entry.inode.mtime_ns == there.mtime_ns);
    CHECK(rig.inode("/").mtime_ns == (*fs.root()).mtime_ns);
}

TEST_CASE("feedfs: a directory's times stay where no name in it changes") {
    TimesRig rig;
    rig.write("a", VolumeRig::pattern(10), rig.directory);
    REQUIRE(rig.fs->make_directory(rig.directory, "sub", {}));
    const Inode before = rig.inode("d");
    rig.write("a", VolumeRig::pattern(20, 2), rig.directory); // the same name, as O_TRUNC does it
    REQUIRE(rig.fs->set_attributes(rig.directory, "a", mode(0600)));
    rig.write("b", VolumeRig::pattern(10), rig.inode("d/sub").id);
    CHECK(rig.error_of(rig.fs->unlink(rig.directory, "absent")) == ENOENT);
    CHECK(rig.inode("d") == before);
    REQUIRE(rig.fs->rename({kRootInode, "d", kRootInode, "e"}));
    CHECK(rig.inode("e").mtime_ns == before.mtime_ns); // its own name is its parent's
    CHECK(rig.inode("e").ctime_ns > before.ctime_ns);
}

TEST_CASE("feedfs: a directory's mtime that was set holds until a name changes, whenever what is published was begun") {
    TimesRig rig;
    rig.write("a", VolumeRig::pattern(10), rig.directory);
    auto writer = rig.create("late", {}, rig.directory);
    REQUIRE(rig.fs->set_attributes(kRootInode, "d", mtime(1'000'000'000)));
    CHECK(rig.inode("d").mtime_ns == 1'000'000'000);
    const std::int64_t set_ns = rig.inode("d").ctime_ns;
    // tar and rsync set it when they have made all names; one that was made before does not undo that, but is a change.
    REQUIRE(rig.fs->publish(*writer, Publish::visible));
    CHECK(rig.inode("d").mtime_ns == 1'000'000'000);
    CHECK(rig.inode("d").ctime_ns > set_ns);
    REQUIRE(rig.fs->set_attributes(kRootInode, "d", mode(0700)));
    CHECK(rig.inode("d").mtime_ns == 1'000'000'000);
    rig.moves("d", "create", [&] { rig.write("b", VolumeRig::pattern(10), rig.directory); });
    const std::int64_t moved_ns = rig.inode("d").mtime_ns;
    REQUIRE(rig.fs->set_attributes(kRootInode, "d", mode(0755)));
    CHECK(rig.inode("d").mtime_ns == moved_ns);
    writer.reset(); // before the volume
    rig.open();     // and all of that is in it
    CHECK(rig.inode("d").mtime_ns == moved_ns);
}

TEST_CASE("feedfs: writers of one directory are in nobody's way, and a group of files is one change of its times") {
    TimesRig rig;
    const auto other = rig.open_another({.now_ns = rig.clock()});
    std::atomic<int> made{0}; // assertions belong to the test's own thread
    const auto make_files = [&](FileSystem& fs, const std::string& prefix) {
        for (int i = 0; i < 50; ++i) {
            auto writer = fs.create(rig.directory, prefix + std::to_string(i), {});
            if (writer && fs.publish(**writer, Publish::visible)) ++made;
        }
    };
    rig.moves("d", "two writers", [&] {
        std::thread first([&] { make_files(*rig.fs, "x"); });
        make_files(*other, "y");
        first.join();
    });
    CHECK(made == 100);
    CHECK(rig.names(rig.directory).size() == 100);
    std::vector<std::unique_ptr<Writer>> writers;
    std::vector<Writer*> all;
    for (int i = 0; i < 20; ++i) {
        writers.push_back(rig.create("z" + std::to_string(i), {}, rig.directory));
        all.push_back(writers.back().get());
    }
    const std::int64_t last_ns = writers.back()->named_ns();
    for (const Status& status : rig.fs->publish(all, Publish::visible)) VolumeRig::require(status);
    CHECK(rig.inode("d").mtime_ns == last_ns / 1000 * 1000);
    REQUIRE(rig.fs->make_directory(kRootInode, "e", {}));
    REQUIRE(rig.fs->touch_directory(rig.inode("e").id));
    const std::string key = directory_times_key(rig.inode("e").id);
    std::string value;
    CHECK(*rig.fs->metadata().get(key, value));
    REQUIRE(rig.fs->remove_directory(kRootInode, "e"));
    CHECK_FALSE(*rig.fs->metadata().get(key, value)); // nothing is left of it
}

} // namespace
