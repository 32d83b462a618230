#include "harness/probes/network_interface.hpp"

#include <catch2/catch.hpp>

#include "harness/probes/remote_host.hpp"
#include "tests/unit/probes/fake_machine.hpp"

using namespace feedbench::probes;
using feedbench::storage::Mount;
using feedbench::test::FakeMachine;

TEST_CASE("the longest prefix wins, then the smallest metric; what is down or refused is no route") {
    FakeMachine fake;
    fake.write("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
                                 "eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                                 "wlan0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                                 "ib0\t00000A0A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"   // 10.10/16
                                 "bond0\t00140A0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n" // 10.10.20/24
                                 "down0\t07140A0A\t00000000\t0000\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n" // 10.10.20.7
                                 "no0\t08140A0A\t00000000\t0201\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n"); // 10.10.20.8
    CHECK(interface_to(fake.machine, "8.8.8.8") == "eth0");
    CHECK(interface_to(fake.machine, "10.10.1.1") == "ib0");
    CHECK(interface_to(fake.machine, "10.10.20.5") == "bond0");
    CHECK(interface_to(fake.machine, "10.10.20.7") == "bond0");
    CHECK(interface_to(fake.machine, "10.10.20.8") == "bond0");
    CHECK(interface_to(fake.machine, "127.0.0.1") == "lo");
}

TEST_CASE("the host's own addresses are reached through lo") {
    FakeMachine fake;
    fake.write("proc/net/route", "eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
    fake.write("proc/net/fib_trie", "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.2\n        /32 host LOCAL\n"
                                    "     |-- 192.0.2.255\n        /32 link BROADCAST\n");
    CHECK(interface_to(fake.machine, "192.0.2.2") == "lo");
    CHECK(interface_to(fake.machine, "192.0.2.25") == "eth0");
    CHECK(interface_to(fake.machine, "192.0.2.255") == "eth0");
}

TEST_CASE("IPv6 routes") {
    FakeMachine fake;
    const std::string zero(32, '0');
    fake.write("proc/net/ipv6_route",
               "fd000000000000000000000000000000 40 " + zero + " 00 " + zero +
                   " 00000100 00000001 00000000 00000001     eth1\n" + zero + " 00 " + zero +
                   " 00 fe800000000000000000000000000001 00000400 00000002 00000000 00000003     eth0\n" +
                   "fd000000000000000000000000000002 80 " + zero + " 00 " + zero +
                   " 00000000 00000004 00000000 80200001       lo\n" + zero + " 00 " + zero + " 00 " + zero +
                   " ffffffff 00000001 00000000 00200200       lo\n");
    CHECK(interface_to(fake.machine, "fd00::5") == "eth1");
    CHECK(interface_to(fake.machine, "fd00::2") == "lo");
    CHECK(interface_to(fake.machine, "2001:db8::1") == "eth0");
}

TEST_CASE("no table, no route") {
    const FakeMachine fake;
    CHECK_FALSE(interface_to(fake.machine, "10.0.0.1"));
    CHECK_FALSE(interface_to(fake.machine, "fd00::1"));
    CHECK_FALSE(interface_to(fake.machine, "no such name"));
}

TEST_CASE("line rates: Mbit/s in bytes; unknown ones are not guessed; the fastest has a device behind it") {
    FakeMachine fake;
    fake.add_interface("eth0", "1", "25000");
    fake.write("sys/class/net/eth0/device/vendor", "0x1\n");
    fake.add_interface("eth1", "1", "1000");
    fake.write("sys/class/net/eth1/device/vendor", "0x1\n");
    fake.add_interface("br0", "1", "100000");
    fake.add_interface("down", "1", "-1");
    fake.add_interface("old", "1", "4294967295");
    fake.add_interface("lo", "12345", "");
    CHECK(line_rate_bytes_per_second(fake.machine, "eth0") == 3.125e9);
    for (const char* unknown : {"down", "old", "lo", "missing"}) {
        INFO(unknown);
        CHECK_FALSE(line_rate_bytes_per_second(fake.machine, unknown));
    }
    REQUIRE(fastest_interface(fake.machine));
    CHECK(fastest_interface(fake.machine)->interface == "eth0");
    CHECK(bytes_received(fake.machine, "lo") == 12345u);
    CHECK(network_facts(fake.machine).front().number == 3.125e9);
    CHECK_FALSE(network_facts({"/nowhere", "/nowhere"}).front().null_reason.empty());
}

TEST_CASE("the server that a mount names") {
    struct Row {
        const char *type, *device, *options, *host;
    };
    for (const Row& row : {
             Row{"nfs", "server:/export", "rw,vers=3,addr=10.0.0.1", "10.0.0.1"},
             Row{"nfs4", "server:/export", "rw", "server"},
             Row{"nfs4", "[fd00::1]:/export", "rw", "fd00::1"},
             Row{"nfs4", "[fd00::1]:/export", "rw,clientaddr=fd00::9,addr=fd00::1", "fd00::1"},
             Row{"cifs", "//nas/share", "rw", "nas"},
             Row{"cifs", "//nas/share", "rw,addr=10.0.0.2", "10.0.0.2"},
             Row{"ceph", "10.0.0.3:6789,10.0.0.4:6789:/", "rw", "10.0.0.3"},
             Row{"ceph", "admin@0123.cephfs=/", "rw,mon_addr=10.0.0.5:6789/10.0.0.6:6789", "10.0.0.5"},
             Row{"lustre", "10.0.0.7@tcp:/scratch", "rw", "10.0.0.7"},
             Row{"lustre", "10.0.0.7@tcp1:10.0.0.8@tcp1:/scratch", "rw", "10.0.0.7"},
             Row{"fuse.sshfs", "user@box:/home/user", "rw", "box"},
             Row{"fuse.glusterfs", "gluster1:volume", "rw", "gluster1"},
         }) {
        INFO(row.type << " " << row.device << " " << row.options);
        Mount mount;
        mount.type = row.type;
        mount.device = row.device;
        mount.options = row.options;
        CHECK(remote_host(mount).host == row.host);
        CHECK(remote_host(mount).reason.empty());
    }
    for (const Row& row : {
             Row{"nfs4", "server:/export", "rw,proto=rdma,addr=10.0.0.1", "RDMA"},
             Row{"lustre", "10.0.0.7@o2ib:/scratch", "rw", "RDMA"},
             Row{"virtiofs", "share", "rw", "virtiofs"},
             Row{"9p", "hostshare", "rw,trans=virtio", "9p"},
             Row{"fuse.s3fs", "s3fs", "rw", "fuse.s3fs"},
             Row{"fuse.feedfs", "/dev/fuse", "rw", "fuse.feedfs"},
             Row{"beegfs", "beegfs_nodev", "rw", "beegfs"},
         }) {
        INFO(row.type << " " << row.device << " " << row.options);
        Mount mount;
        mount.type = row.type;
        mount.device = row.device;
        mount.options = row.options;
        CHECK(remote_host(mount).host.empty());
        CHECK(remote_host(mount).reason.find(row.host) != std::string::npos);
    }
}
