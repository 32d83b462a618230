#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <string>

#include "harness/cluster/communicator.hpp"

using namespace feedbench::cluster;

TEST_CASE("one process is a whole job of one host and one rank") {
    auto single = make_single();
    CHECK(single->rank() == 0);
    CHECK(single->size() == 1);
    CHECK(single->local_rank() == 0);
    CHECK(single->host_index() == 0);
    REQUIRE(single->hosts().size() == 1);
    CHECK_FALSE(single->hosts()[0].name.empty());
    CHECK(single->hosts()[0].ranks == std::vector<int>{0});
}

TEST_CASE("collectives of one process are the identity") {
    auto single = make_single();
    single->barrier();
    CHECK(single->gather("abc") == std::vector<std::string>{"abc"});
    CHECK(single->broadcast("xyz") == "xyz");
    std::array<std::uint64_t, 2> numbers{3, ~std::uint64_t{0}};
    const auto before = numbers;
    single->sum(numbers);
    single->min(numbers);
    single->max(numbers);
    CHECK(numbers == before);
    std::array<double, 1> real{0.5};
    single->sum(real);
    CHECK(real[0] == 0.5);
}

TEST_CASE("what is sent to oneself arrives in order, empty strings and zero bytes too") {
    auto single = make_single();
    const std::string with_zero("a\0b", 3);
    single->send(0, "first");
    single->send(0, "");
    single->send(0, with_zero);
    CHECK(single->receive(0) == "first");
    CHECK(single->receive(0).empty());
    CHECK(single->receive(0) == with_zero);
}

TEST_CASE("an agreement of one is what it said") {
    auto single = make_single();
    std::uint64_t result = 99;
    single->start_agreement(0);
    REQUIRE(single->test_agreement(result));
    CHECK(result == 0);
    single->start_agreement(5);
    REQUIRE(single->test_agreement(result));
    CHECK(result == 5);
}

TEST_CASE("an announced stop is heard and never falls") {
    auto single = make_single();
    CHECK(single->announced_stop() == 0);
    single->announce_stop(3);
    single->announce_stop(1);
    CHECK(single->announced_stop() == 3);
}

namespace {
std::map<std::string, std::string> environment;
const char* look_up(const char* name) {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
}
} // namespace

TEST_CASE("MPI is used only where a launcher started the process or it was asked for") {
    environment.clear();
    CHECK_FALSE(launched_by_mpi(look_up));
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}) {
        environment = {{name, "0"}};
        CHECK(launched_by_mpi(look_up));
    }
    environment = {{"FEEDBENCH_MPI", "1"}};
    CHECK(launched_by_mpi(look_up));
    environment = {{"FEEDBENCH_MPI", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
    CHECK_FALSE(launched_by_mpi(look_up));
}
