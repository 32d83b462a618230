// feedfs' tiering and losses of power: uploads, evictions and fetches between the steps of random programs, crashed at
// every point; and losses of the whole fast tier.
#include <catch2/catch.hpp>

#include "storage/feedfs/tier_copy.hpp"
#include "storage/feedfs/tier_rows.hpp"
#include "tests/support/feedfs_crash.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

Status outcome(const feedfs::TierWork& work) {
    if (work.first_error) return *work.first_error;
    return {};
}

struct Moved {
    std::uint64_t uploads = 0, evictions = 0, fetches = 0;
} moved; // segments, by all programs

using Act = std::function<feedfs::TierWork(feedfs::Tiering&)>;
FeedfsProgram::Neutral tiering(std::uint64_t Moved::*count, Act act) {
    return [act = std::move(act), count](feedfs::FileSystem& volume) -> Status {
        auto made = feedfs::Tiering::make(volume);
        if (!made) return made.error();
        const feedfs::TierWork work = act(**made);
        moved.*count += work.done.segments;
        return outcome(work);
    };
}

void move_between_tiers(FeedfsProgram& program) {
    program.neutral.push_back(tiering(&Moved::uploads, [](feedfs::Tiering& one) { return one.upload(); }));
    program.neutral.push_back(tiering(&Moved::evictions, [](feedfs::Tiering& one) { return one.evict(1'000'000); }));
    program.neutral.push_back(tiering(&Moved::uploads, [](feedfs::Tiering& one) { return one.drain(); }));
    program.neutral.push_back(tiering(&Moved::fetches, [](feedfs::Tiering& one) { return one.fetch(); }));
    program.neutral_share = 4;
}

} // namespace

TEST_CASE("a loss of power during uploads, evictions and fetches loses nothing", "[feedfs][long]") {
    std::size_t points = 0;
    moved = {};
    const std::string found =
        first_violation({.programs = program_count(10), .steps = 60, .prepare = move_between_tiers}, points);
    INFO(found);
    CHECK(found.empty());
    CHECK(points > 2000);
    CHECK(moved.uploads > 50);
    CHECK(moved.evictions > 20);
    CHECK(moved.fetches > 5);
}

TEST_CASE("a row that says object tier before the object is complete is noticed", "[feedfs]") {
    Play play{.programs = 20, .steps = 40};
    play.prepare = [](FeedfsProgram& program) {
        program.neutral.push_back([](feedfs::FileSystem& volume) -> Status {
            auto rows = feedfs::segment_rows(volume, [](const feedfs::SegmentRow& row) {
                return row.record.sealed && !row.has(feedfs::SegmentRecord::kObject);
            });
            if (!rows) return rows.error();
            for (const feedfs::SegmentRow& row : *rows) {
                feedfs::SegmentRecord after = row.record;
                after.tiers = feedfs::SegmentRecord::kObject;
                after.object_target = kObjectTarget;
                if (auto changed = feedfs::change_row(volume, row, after); !changed) return changed.error();
                feedfs::Target* const from = volume.segments().target(row.record.target);
                const std::string name = feedfs::segment_name(row.segment);
                if (Status ok = feedfs::copy_segment(
                        {name, row.record.bytes, from, volume.segments().target(kObjectTarget)}, volume.memory());
                    !ok)
                    return ok;
                volume.segments().forget(row.segment);
                if (Status ok = from->remove(name); !ok) return ok;
            }
            return {};
        });
        program.neutral_share = 4;
    };
    std::size_t points = 0;
    const std::string found = first_violation(play, points);
    INFO(found);
    CHECK(found.find("the object tier") != std::string::npos);
}

TEST_CASE("a volume whose fast tier is gone reads from the object tier", "[feedfs]") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        INFO("seed " << seed);
        FeedfsRig rig(false);
        FeedfsProgram program(rig, seed);
        if (seed % 2 == 0) move_between_tiers(program);
        program.run(60);
        program.close(); // seals
        {
            auto volume = rig.opened();
            auto tier = feedfs::Tiering::make(*volume);
            REQUIRE(tier.has_value());
            REQUIRE(outcome((*tier)->upload()).has_value());
            const auto figures = (*tier)->figures();
            REQUIRE(figures.has_value());
            CHECK(figures->fast_only.segments == 0);
        }
        for (std::uint32_t id = 1; id <= kFastTargets; ++id) rig.target(id).store().files.clear();
        if (seed % 4 < 2) // not only the files: the targets, too
            for (std::uint32_t id = 1; id <= kFastTargets; ++id) rig.target(id).store().missing = true;
        feedfs::OpenOptions options = rig.options();
        options.read_only = seed % 2 == 1;
        auto volume = rig.open(options);
        REQUIRE(volume.has_value());
        Model found;
        const Status read = read_volume(**volume, found);
        INFO((read ? std::string() : read.error().describe()));
        REQUIRE(read.has_value());
        CHECK(difference(found, program.now()).empty());
    }
}
