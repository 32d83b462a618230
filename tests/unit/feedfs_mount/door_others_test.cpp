// Door: what other mounts remove, replace or rename while it is open here.
#include <fcntl.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>

#include "storage/feedfs/fsck.hpp"
#include "storage/feedfs/lease_keeper.hpp"
#include "tests/unit/feedfs_mount/door_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;
using namespace feedbench::feedfs::mount;

namespace {

constexpr std::int64_t kNow = 1'000'000'000'000;

// A second mount of the rig's volume, which sees it through a library of its own.
struct OtherMount {
    std::unique_ptr<FileSystem> files;
    std::int64_t now_ns = kNow;
    std::unique_ptr<Door> door;

    OtherMount(VolumeRig& rig, bool read_only) {
        OpenOptions how;
        how.read_only = read_only;
        files = rig.open_another(how);
        DoorOptions options;
        options.open_needs_no_call = read_only;
        options.commits.tight_bytes = 0;
        options.now_ns = [this] { return now_ns; };
        door = std::make_unique<Door>(*files, options);
    }
    // As reply_entry answers the kernel.
    InodeId look_up(const std::string& name) {
        auto inode = door->find(kRootInode, name);
        REQUIRE(inode);
        door->nodes.remember(inode->id, kRootInode, name);
        door->nodes.keep(*inode, now_ns);
        return inode->id;
    }
    std::string read_node(InodeId node) {
        std::string content(100'000, '\0');
        const auto got = door->read_node(node, 0, std::as_writable_bytes(std::span(content)));
        if (!got) return "errno " + std::to_string(got.error().errno_value);
        content.resize(*got);
        return content;
    }
};

const std::string kNames[] = {"removed", "replaced", "renamed"};

void publish_all(DoorRig& rig) {
    for (const std::string& name : kNames) rig.put(name, "content of " + name);
    REQUIRE(rig.door->pending.sync());
}

void change_all(DoorRig& rig) {
    rig.put("new", "another content");
    REQUIRE(rig.door->pending.sync());
    REQUIRE(rig.door->unlink(kRootInode, "removed"));
    REQUIRE(rig.door->rename({kRootInode, "new", kRootInode, "replaced", true}));
    REQUIRE(rig.door->rename({kRootInode, "renamed", kRootInode, "elsewhere", true}));
}

} // namespace

TEST_CASE("a read-only mount, which is told of no open, answers and reads what another mount removed") {
    DoorRig rig;
    publish_all(rig);
    OtherMount other(rig, true);
    std::map<std::string, InodeId> nodes;
    for (const std::string& name : kNames) nodes[name] = other.look_up(name);
    change_all(rig);
    for (const std::string& name : kNames) {
        bool removed = false;
        const auto inode = other.door->attributes(nodes[name], &removed);
        REQUIRE(inode);
        CHECK(removed);
        CHECK(inode->id == nodes[name]);
        CHECK(inode->size_bytes == std::string("content of " + name).size());
        CHECK(other.read_node(nodes[name]) == "content of " + name);
        CHECK(other.door->attributes(nodes[name]).error().errno_value == ESTALE); // who would change it looks again
    }
    CHECK(other.door->find(kRootInode, "renamed").error().errno_value == ENOENT);
}

TEST_CASE("a second mount to write answers and reads what it has open, and opens what is there by now") {
    DoorRig rig;
    publish_all(rig);
    OtherMount other(rig, false);
    std::map<std::string, std::unique_ptr<OpenFile>> handles;
    for (const std::string& name : kNames) {
        auto handle = other.door->open(other.look_up(name), O_RDONLY);
        REQUIRE(handle);
        handles[name] = std::move(*handle);
    }
    change_all(rig);
    for (const std::string& name : kNames) {
        bool removed = false;
        REQUIRE(other.door->attributes(handles[name]->node, &removed));
        CHECK(removed);
        CHECK(rig.get(*handles[name]) == "content of " + name);
        other.door->close(*handles[name]);
    }
    const InodeId old = handles["replaced"]->node;
    // An open whose look-up was a moment ago is of what was looked up; later the kernel is to look again.
    auto raced = other.door->open(old, O_RDONLY);
    REQUIRE(raced);
    CHECK(rig.get(**raced) == "content of replaced");
    CHECK(other.door->open(old, O_WRONLY | O_TRUNC).error().errno_value == ESTALE);
    other.now_ns += 200'000'000;
    CHECK(other.door->open(old, O_RDONLY).error().errno_value == ESTALE);
    auto again = other.door->open(other.look_up("replaced"), O_RDONLY);
    REQUIRE(again);
    CHECK(rig.get(**again) == "another content");
}

TEST_CASE("kept entries go with their node, and the oldest go above the limit") {
    NodeTable nodes;
    Inode inode;
    inode.size_bytes = 10;
    const auto keep = [&](InodeId id) {
        inode.id = id;
        nodes.remember(id, kRootInode, "f");
        nodes.keep(inode, 7);
    };
    inode.content.append({.segment = 3, .offset = 4096, .payload_bytes = 10}, std::array<std::uint32_t, 1>{5}.data());
    keep(2);
    REQUIRE(nodes.kept(2));
    CHECK(*nodes.kept(2) == [&] {
        Inode same = inode;
        same.extent_count = 1;
        return same;
    }());
    CHECK(nodes.looked_up_ns(2) == 7);
    Inode listed = inode; // attributes alone do not take its place
    listed.content.clear();
    nodes.keep(listed);
    CHECK(nodes.kept(2)->content == inode.content);
    nodes.forget(2, 1);
    CHECK_FALSE(nodes.kept(2));
    nodes.keep(inode); // of what the kernel does not know
    CHECK_FALSE(nodes.kept(2));

    listed.id = 3;
    nodes.remember(3, kRootInode, "listed");
    nodes.keep(listed);
    CHECK(nodes.kept(3)->extents_in_pages);

    const InodeId count = NodeTable::kKeptBytesMost / 100; // each takes more than 100 bytes
    for (InodeId id = 10; id < 10 + count; ++id) keep(id);
    CHECK_FALSE(nodes.kept(10));
    CHECK(nodes.kept(9 + count));
    CHECK(nodes.place(10)); // the node itself stays
}

TEST_CASE("door: a mount that was taken for dead takes another lease, and says which file was lost", "[door]") {
    DoorRig rig;
    std::atomic<std::int64_t> now_ns{kNow};
    OpenOptions how;
    how.now_ns = [&] { return now_ns.load(); };
    how.renews_lease = false;
    rig.reopen({}, how);
    rig.put("before", "content of before");
    REQUIRE(rig.door->pending.sync());
    auto open = rig.begin("open");
    REQUIRE(rig.door->write(*open, 0, std::as_bytes(std::span(std::string_view("half")))));
    now_ns += kLeaseNs + 1;
    FsckOptions repair;
    repair.repair = true;
    repair.lease_alive = [&](const LeaseRecord& lease) { return lease.expires_ns > now_ns; }; // as on another host
    auto repaired = fsck(rig.folder + "/volume", repair);
    REQUIRE(repaired);
    CHECK(repaired->losses == 0);

    CHECK(rig.get("before") == "content of before");
    rig.put("after", "content of after");
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("after") == "content of after");
    REQUIRE(rig.door->closing(*open));
    rig.door->close(*open);
    const Status told = rig.door->pending.sync();
    REQUIRE_FALSE(told);
    CHECK(told.error().errno_value == ESTALE);
    CHECK(rig.published("open") == "errno " + std::to_string(ENOENT));
    rig.put("open", "written again");
    REQUIRE(rig.door->pending.sync());
    CHECK(rig.published("open") == "written again");
    CHECK(rig.get("before") == "content of before");
    rig.door.reset();
    rig.fs.reset();
    auto after = fsck(rig.folder + "/volume", {});
    REQUIRE(after);
    CHECK(after->found == 0);
}
