// When a loop gives its look-ups away, by the faults that it is shown.
#include <catch2/catch.hpp>

#include "storage/feedfs/mount/cold_metadata.hpp"

using feedbench::feedfs::mount::ColdMetadata;

namespace {

struct LoopOfLookUps {
    ColdMetadata cold;
    std::uint64_t faults = 1000, now_ns = 5, looks = 0; // what came before is not counted
    std::uint64_t kept = 0, given = 0;

    void look_up(std::uint64_t count, std::uint64_t faults_each) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const bool is_given = cold.gives_away(
                [this] {
                    ++looks;
                    return faults;
                },
                [this] { return now_ns; });
            if (!is_given) faults += faults_each;
            ++(is_given ? given : kept);
            now_ns += 1000;
        }
    }
};

} // namespace

TEST_CASE("cold metadata: without faults a loop keeps its look-ups, and hardly looks", "[mount]") {
    LoopOfLookUps loop;
    loop.look_up(80'000, 0);
    CHECK(loop.given == 0);
    CHECK(loop.looks <= 80'000 / ColdMetadata::kLookUps + 1);
}

TEST_CASE("cold metadata: with faults nearly all go to the workers, and come back when there are none", "[mount]") {
    LoopOfLookUps loop;
    loop.look_up(ColdMetadata::kLookUps * 2, 1);
    CHECK(loop.given > 0);
    loop.look_up(2'000'000, 1); // two seconds
    CHECK(loop.kept < 100);
    loop.now_ns += ColdMetadata::kMostNs;
    loop.kept = loop.given = 0;
    loop.look_up(100'000, 0);
    CHECK(loop.given == 0);
    // One fault now and then: a short pause again.
    loop.look_up(ColdMetadata::kLookUps, 1);
    loop.kept = loop.given = 0;
    loop.look_up(100'000, 0);
    CHECK(loop.given > 0);
    CHECK(loop.given <= ColdMetadata::kFirstNs / 1000 + 1);
}
