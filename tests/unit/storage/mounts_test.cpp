#include "storage/mounts.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace feedbench::storage;

constexpr const char* kMountinfo =
    "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 21 0:25 / /mnt/nfs rw,relatime shared:9 master:2 - nfs4 server:/export rw,vers=4.2\n"
    "31 21 0:26 / /mnt/with\\040space rw - xfs /dev/sdb1 rw\n"
    "32 30 0:27 / /mnt/nfs/inner rw - tmpfs tmpfs rw\n"
    "33 21 0:28 / /mnt/twice rw - ext4 /dev/sdc rw\n"
    "34 33 0:29 / /mnt/twice rw - btrfs /dev/sdd rw\n"
    "half a line\n";

TEST_CASE("mounts: the longest mount point that holds the path, the later of two on one place") {
    CHECK(find_mount(kMountinfo, "/home/x").device == "/dev/vda");
    CHECK(find_mount(kMountinfo, "/mnt/nfs").type == "nfs4");
    CHECK(find_mount(kMountinfo, "/mnt/nfs/a/b").device == "server:/export");
    CHECK(find_mount(kMountinfo, "/mnt/nfsnot").type == "ext4"); // a name that only begins alike
    CHECK(find_mount(kMountinfo, "/mnt/nfs/inner/x").type == "tmpfs");
    CHECK(find_mount(kMountinfo, "/mnt/with space/x").device == "/dev/sdb1");
    CHECK(find_mount(kMountinfo, "/mnt/twice/x").type == "btrfs");
    CHECK(find_mount("", "/x").type.empty());
}

TEST_CASE("mounts: a path that is not there is looked up at its nearest ancestor") {
    const auto root = filesystem_at("/"), missing = filesystem_at("/no/such/folder"), proc = filesystem_at("/proc");
    REQUIRE(root);
    REQUIRE(missing);
    REQUIRE(proc);
    CHECK(missing->mount_point == root->mount_point);
    CHECK(missing->id == root->id);
    CHECK(root->total_bytes > 0);
    CHECK(proc->type == "proc");
    CHECK(proc->id != root->id);
}

TEST_CASE("mounts: memory and network filesystems are known") {
    if (const auto shm = filesystem_at("/dev/shm"); shm && shm->type == "tmpfs") {
        CHECK(shm->is_memory);
        CHECK(shm->buffers_odirect);
        CHECK_FALSE(shm->is_network);
    } else
        WARN("skipped: /dev/shm is no tmpfs here");
}

} // namespace

TEST_CASE("mount options are shown as mount(8) does, each once, and no secret among them") {
    const char* const text =
        "30 1 0:41 / /mnt/c rw,nosuid,relatime - cifs //server/share rw,vers=3.0,username=u,password=abc\n"
        "31 1 0:42 / /mnt/d rw,noatime shared:5 master:2 - ceph 10.0.0.1:/ rw,secret=xyz,acl\n";
    CHECK(shown_options(find_mount(text, "/mnt/c/x")) == "rw,nosuid,relatime,vers=3.0,username=u,password=<hidden>");
    CHECK(shown_options(find_mount(text, "/mnt/d")) == "rw,noatime,secret=<hidden>,acl");
    CHECK(shown_options(Mount{}).empty());
}
