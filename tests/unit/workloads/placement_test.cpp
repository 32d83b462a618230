#include <catch2/catch.hpp>

#include "tests/support/fake_ranks.hpp"
#include "workloads/workload_kind.hpp"

using namespace feedbench;
using namespace feedbench::test;
using workloads::place_accelerators;

namespace {
// The message names all of these numbers.
void check_refused(std::uint32_t total, const std::vector<int>& ranks, const std::vector<std::string>& words) {
    FakeRanks all(ranks);
    for (int rank = 0; rank < all.size(); ++rank) { // every rank says the same: none is left waiting
        const auto placement = place_accelerators(total, *all.rank(rank));
        REQUIRE_FALSE(placement);
        CHECK(exit_code(placement.error().kind) == 2);
        for (const std::string& word : words) {
            INFO(placement.error().message);
            CHECK(placement.error().message.find(word) != std::string::npos);
        }
    }
}
} // namespace

TEST_CASE("case P8: 8 accelerators over ranks 3+3+2 are refused with the numbers") {
    check_refused(8, {3, 3, 2}, {"8 accelerators", "3 hosts", "multiple of 3"});
}

TEST_CASE("accelerators that divide over the hosts but not over the ranks of one are refused") {
    check_refused(9, {3, 3, 2}, {"3 accelerators of host host2", "2 ranks"});
    check_refused(4, {8}, {"4 accelerators", "8 ranks"});
    check_refused(0, {2}, {"0 accelerators"});
}

TEST_CASE("placements that fit cover every accelerator once, in order of rank") {
    struct Row {
        std::vector<int> ranks;
        std::uint32_t total;
    };
    for (const Row& row :
         {Row{{1}, 1}, Row{{1}, 1000}, Row{{8}, 8}, Row{{4, 4}, 16}, Row{{3, 3, 2}, 18}, Row{{1, 2}, 4}}) {
        FakeRanks all(row.ranks);
        std::uint32_t next = 0;
        for (int rank = 0; rank < all.size(); ++rank) {
            const auto placement = place_accelerators(row.total, *all.rank(rank));
            REQUIRE(placement);
            CHECK(placement->total == row.total);
            CHECK(placement->first == next);
            CHECK(placement->count > 0);
            next += placement->count;
        }
        CHECK(next == row.total);
    }
}
