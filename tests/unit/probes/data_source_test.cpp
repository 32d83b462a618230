#include "harness/probes/data_source.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>

#include "tests/unit/probes/fake_machine.hpp"

using namespace feedbench::probes;
using feedbench::test::FakeMachine;

namespace {

constexpr const char* kRoot = "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n";

DataSource found(const FakeMachine& fake, const std::string& mounts, const std::string& path) {
    fake.write("proc/self/mountinfo", mounts);
    return data_source(fake.machine, path);
}

} // namespace

TEST_CASE("a partition: its own statistics, in sectors of 512 bytes") {
    FakeMachine fake;
    fake.add_block("259:2", "nvme0n1p2", 1000);
    const DataSource source = found(fake, kRoot, "/data/unet3d");
    CHECK(source.kind == "block");
    CHECK(source.name == "nvme0n1p2 (ext4 on /)");
    CHECK(source.reason.empty());
    CHECK(bytes_so_far(fake.machine, source) == 512000u);
    fake.add_block("259:2", "nvme0n1p2", 1010);
    CHECK(bytes_so_far(fake.machine, source) == 517120u);
    CHECK(bytes_out_so_far(fake.machine, source) == 265322328ull * 512); // as FakeMachine has it
}

TEST_CASE("without /sys the same is read from diskstats") {
    FakeMachine fake;
    fake.write("proc/diskstats", " 259       0 nvme0n1 9 0 5000 1 2 0 3 4 0 5 6\n"
                                 " 259       2 nvme0n1p2 7 0 3000 1 2 0 3 4 0 5 6\n");
    const DataSource source = found(fake, kRoot, "/data");
    CHECK(source.name == "nvme0n1p2 (ext4 on /)");
    CHECK(bytes_so_far(fake.machine, source) == 3000u * 512);
    CHECK(bytes_out_so_far(fake.machine, source) == 3u * 512);
}

TEST_CASE("a device that no table knows is a reason, not a number") {
    FakeMachine fake;
    const DataSource source = found(fake, kRoot, "/data");
    CHECK(source.kind == "block");
    CHECK(source.reason.find("/dev/nvme0n1p2") != std::string::npos);
    CHECK_FALSE(bytes_so_far(fake.machine, source));
    const DataSource nowhere = data_source({"/nowhere", "/nowhere"}, "/data");
    CHECK(nowhere.kind == "none");
    CHECK_FALSE(nowhere.reason.empty());
}

TEST_CASE("device-mapper: the mapped device itself, whatever lies below it") {
    FakeMachine fake;
    fake.add_block("253:3", "dm-3", 42);
    fake.write("sys/class/block/dm-3/dm/name", "vg-data\n");
    const DataSource by_number =
        found(fake, std::string(kRoot) + "30 22 253:3 / /data rw - xfs /dev/mapper/vg-data rw\n", "/data/x");
    CHECK(by_number.name == "dm-3 (xfs on /data)");
    CHECK(bytes_so_far(fake.machine, by_number) == 42u * 512);
    // A number of its own says nothing: then the name does.
    const DataSource by_name =
        found(fake, std::string(kRoot) + "30 22 0:50 / /data rw - bcachefs /dev/mapper/vg-data rw\n", "/data/x");
    CHECK(bytes_so_far(fake.machine, by_name) == 42u * 512);
}

TEST_CASE("btrfs: all devices of the filesystem") {
    FakeMachine fake;
    fake.add_block("8:1", "sda1", 100);
    fake.add_block("8:17", "sdb1", 20);
    fake.add_block("8:33", "sdc1", 7);
    for (const char* one : {"1111/devices/sdc1/x", "2222/devices/sda1/x", "2222/devices/sdb1/x"})
        fake.write(std::string("sys/fs/btrfs/") + one, "");
    const DataSource source = found(fake, "30 22 0:41 /sub /data rw - btrfs /dev/sda1 rw,subvol=/sub\n", "/data");
    CHECK(source.kind == "block");
    CHECK(source.devices.size() == 2);
    CHECK(bytes_so_far(fake.machine, source) == 120u * 512);
}

TEST_CASE("zfs does not say, and nobody guesses") {
    FakeMachine fake;
    const DataSource source = found(fake, "30 22 0:41 / /data rw - zfs tank/data rw,xattr\n", "/data");
    CHECK(source.kind == "block");
    CHECK(source.reason.find("zfs") != std::string::npos);
    CHECK_FALSE(bytes_so_far(fake.machine, source));
}

TEST_CASE("overlay: the devices of its layers, each once") {
    FakeMachine fake;
    fake.add_block("259:2", "nvme0n1p2", 100);
    fake.add_block("8:1", "sda1", 11);
    const std::string mounts = std::string(kRoot) +
                               "30 22 8:1 / /mnt/lower rw - ext4 /dev/sda1 rw\n"
                               "31 22 0:60 / /merged rw - overlay overlay "
                               "rw,lowerdir=/mnt/lower/a:/var/b,upperdir=/var/up,workdir=/var/work\n";
    const DataSource source = found(fake, mounts, "/merged/data");
    CHECK(source.kind == "block");
    CHECK(source.name == "nvme0n1p2+sda1 (overlay on /merged)");
    CHECK(bytes_so_far(fake.machine, source) == 111u * 512);
}

TEST_CASE("overlay: layers out of sight, in memory, or on a server") {
    FakeMachine fake;
    fake.add_block("259:2", "nvme0n1p2", 100);
    // A container's root: its layers are paths of the host.
    const DataSource container = found(
        fake, "30 1 0:60 / / rw - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=/o/diff,workdir=/o/work\n", "/d");
    CHECK(container.kind == "block");
    CHECK(container.reason.find("/o/diff") != std::string::npos);
    CHECK_FALSE(bytes_so_far(fake.machine, container));
    const std::string memory = "28 22 0:25 / /ram rw - tmpfs none rw,size=5k\n";
    const DataSource half = found(
        fake, kRoot + memory + "31 22 0:60 / /m rw - overlay o rw,lowerdir=/var/a,upperdir=/ram/u,workdir=/ram/w\n",
        "/m");
    CHECK(half.kind == "block");
    CHECK(bytes_so_far(fake.machine, half) == 100u * 512);
    const DataSource all =
        found(fake, kRoot + memory + "31 22 0:60 / /m rw - overlay o rw,lowerdir=/ram/a:/ram/b\n", "/m");
    CHECK(all.kind == "memory");
    const DataSource far =
        found(fake,
              std::string(kRoot) + "29 22 0:70 / /nfs rw - nfs4 s:/x rw,addr=10.0.0.9\n"
                                   "31 22 0:60 / /m rw - overlay o rw,lowerdir=/nfs/a,upperdir=/var/u,workdir=/var/w\n",
              "/m");
    CHECK_FALSE(far.reason.empty());
}

TEST_CASE("tmpfs and disks in memory: nothing lies below") {
    FakeMachine fake;
    fake.add_block("1:0", "ram0", 5);
    fake.add_block("252:0", "zram0", 5);
    for (const char* mount : {"30 22 0:23 / /d rw - tmpfs tmpfs rw\n", "30 22 1:0 / /d rw - ext4 /dev/ram0 rw\n",
                              "30 22 252:0 / /d rw - ext4 /dev/zram0 rw\n"}) {
        INFO(mount);
        const DataSource source = found(fake, std::string(kRoot) + mount, "/d/x");
        CHECK(source.kind == "memory");
        CHECK_FALSE(source.reason.empty());
        CHECK_FALSE(bytes_so_far(fake.machine, source));
    }
}

TEST_CASE("a loop device counts what comes from below its file, whose pages may be in memory") {
    FakeMachine fake;
    fake.add_block("259:2", "nvme0n1p2", 100);
    fake.add_block("7:0", "loop0", 5000);
    fake.write("sys/dev/block/7:0/loop/backing_file", "/images/disk.img\n");
    const DataSource source =
        found(fake, std::string(kRoot) + "30 22 7:0 / /data rw - ext4 /dev/loop0 rw\n", "/data/x");
    CHECK(source.kind == "block");
    CHECK(source.name.find("loop0") == 0);
    CHECK(source.name.find("nvme0n1p2") != std::string::npos);
    CHECK(bytes_so_far(fake.machine, source) == 100u * 512);
}

TEST_CASE("dax passes the block layer by") {
    FakeMachine fake;
    fake.add_block("259:0", "pmem0", 100);
    for (const char* options : {"rw,dax", "rw,dax=always", "rw,attr2,dax,inode64"}) {
        INFO(options);
        CHECK_FALSE(
            found(fake, std::string("30 22 259:0 / /d rw - xfs /dev/pmem0 ") + options + "\n", "/d").reason.empty());
    }
    CHECK(found(fake, "30 22 259:0 / /d rw - xfs /dev/pmem0 rw,relax\n", "/d").reason.empty());
}

TEST_CASE("nfs: the interface that reaches the server") {
    FakeMachine fake;
    fake.add_interface("eth1", "7000", "25000");
    fake.write("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
                                 "eth1\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n"); // 10/8
    const std::string mount = "30 22 0:51 / /d rw - nfs4 server:/export rw,vers=4.2,addr=10.1.2.3\n";
    const DataSource source = found(fake, kRoot + mount, "/d/train");
    CHECK(source.kind == "network");
    CHECK(source.name == "eth1 (nfs4 from server:/export)");
    CHECK(source.interface == "eth1");
    CHECK(bytes_so_far(fake.machine, source) == 7000u);
    const DataSource lost = found(fake, "30 22 0:51 / /d rw - nfs4 s:/x rw,addr=192.168.1.1\n", "/d");
    CHECK(lost.kind == "network");
    CHECK(lost.reason.find("192.168.1.1") != std::string::npos);
    const DataSource rdma = found(fake, "30 22 0:51 / /d rw - nfs4 s:/x rw,proto=rdma,addr=10.1.2.3\n", "/d");
    CHECK(rdma.reason.find("RDMA") != std::string::npos);
    CHECK_FALSE(bytes_so_far(fake.machine, rdma));
    CHECK(data_source_of_host(fake.machine, "10.9.9.9").interface == "eth1");
}

TEST_CASE("this process's own reads from the block layer, and this machine's own disk") {
    FakeMachine fake;
    CHECK_FALSE(process_read_bytes(fake.machine));
    fake.write("proc/self/io", "rchar: 9\nwchar: 1\nread_bytes: 4096\nwrite_bytes: 0\ncancelled_write_bytes: 0\n");
    CHECK(process_read_bytes(fake.machine) == 4096u);
    fake.write("proc/self/io", "read_bytes: x\n");
    CHECK_FALSE(process_read_bytes(fake.machine));

    const Machine real;
    const DataSource source = data_source(real, "/var/tmp");
    INFO(source.name << ": " << source.reason);
    CHECK_FALSE(source.name.empty());
    CHECK(source.reason.empty() == bytes_so_far(real, source).has_value());
    const DataSource shm = data_source(real, "/dev/shm");
    CHECK((shm.kind == "memory" || std::filesystem::exists("/dev/shm") == false));
}

TEST_CASE("what was read past the cache is in the device's counter and in the process's") {
    const Machine real;
    const DataSource source = data_source(real, "/var/tmp");
    if (source.kind != "block" || !source.reason.empty()) {
        WARN("skipped: /var/tmp lies on no disk: " << source.name << " " << source.reason);
        return;
    }
    char name[] = "/var/tmp/feedbench-source-XXXXXX";
    const int fd = mkstemp(name);
    REQUIRE(fd >= 0);
    std::filesystem::remove(name);
    const std::string block(4 << 20, 'x');
    REQUIRE(write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size()));
    REQUIRE(fsync(fd) == 0);
    REQUIRE(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
    const auto device = bytes_so_far(real, source), own = process_read_bytes(real);
    std::string again(block.size(), '\0');
    REQUIRE(pread(fd, again.data(), again.size(), 0) == static_cast<ssize_t>(again.size()));
    close(fd);
    REQUIRE(again == block);
    REQUIRE((device && own));
    CHECK(*bytes_so_far(real, source) - *device >= block.size()); // others may read meanwhile
    CHECK(*process_read_bytes(real) - *own >= block.size());
}
