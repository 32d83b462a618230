// feedfs and losses of power: random programs, crashed at every point of what they did to disks and metadata.
//
// FEEDFS_CRASH_PROGRAMS=1000 in the environment plays so many programs instead of the few of a normal run.
#include <catch2/catch.hpp>

#include "tests/support/feedfs_crash.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("after a loss of power everything synced is there, and nothing is half there", "[feedfs]") {
    std::size_t points = 0;
    const std::string found = first_violation({.programs = program_count(10), .steps = 60}, points);
    INFO(found);
    CHECK(found.empty());
    CHECK(points > 2000);
}

TEST_CASE("a loss of power during the repair after a loss of power loses nothing", "[feedfs]") {
    std::size_t points = 0;
    const std::string found = first_violation({.programs = program_count(6), .steps = 60, .in_repair = true}, points);
    INFO(found);
    CHECK(found.empty());
    CHECK(points > 1500);
}

TEST_CASE("a sync that fails takes nothing along that was published", "[feedfs]") {
    std::size_t points = 0, failures = 0;
    Play play{.programs = program_count(12), .steps = 60};
    play.prepare = [](FeedfsProgram& program) { program.expects_errors = true; };
    play.spoil = [&failures](FeedfsRig& rig) {
        for (const auto& target : rig.targets)
            target->store().error = [&failures, random = std::mt19937_64(1)](const char* operation, const std::string&,
                                                                             std::uint64_t) mutable {
                if (std::string_view(operation) != "sync" || random() % 8 != 0) return 0;
                ++failures;
                return EIO;
            };
    };
    const std::string found = first_violation(play, points);
    INFO(found);
    CHECK(found.empty());
    CHECK(failures > 20);
}

// What these tests would not see, they could not prove.
TEST_CASE("a storage that lies is noticed", "[feedfs]") {
    Play play{.programs = 20, .steps = 40};
    SECTION("a target that answers a sync it did not make") {
        play.spoil = [](FeedfsRig& rig) {
            for (const auto& target : rig.targets) target->store().lies_about_sync = true;
        };
    }
    SECTION("a metadata engine whose durable commits are not") {
        play.spoil = [](FeedfsRig& rig) { rig.engine->lies_about_sync = true; };
    }
    SECTION("a metadata engine that keeps half a batch") {
        play.spoil = [](FeedfsRig& rig) { rig.engine->tears_batches = true; };
    }
    std::size_t points = 0;
    CHECK_FALSE(first_violation(play, points).empty());
}
