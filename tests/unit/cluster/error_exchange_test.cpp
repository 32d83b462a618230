#include <catch2/catch.hpp>

#include <mutex>

#include "harness/cluster/error_exchange.hpp"
#include "tests/support/fake_ranks.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {
bool same(const Error& a, const Error& b) {
    return a.kind == b.kind && a.message == b.message && a.operation == b.operation && a.path == b.path &&
           a.offset == b.offset && a.errno_value == b.errno_value && a.host == b.host && a.rank == b.rank &&
           a.accelerator == b.accelerator;
}
Error full_error() {
    Error error = storage_error("read", "/data/with space:ü\n.npz", 5, "line one\nline two", std::int64_t{1} << 40);
    error.host = "h1";
    error.rank = 3;
    error.accelerator = 4000000000;
    return error;
}
} // namespace

TEST_CASE("an error survives the way between ranks, whatever is in it") {
    for (const Error& error : {full_error(), Error{}, config_error("no"), format_error("p", "m", 0)}) {
        const auto back = cluster::decode(cluster::encode(error));
        REQUIRE(back);
        CHECK(same(*back, error));
    }
    CHECK_FALSE(cluster::decode(cluster::encode(std::nullopt)));
    for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
        Error error;
        error.kind = static_cast<ErrorKind>(kind);
        CHECK(cluster::decode(cluster::encode(error))->kind == error.kind);
    }
}

TEST_CASE("a damaged message is an error, not no error") {
    const std::string whole = cluster::encode(full_error());
    for (const std::string& bytes : {std::string("x"), whole.substr(0, whole.size() / 2), whole + whole}) {
        const auto error = cluster::decode(bytes);
        REQUIRE(error);
        CHECK(error->kind == ErrorKind::internal);
    }
}

TEST_CASE("every rank hears the error of the lowest rank that has one, with its rank and host") {
    FakeRanks ranks({2, 2});
    std::mutex mutex;
    std::vector<std::optional<Error>> heard(4);
    ranks.run([&](cluster::Communicator& communicator) {
        std::optional<Error> mine;
        if (communicator.rank() >= 2) mine = storage_error("read", "file" + std::to_string(communicator.rank()), 5);
        auto error = cluster::first_error_of_all(communicator, mine);
        std::lock_guard lock(mutex);
        heard[static_cast<std::size_t>(communicator.rank())] = error;
    });
    for (const auto& error : heard) {
        REQUIRE(error);
        CHECK(error->path == "file2");
        CHECK(error->rank == 2);
        CHECK(error->host == "host1");
    }
}

TEST_CASE("ranks agree on success") {
    FakeRanks ranks({3});
    std::mutex mutex;
    int good = 0;
    ranks.run([&](cluster::Communicator& communicator) {
        const bool fine = cluster::agree(communicator, {}).has_value();
        std::lock_guard lock(mutex);
        good += fine;
    });
    CHECK(good == 3);
}
