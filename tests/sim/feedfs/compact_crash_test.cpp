// feedfs' compaction and losses of power: segments emptied and removed between the steps of random programs that
// replace and remove a lot, with moves between tiers besides, crashed at every point.
#include <catch2/catch.hpp>

#include "storage/feedfs/compact.hpp"
#include "storage/feedfs/tier.hpp"
#include "tests/support/feedfs_crash.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("a loss of power during compaction loses nothing, and gives back the space", "[feedfs][long]") {
    std::uint64_t moved = 0, removed = 0, uploaded = 0;
    Play play{.programs = program_count(5), .steps = 80, .in_repair = true};
    play.prepare = [&](FeedfsProgram& program) {
        program.neutral.push_back([&](feedfs::FileSystem& volume) -> Status {
            feedfs::CompactOptions options;
            options.live_below = 0.95;
            options.grace_ns = 0;
            options.now_ns = [] { return std::int64_t{2'000'000'000}; };
            const auto report = feedfs::compact(volume, options);
            if (!report) return report.error();
            moved += report->records_moved;
            removed += report->segments_removed;
            return {};
        });
        program.neutral.push_back([&](feedfs::FileSystem& volume) -> Status {
            auto tier = feedfs::Tiering::make(volume);
            if (!tier) return tier.error();
            const feedfs::TierWork work = (*tier)->drain();
            uploaded += work.done.segments;
            if (work.first_error) return *work.first_error;
            return {};
        });
        program.neutral_share = 4;
    };
    std::size_t points = 0;
    const std::string found = first_violation(play, points);
    INFO(found);
    CHECK(found.empty());
    CHECK(points > 2000);
    CHECK(moved > 50);
    CHECK(removed > 10);
    CHECK(uploaded > 20);
}
