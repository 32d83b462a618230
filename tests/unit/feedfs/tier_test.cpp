// Tiering: where segments are, which leave first, what an upload believes.
#include <thread>

#include "tests/unit/feedfs/tier_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("sealed segments are uploaded once, evicted, and read as before", "[feedfs]") {
    TierRig rig;
    const feedfs::TierFigures before = rig.figures();
    REQUIRE(before.fast_only.segments >= 5);
    std::size_t told = 0;
    feedfs::TierWork work = rig.tier->upload([&](const feedfs::TierProgress& progress) {
        CHECK(progress.done.segments == ++told);
        CHECK(progress.all.segments == before.fast_only.segments);
        return true;
    });
    rig.require(work);
    CHECK(work.done.segments == before.fast_only.segments);
    CHECK(told == before.fast_only.segments);
    CHECK(rig.objects().files.size() == before.fast_only.segments);
    CHECK(rig.tier->upload().done.segments == 0);
    CHECK(rig.figures().both.bytes == before.fast_only.bytes);

    rig.require(rig.tier->evict(~std::uint64_t{0}));
    const feedfs::TierFigures after = rig.figures();
    CHECK(after.object_only.segments == before.fast_only.segments);
    CHECK(after.fast_bytes == 0);
    rig.check_all();
    CHECK(rig.figures().pieces.bytes >= before.fast_only.bytes); // they fill the fast tier

    rig.require(rig.tier->fetch());
    CHECK(rig.figures().both.segments == before.fast_only.segments);
    const std::uint64_t fetched = rig.read_figures().fetches;
    rig.check_all();
    CHECK(rig.read_figures().fetches == fetched);
}

TEST_CASE("an upload that is stopped goes on where it was", "[feedfs]") {
    TierRig rig;
    const std::uint64_t all = rig.figures().fast_only.segments;
    const feedfs::TierWork first =
        rig.tier->upload([](const feedfs::TierProgress& progress) { return progress.done.segments < 2; });
    CHECK(first.stopped);
    CHECK(first.done.segments == 2);
    CHECK(rig.tier->upload().done.segments == all - 2);
}

TEST_CASE("an object that did not arrive as it was sent is not believed", "[feedfs]") {
    TierRig rig;
    SECTION("damaged on its way back") { rig.objects().flips_reads = true; }
    SECTION("refused") {
        rig.objects().error = [](const char* operation, const std::string&, std::uint64_t) {
            return std::string_view(operation) == "sync" ? EIO : 0;
        };
    }
    const feedfs::TierWork work = rig.tier->upload();
    CHECK(work.done.segments == 0);
    CHECK(work.failed.segments > 0);
    REQUIRE(work.first_error.has_value());
    CHECK(work.first_error->errno_value == EIO);
    CHECK(work.first_error->describe().find("objects") != std::string::npos);
    CHECK(rig.figures().both.segments == 0);
    CHECK(rig.tier->evict(~std::uint64_t{0}).done.segments == 0); // nothing may go
    rig.check_all();
}

TEST_CASE("a segment whose object is gone stays in the fast tier", "[feedfs]") {
    TierRig rig;
    rig.require(rig.tier->upload());
    rig.objects().files.erase(rig.objects().files.begin());
    const feedfs::TierWork work = rig.tier->evict(~std::uint64_t{0});
    CHECK(work.failed.segments == 1);
    CHECK(rig.figures().both.segments == 1);
    rig.check_all();
}

TEST_CASE("the coldest segments leave first, and only as many as it takes", "[feedfs]") {
    TierRig rig;
    rig.require(rig.tier->upload());
    rig.reopen();
    for (std::size_t i = 0; i < 6; ++i) rig.check_file(i); // the first files' segments are warm now
    const feedfs::TierFigures before = rig.figures();
    rig.config.fast_capacity_bytes = before.fast_bytes / 2;
    rig.reopen(); // nothing is known of uses any more
    for (std::size_t i = 0; i < 6; ++i) rig.check_file(i);
    rig.require(rig.tier->make_room());
    const feedfs::TierFigures after = rig.figures();
    CHECK(after.fast_bytes <= rig.config.fast_capacity_bytes);
    CHECK(after.fast_bytes + 2 * rig.config.segment_bytes > rig.config.fast_capacity_bytes);
    const std::uint64_t fetches = rig.read_figures().fetches;
    for (std::size_t i = 0; i < 6; ++i) rig.check_file(i); // still there
    CHECK(rig.read_figures().fetches == fetches);
    // Reading everything keeps the fast tier below its limit.
    rig.check_all();
    CHECK(rig.figures().fast_bytes <= rig.config.fast_capacity_bytes);
}

TEST_CASE("an agent uploads in the background and keeps the fast tier below its limit", "[feedfs][threads]") {
    TierRig rig;
    rig.config.fast_capacity_bytes = 3 * rig.config.segment_bytes;
    rig.reopen();
    {
        feedfs::TierAgent agent(*rig.tier, 1'000'000, {});
        for (std::size_t i = 0; i < 40; ++i) {
            REQUIRE(put_file(*rig.volume, kRootInode, "more" + std::to_string(i), content(i), Publish::visible)
                        .has_value());
            agent.wake();
        }
        const auto settled = [&] {
            const feedfs::TierFigures now = rig.figures();
            return now.fast_only.segments == 0 && now.fast_bytes <= rig.config.fast_capacity_bytes;
        };
        while (!settled()) std::this_thread::yield(); // ctest's time limit is the bound
        CHECK(agent.done().done.segments > 5);
    }
    rig.check_all();
}

TEST_CASE("tiering needs an object tier", "[feedfs]") {
    FeedfsRig rig(false);
    std::erase_if(rig.config.targets, [](const auto& target) { return target.tier == feedfs::Tier::object; });
    rig.targets.pop_back();
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    const auto made = feedfs::Tiering::make(*volume);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().errno_value == EINVAL);
}
