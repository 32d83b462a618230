#include "workloads/storage_facts.hpp"

#include <catch2/catch.hpp>

#include "tests/support/fake_ranks.hpp"
#include "tests/support/memory_backend.hpp"

using namespace feedbench;
using namespace feedbench::workloads;

namespace {

// Each rank spoke to "a"; ranks of the second host saw it refuse, and were given "b" that they never spoke to.
class Counting final : public test::MemoryBackend {
  public:
    explicit Counting(int host) : host_(host) {}
    std::vector<EndpointCounters> statistics() const override {
        EndpointCounters a, b;
        a.name = "http://a";
        a.request_count = 10;
        a.connection_count = 1;
        a.last_byte.add(5'000'000);
        b.name = "http://b";
        if (host_ == 1) a.retried(RetryCause::throttled);
        if (host_ == 1) a.failed_request_count = 1;
        return host_ == 1 ? std::vector{a, b} : std::vector{a};
    }

  private:
    int host_;
};

std::vector<StorageResult> gathered(const std::function<StorageResult(int host)>& seen) {
    test::FakeRanks ranks({2, 3});
    std::vector<StorageResult> result;
    ranks.run([&](cluster::Communicator& communicator) {
        const Counting backend(communicator.host_index());
        auto mine = gather_storage(communicator, backend, seen(communicator.host_index()));
        if (communicator.rank() == 0) result = std::move(mine);
    });
    return result;
}

StorageResult same(int host) {
    StorageResult seen;
    seen.use = "data";
    seen.backend = "memory";
    seen.filesystem_type = "nfs4";
    seen.mount_options = "rw,a:b";
    seen.is_network = true;
    seen.free_bytes = 1000 + static_cast<std::uint64_t>(host); // room differs from moment to moment
    return seen;
}

} // namespace

TEST_CASE("hosts that see a storage alike are one entry, with the counters of all their ranks") {
    const auto all = gathered(same);
    REQUIRE(all.size() == 1);
    CHECK(all[0].hosts == std::vector<std::string>{"host0", "host1"});
    CHECK(all[0].mount_options == "rw,a:b");
    CHECK(all[0].is_network);
    REQUIRE(all[0].endpoints.size() == 2);
    CHECK(all[0].endpoints[0].name == "http://a");
    CHECK(all[0].endpoints[0].request_count == 50);
    CHECK(all[0].endpoints[0].rank_count == 5);
    CHECK(all[0].endpoints[0].retry_count == 3);
    CHECK(all[0].endpoints[0].histograms.at(0).count == 5);
    CHECK(all[0].endpoints[1].rank_count == 0); // given to three ranks, used by none
}

TEST_CASE("hosts that see a storage differently are entries of their own") {
    const auto all = gathered([](int host) {
        StorageResult seen = same(host);
        seen.device = "server" + std::to_string(host) + ":/export";
        return seen;
    });
    REQUIRE(all.size() == 2);
    CHECK(all[0].hosts == std::vector<std::string>{"host0"});
    CHECK(all[0].endpoints.at(0).request_count == 20);
    CHECK(all[1].device == "server1:/export");
    CHECK(all[1].endpoints.at(0).request_count == 30);
}

TEST_CASE("what was sent again or given up is a warning; what went well is none") {
    std::vector<Finding> findings;
    add_retry_findings(gathered(same), findings);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "storage_retries");
    CHECK(findings[0].evidence == "data: 50 requests to http://a: 3 sent again (3 throttled), 3 given up");
    EndpointResult quiet;
    quiet.request_count = 5;
    CHECK(retry_words(quiet).empty());
}

TEST_CASE("a storage without an end says no room") {
    class Endless final : public test::MemoryBackend {
        Expected<storage::FilesystemFacts> facts(const std::string&) override {
            storage::FilesystemFacts facts;
            facts.type = "s3";
            facts.free_bytes = facts.total_bytes = ~std::uint64_t{0} >> 1;
            facts.server = "127.0.0.1";
            facts.is_network = true;
            return facts;
        }
    } endless;
    const StorageResult seen = look_at_storage(endless, "data", "s3://b", false);
    CHECK(seen.total_bytes == 0);
    CHECK(seen.network_interface == "lo");
    CHECK(look_at_storage(endless, "data", "s3://b", true).network_interface.empty()); // no machine to ask
}
