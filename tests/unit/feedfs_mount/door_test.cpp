// Door: a mount's semantics without the kernel: what is pending lies over what is published.
#include <fcntl.h>

#include <catch2/catch.hpp>

#include "tests/unit/feedfs_mount/door_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;
using namespace feedbench::feedfs::mount;

TEST_CASE("what is being written is seen through its mount alone, until it is closed") {
    DoorRig rig;
    auto handle = rig.begin("f");
    const std::string content = "content";
    REQUIRE(rig.door->write(*handle, 0, std::as_bytes(std::span(content))));
    CHECK(rig.get("f") == content);
    CHECK(rig.names() == std::vector<std::string>{"f"});
    CHECK(rig.published("f") == "errno 2");
    rig.door->close(*handle);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == content);
    CHECK(rig.names() == std::vector<std::string>{"f"});
}

TEST_CASE("what a close came for is stored though the kernel never told of its release, what is half-written is not") {
    DoorRig rig;
    auto closed = rig.begin("closed"), half = rig.begin("half"), more = rig.begin("more");
    const std::string content = "content";
    for (OpenFile* file : {closed.get(), half.get(), more.get()})
        REQUIRE(rig.door->write(*file, 0, std::as_bytes(std::span(content))));
    REQUIRE(rig.door->closing(*closed));
    REQUIRE(rig.door->closing(*more)); // of a copy of the descriptor, which is written on
    REQUIRE(rig.door->write(*more, content.size(), std::as_bytes(std::span(content))));
    rig.door->pending.close_flushed();
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("closed") == content);
    CHECK(rig.published("half") == "errno 2");
    CHECK(rig.published("more") == "errno 2");
    for (OpenFile* file : {half.get(), more.get()}) rig.door->close(*file);
}

TEST_CASE("fsync publishes what is there, and more can follow") {
    DoorRig rig;
    auto handle = rig.begin("f");
    const std::string first = "first ", second = "second";
    REQUIRE(rig.door->write(*handle, 0, std::as_bytes(std::span(first))));
    REQUIRE(rig.door->sync(*handle));
    CHECK(rig.published("f") == first);
    REQUIRE(rig.door->write(*handle, first.size(), std::as_bytes(std::span(second))));
    rig.door->close(*handle);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == first + second);
}

TEST_CASE("a file that was closed is not changed, whether it is published yet or not") {
    CommitOptions slow;
    slow.commit_ms = 60'000; // stays in the queue
    const bool waits = GENERATE(true, false);
    DoorRig rig;
    if (waits) rig.reopen(slow);
    const InodeId node = rig.put("f", "closed");
    if (!waits) REQUIRE(rig.door->pending.sync());
    const std::string more = "x";
    CHECK(rig.door->open(node, O_WRONLY | O_APPEND).error().errno_value == EOPNOTSUPP);
    auto handle = rig.door->open(node, O_RDWR);
    REQUIRE(handle);
    CHECK(rig.door->write(**handle, 2, std::as_bytes(std::span(more))).error().errno_value == EOPNOTSUPP);
    CHECK(rig.door->set_size(node, 3, nullptr).error().errno_value == EOPNOTSUPP);
    rig.door->close(**handle);
    CHECK(rig.get("f") == "closed");
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == "closed");
}

TEST_CASE("a truncated file keeps its old content for others until the new one is closed") {
    DoorRig rig;
    const InodeId node = rig.put("f", "old");
    REQUIRE(rig.door->pending.sync());
    auto handle = rig.door->open(node, O_WRONLY | O_TRUNC);
    REQUIRE(handle);
    const std::string fresh = "fresh";
    REQUIRE(rig.door->write(**handle, 0, std::as_bytes(std::span(fresh))));
    CHECK(rig.published("f") == "old");
    CHECK(rig.door->attributes(node)->size_bytes == fresh.size());
    rig.door->close(**handle);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == fresh);
    // The node through which it was written stands for it until the kernel forgets it.
    CHECK(rig.door->attributes(node)->size_bytes == fresh.size());
    REQUIRE(rig.door->set_attributes(node, {.mode = 0600, .uid = {}, .gid = {}, .atime_ns = {}, .mtime_ns = 77}));
    CHECK(rig.door->attributes(node)->mtime_ns == 77);
    CHECK(rig.get("f") == fresh);
}

TEST_CASE("a closed file that is begun anew before it was published is not published in part") {
    CommitOptions slow;
    slow.commit_ms = 60'000;
    DoorRig rig;
    rig.reopen(slow);
    const InodeId node = rig.put("f", "first");
    auto handle = rig.door->open(node, O_WRONLY | O_TRUNC);
    REQUIRE(handle);
    const std::string half = "half", rest = " and half";
    REQUIRE(rig.door->write(**handle, 0, std::as_bytes(std::span(half))));
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == "errno 2");
    REQUIRE(rig.door->write(**handle, half.size(), std::as_bytes(std::span(rest))));
    rig.door->close(**handle);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == half + rest);
}

TEST_CASE("a pending file is renamed over a published and over a pending one") {
    CommitOptions slow;
    slow.commit_ms = 60'000;
    DoorRig rig;
    rig.reopen(slow);
    rig.put("published", "1");
    REQUIRE(rig.door->pending.sync());
    rig.put("a", "2");
    REQUIRE(rig.door->rename({kRootInode, "a", kRootInode, "published", true}));
    CHECK(rig.get("published") == "2");
    CHECK(rig.published("published") == "1");
    rig.put("b", "3");
    rig.put("c", "4");
    REQUIRE(rig.door->rename({kRootInode, "b", kRootInode, "c", true}));
    CHECK(rig.door->rename({kRootInode, "c", kRootInode, "published", false}).error().errno_value == EEXIST);
    CHECK(rig.names() == std::vector<std::string>{"c", "published"});
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("published") == "2");
    CHECK(rig.published("c") == "3");
    CHECK(rig.published("a") == "errno 2");
    CHECK(rig.published("b") == "errno 2");
}

TEST_CASE("unlinked files can be read and written on, and never appear") {
    DoorRig rig;
    auto handle = rig.begin("f");
    const std::string content = "content";
    REQUIRE(rig.door->write(*handle, 0, std::as_bytes(std::span(content))));
    REQUIRE(rig.door->unlink(kRootInode, "f"));
    CHECK(rig.get("f") == "errno 2");
    REQUIRE(rig.door->write(*handle, content.size(), std::as_bytes(std::span(content))));
    CHECK(rig.get(*handle) == content + content);
    rig.door->close(*handle);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("f") == "errno 2");
    CHECK(rig.names().empty());
    // One that is published: its last attributes stay for who has it open.
    const InodeId node = rig.put("g", "g");
    REQUIRE(rig.door->pending.sync());
    REQUIRE(rig.door->unlink(kRootInode, "g"));
    bool removed = false;
    const auto last = rig.door->attributes(node, &removed);
    REQUIRE(last);
    CHECK(removed);
    CHECK(last->size_bytes == 1);
}

TEST_CASE("a directory with a pending file in it is not empty") {
    DoorRig rig;
    const auto made = rig.fs->make_directory(kRootInode, "d", {.mode = 0755});
    REQUIRE(made);
    auto file = rig.door->create(made->id, "f", {.mode = 0644}, true);
    REQUIRE(file);
    CHECK(rig.door->remove_directory(kRootInode, "d").error().errno_value == ENOTEMPTY);
    REQUIRE(rig.door->unlink(made->id, "f"));
    CHECK(rig.door->remove_directory(kRootInode, "d"));
}

TEST_CASE(
    "a directory's times move with the names that only the mount knows, and do not go back when these are published") {
    CommitOptions slow;
    slow.commit_ms = 60'000;
    DoorRig rig;
    rig.reopen(slow);
    const InodeId directory = rig.fs->make_directory(kRootInode, "d", {.mode = 0755})->id;
    rig.door->nodes.remember(directory, kRootInode, "d");
    const auto mtime_ns = [&] { return rig.door->attributes(directory)->mtime_ns; };
    const auto make = [&](const std::string& name) {
        const auto file = rig.door->create(directory, name, {.mode = 0644}, false);
        REQUIRE(file);
        rig.door->nodes.remember((*file)->id, directory, name);
        rig.door->close(*rig.door->open_pending(*file, (*file)->id, true));
    };
    const std::int64_t empty_ns = mtime_ns();
    make("a");
    const std::int64_t made_ns = mtime_ns();
    CHECK(made_ns > empty_ns);
    CHECK(rig.fs->lookup(kRootInode, "d")->mtime_ns == empty_ns); // others see neither yet
    CHECK(rig.door->find(kRootInode, "d")->mtime_ns == made_ns);
    REQUIRE(rig.door->pending.sync());
    CHECK(mtime_ns() / 1000 == made_ns / 1000);
    CHECK(rig.fs->lookup(kRootInode, "d")->mtime_ns / 1000 == made_ns / 1000);

    make("b");
    AttributeChange mode, mtime;
    mode.mode = 0700;
    mtime.mtime_ns = 77;
    REQUIRE(rig.door->set_attributes(directory, mode)); // what is shown goes on from there
    CHECK(mtime_ns() > made_ns);
    REQUIRE(rig.door->set_attributes(directory, mtime)); // as tar does it, when all its files were closed
    CHECK(mtime_ns() == 77);
    REQUIRE(rig.door->pending.sync());
    CHECK(mtime_ns() == 77);

    make("c");
    const std::int64_t before_ns = mtime_ns();
    REQUIRE(rig.door->rename({directory, "c", directory, "a", true})); // as rsync does it
    const std::int64_t renamed_ns = mtime_ns();
    CHECK(renamed_ns > before_ns);
    REQUIRE(rig.door->pending.sync());
    CHECK(mtime_ns() / 1000 == renamed_ns / 1000);
    make("e");
    REQUIRE(rig.door->unlink(directory, "e")); // the volume has never heard of it
    CHECK(mtime_ns() > renamed_ns);
    CHECK(rig.door->attributes(directory)->ctime_ns >= mtime_ns());
}

TEST_CASE("entries inherit the group of a set-group-ID directory") {
    DoorRig rig;
    const auto made = rig.fs->make_directory(kRootInode, "d", {.mode = 02775, .uid = 1, .gid = 42});
    REQUIRE(made);
    rig.door->nodes.remember(made->id, kRootInode, "d");
    const NewEntry file = rig.door->new_entry(made->id, 0644, {7, 8}, false);
    CHECK(file.uid == 7);
    CHECK(file.gid == 42);
    CHECK(file.mode == 0644);
    CHECK(rig.door->new_entry(made->id, 0755, {7, 8}, true).mode == 02755);
    CHECK(rig.door->new_entry(kRootInode, 0644, {7, 8}, false).gid == 8);
}

TEST_CASE("listings of several pages hold each name once, published or not") {
    DoorRig rig;
    std::vector<std::string> expected;
    for (int i = 0; i < 2500; ++i) {
        const std::string name = "n" + std::to_string(10'000 + i);
        expected.push_back(name);
        rig.put(name, "x");
        if (i == 1200) REQUIRE(rig.door->pending.sync());
    }
    CHECK(rig.names() == expected);
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.names() == expected);
}

TEST_CASE("nodes are known as often as the kernel was told of them") {
    NodeTable nodes;
    nodes.remember(5, 1, "a");
    nodes.remember(5, 1, "b");
    CHECK(nodes.place(5)->name == "b");
    CHECK_FALSE(nodes.forget(5, 1));
    CHECK(nodes.place(5));
    CHECK(nodes.forget(5, 1));
    CHECK_FALSE(nodes.place(5));
    CHECK_FALSE(nodes.forget(1, 100)); // the root stays
    CHECK(nodes.size() == 1);
}
