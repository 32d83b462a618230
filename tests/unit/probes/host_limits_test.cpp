// What a host could carry: CPUs that may be used, memory.
#include <catch2/catch.hpp>

#include <sched.h>

#include "harness/probes/cpu_allowed.hpp"
#include "harness/probes/memory_bandwidth.hpp"
#include "tests/unit/probes/fake_machine.hpp"

using namespace feedbench::probes;
using feedbench::test::FakeMachine;

TEST_CASE("cgroup v2: the smallest quota on the way to the root") {
    FakeMachine fake;
    CHECK_FALSE(cgroup_cpu_quota(fake.machine));
    fake.write("proc/self/cgroup", "0::/job/step\n");
    CHECK_FALSE(cgroup_cpu_quota(fake.machine));
    fake.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    CHECK_FALSE(cgroup_cpu_quota(fake.machine));
    fake.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    CHECK(cgroup_cpu_quota(fake.machine) == 1.5);
    fake.write("sys/fs/cgroup/job/step/cpu.max", "400000 100000\n");
    CHECK(cgroup_cpu_quota(fake.machine) == 1.5);
    // In a container the path is the host's, and the files are those of the root.
    fake.write("proc/self/cgroup", "0::/docker/0123\n");
    fake.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
    CHECK(cgroup_cpu_quota(fake.machine) == 0.5);
}

TEST_CASE("cgroup v1: quota over period, -1 is none") {
    FakeMachine fake;
    fake.write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/x\n0::/\n");
    fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    CHECK_FALSE(cgroup_cpu_quota(fake.machine));
    fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
    CHECK(cgroup_cpu_quota(fake.machine) == 2.5);
    fake.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "200000\n");
    fake.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    CHECK(cgroup_cpu_quota(fake.machine) == 2.0);
}

TEST_CASE("ranks that are bound apart add up, ranks that share do not, a quota is for all") {
    CHECK(cpus_allowed({"0", "1", "2-3"}, {}) == 4.0);
    CHECK(cpus_allowed({"0-3", "0-3"}, {}) == 4.0);
    CHECK(cpus_allowed({"0-1", "1-2"}, {}) == 3.0);
    CHECK(cpus_allowed({"0-3", "0-3"}, 1.5) == 1.5);
    CHECK(cpus_allowed({"0"}, 8.0) == 1.0);
    CHECK_FALSE(cpus_allowed({}, {}));
    CHECK_FALSE(cpus_allowed({"0-1", ""}, {})); // one that does not say
}

TEST_CASE("this process's affinity is what the scheduler says") {
    cpu_set_t set;
    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    const auto list = affinity_list(Machine{});
    REQUIRE(list);
    CHECK(cpus_allowed({*list}, {}) == static_cast<double>(CPU_COUNT(&set)));
}

TEST_CASE("memory is read at some speed that a memory can have") {
    const auto one =
        memory_read_bytes_per_second({.thread_count = 1, .buffer_bytes = 8 << 20, .duration_ns = 5'000'000});
    REQUIRE(one);
    CHECK(*one > 50e6); // a sanitizer's build on a busy machine
    CHECK(*one < 2e12);
    CHECK(memory_read_bytes_per_second({.thread_count = 2, .buffer_bytes = 8 << 20, .duration_ns = 5'000'000}));
}

TEST_CASE("the last-level cache is the largest") {
    FakeMachine fake;
    CHECK_FALSE(last_level_cache_bytes(fake.machine));
    fake.write("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    fake.write("sys/devices/system/cpu/cpu0/cache/index1/size", "32768K\n");
    fake.write("sys/devices/system/cpu/cpu0/cache/index2/size", "2M\n");
    CHECK(last_level_cache_bytes(fake.machine) == 32u << 20);
}
