#include "workloads/host_message.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;

TEST_CASE("a host's facts reach rank 0 whole, those that are unknown as unknown") {
    HostFacts facts;
    facts.name = "client 1: the \"first\"";
    facts.rank_count = 2;
    facts.accelerator_count = 3;
    facts.cpu_count = 64;
    facts.cpu_allowed = 31.5;
    facts.memory_bytes = std::uint64_t{503} << 30;
    facts.cpu_model = std::string("CPU\0with a zero", 15);
    facts.process_cpu_s = 1.0 / 3;
    facts.host_cpu_s = 1e-9;
    facts.bytes_delivered = ~std::uint64_t{0};
    facts.peak_rss_bytes = 7;
    facts.memory_bytes_per_second = 1.8e11;
    const HostFacts there = workloads::unpack_host(workloads::pack_host(facts));
    CHECK(there.name == facts.name);
    CHECK(there.rank_count == 2);
    CHECK(there.accelerator_count == 3);
    CHECK(there.cpu_count == 64);
    CHECK(there.cpu_allowed == 31.5);
    CHECK(there.memory_bytes == facts.memory_bytes);
    CHECK(there.cpu_model == facts.cpu_model);
    CHECK(there.kernel.empty());
    CHECK(there.process_cpu_s == 1.0 / 3);
    CHECK(there.host_cpu_s == 1e-9);
    CHECK(there.bytes_delivered == ~std::uint64_t{0});
    CHECK(there.peak_rss_bytes == 7);
    CHECK_FALSE(there.nic_bytes_per_second.has_value());
    CHECK(there.memory_bytes_per_second == 1.8e11);
}
