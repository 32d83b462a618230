#include "harness/probes/cpu.hpp"
#include "harness/probes/process_start.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

#include "tests/unit/probes/fake_machine.hpp"

using namespace feedbench;
using namespace feedbench::probes;
using Fake = feedbench::test::FakeMachine;

TEST_CASE("facts are read as proc(5) writes them") {
    Fake fake;
    fake.write("sys/devices/system/cpu/online", "0-3,8,10-11\n");
    fake.write("sys/devices/system/node/online", "0-1\n");
    fake.write("proc/cpuinfo",
               "processor\t: 0\nmodel name\t: Fast CPU @ 3.0 GHz\n\nprocessor\t: 1\nmodel name\t: other\n");
    fake.write("proc/sys/kernel/osrelease", "6.1.0-test\n");
    fake.write("proc/meminfo", "MemTotal:       24684092 kB\nMemFree:  5 kB\nCached:  1024 kB\n");
    fake.write("proc/stat", "cpu  100 20 30 4000 500 6 7 8 9 0\ncpu0 1 2 3 4 5 6 7\n");
    fake.write("proc/self/status", "Name:\tx\nVmPeak:\t  90000 kB\nVmHWM:\t   5000 kB\n");
    CHECK(online_cpu_count(fake.machine) == 7u);
    CHECK(numa_node_count(fake.machine) == 2u);
    CHECK(cpu_model(fake.machine) == "Fast CPU @ 3.0 GHz");
    CHECK(kernel_release(fake.machine) == "6.1.0-test");
    CHECK(memory_total_bytes(fake.machine) == 24684092ull * 1024);
    CHECK(peak_rss_bytes(fake.machine) == 5000ull * 1024);
    // Busy is user + nice + system + irq + softirq, without idle, iowait and steal.
    CHECK(host_cpu_s(fake.machine).value() == Approx(163.0 / static_cast<double>(sysconf(_SC_CLK_TCK))));
}

TEST_CASE("what a machine does not say is null with a reason, never a number") {
    const Fake empty;
    for (const Fact& fact : read_all(empty.machine, false)) {
        INFO(fact.key);
        const bool own = fact.key == "process_cpu_s" || fact.key == "peak_rss_bytes"; // asked of the kernel directly
        CHECK((fact.number || fact.text) == own);
        CHECK(fact.null_reason.empty() == own);
    }
    const HostFacts facts = host_facts(empty.machine, cpu_mark(empty.machine), "h1");
    CHECK(facts.cpu_count == 0);
    CHECK(facts.memory_bytes == 0);
    CHECK(facts.host_cpu_s == 0);
}

TEST_CASE("damaged files are not believed") {
    Fake fake;
    for (const char* list : {"", "\n", "x", "3-1", "0-", "-1", "0,,2", "99999999999"}) {
        INFO(list);
        fake.write("sys/devices/system/cpu/online", list);
        CHECK_FALSE(online_cpu_count(fake.machine));
    }
    for (const char* line : {"MemTotal: 12\n", "MemTotal: x kB\n", "MemTotal:\n", "xMemTotal: 1 kB\n",
                             "MemTotal: -1 kB\n", "MemTotal: 99999999999999999999 kB\n"}) {
        INFO(line);
        fake.write("proc/meminfo", line);
        CHECK_FALSE(memory_total_bytes(fake.machine));
    }
    fake.write("proc/stat", "cpu 1 2 3\n");
    CHECK_FALSE(host_cpu_s(fake.machine));
}

TEST_CASE("virtual time asks the machine nothing and says why") {
    const auto facts = read_all(Machine{}, true);
    REQUIRE(facts.size() == probes::probes().size());
    for (const Fact& fact : facts) {
        CHECK_FALSE((fact.number || fact.text));
        CHECK(fact.null_reason.find("virtual time") != std::string::npos);
    }
}

TEST_CASE("this machine answers, and CPU that was used is counted") {
    const Machine real;
    REQUIRE(online_cpu_count(real));
    CHECK(*online_cpu_count(real) == static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
    CHECK(memory_total_bytes(real).value_or(0) > (64u << 20));
    const CpuMark start = cpu_mark(real);
    volatile std::uint64_t sink = 0;
    while (process_cpu_s() - start.process_s < 0.05) sink = sink + 1;
    CpuMark marked = start;
    marked.limits.memory_bytes_per_second = 1e10;
    const HostFacts facts = host_facts(real, marked, "here");
    CHECK(facts.memory_bytes_per_second == 1e10);
    CHECK(facts.name == "here");
    CHECK(facts.rank_count == 1);
    CHECK(facts.process_cpu_s >= 0.05);
    CHECK(facts.host_cpu_s > 0);
    CHECK(facts.peak_rss_bytes > 0);
}

TEST_CASE("ranks of one host add up, the host's own figures do not") { // case T9
    HostFacts a, b;
    a.name = b.name = "h1";
    a.rank_count = b.rank_count = 1;
    a.accelerator_count = b.accelerator_count = 4;
    a.cpu_count = b.cpu_count = 64;
    a.memory_bytes = b.memory_bytes = 540629417984; // 503.5 GiB
    a.process_cpu_s = 1.5, b.process_cpu_s = 2;
    a.host_cpu_s = 10, b.host_cpu_s = 10.5;
    a.bytes_delivered = 100, b.bytes_delivered = 20;
    a.peak_rss_bytes = 7, b.peak_rss_bytes = 9;
    a.cpu_allowed = b.cpu_allowed = 1.5;
    b.nic_bytes_per_second = 125e6;
    a.memory_bytes_per_second = 2e10;
    merge_host(a, b);
    CHECK(a.rank_count == 2);
    CHECK(a.accelerator_count == 8);
    CHECK(a.cpu_count == 64);
    CHECK(a.memory_bytes == 540629417984);
    CHECK(a.process_cpu_s == 3.5);
    CHECK(a.host_cpu_s == 10.5);
    CHECK(a.bytes_delivered == 120);
    CHECK(a.peak_rss_bytes == 9);
    CHECK(a.cpu_allowed == 1.5); // what both know of one host does not add up
    CHECK(a.nic_bytes_per_second == 125e6);
    CHECK(a.memory_bytes_per_second == 2e10);
}

TEST_CASE("how long ago this process was started, whatever its name") {
    Fake fake;
    const auto ticks = static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
    fake.write("proc/uptime", "1000.50 1999.00\n");
    fake.write("proc/self/stat", "42 (a b) R (c) S 1 42 42 0 -1 4194560 100 0 0 0 5 6 0 0 20 0 3 0 " +
                                     std::to_string(990 * ticks) + " 1000000 200 18446744073709551615 1 1 0\n");
    CHECK(process_age_s(fake.machine).value() == Approx(10.5));
    fake.write("proc/self/stat", "42 (short) S 1\n");
    CHECK_FALSE(process_age_s(fake.machine));
    CHECK_FALSE(process_age_s({"/nowhere", "/nowhere"}));
    CHECK(process_age_s({}).value() < 600);
}
