// Segments that end though nothing more is published.
#include <chrono>
#include <thread>

#include "tests/unit/feedfs/tier_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

struct SealRig : TierRig {
    std::uint64_t unsealed() { return figures().unsealed.segments; }
    void look(int times) {
        for (int i = 0; i < times; ++i) REQUIRE(volume->seal_idle().has_value());
    }
    void put(const std::string& file, std::size_t bytes) {
        REQUIRE(put_file(*volume, kRootInode, file, std::string(bytes, 'x'), Publish::visible).has_value());
    }
};

} // namespace

TEST_CASE("seal: what was written and left alone is sealed and can be uploaded", "[feedfs]") {
    SealRig rig;
    rig.require(rig.tier->upload());
    rig.put("large", 30'000); // more than a sixteenth of a segment
    CHECK(rig.unsealed() == 1);
    rig.look(1);
    CHECK(rig.unsealed() == 1);
    rig.look(1);
    CHECK(rig.unsealed() == 0);
    CHECK(rig.tier->upload().done.segments == 1);
    rig.require(rig.tier->evict(~std::uint64_t{0}));
    auto file = rig.volume->open_read("large");
    REQUIRE(file.has_value());
    auto bytes = test::content_of(**file);
    REQUIRE(bytes.has_value());
    CHECK(*bytes == std::string(30'000, 'x'));
    auto report = rig.fsck(false);
    REQUIRE(report.has_value());
    CHECK(report->losses == 0);
}

TEST_CASE("seal: little waits for more; what somebody writes stays open", "[feedfs]") {
    SealRig rig;
    rig.put("little", 100);
    for (int i = 0; i < 3; ++i) { // 4 KiB each: a sixteenth of a segment is not reached
        rig.look(11);
        CHECK(rig.unsealed() == 1);
        rig.put("more" + std::to_string(i), 100);
    }
    CHECK(rig.unsealed() == 1);
    rig.look(20);
    CHECK(rig.unsealed() == 0);

    auto writer = rig.volume->create(kRootInode, "open", {});
    REQUIRE(writer.has_value());
    const std::string chunk(64 * 1024, 'c');
    for (int i = 0; i < 2; ++i) // the first has gone to a segment
        REQUIRE((*writer)->append(std::as_bytes(std::span(chunk))).has_value());
    const std::uint64_t open = rig.unsealed();
    CHECK(open > 0);
    rig.look(30);
    CHECK(rig.unsealed() == open);
    REQUIRE(rig.volume->publish(**writer, Publish::visible).has_value());
    writer->reset();
    rig.look(30);
    CHECK(rig.unsealed() == 0);
}

TEST_CASE("seal: a row whose transaction was not answered is not written over what tiering made of it", "[feedfs]") {
    SealRig rig;
    rig.require(rig.tier->upload());
    rig.put("file", 30'000);
    rig.look(1);
    rig.engine->loses_answers = true;
    CHECK_FALSE(rig.volume->seal_idle().has_value());
    rig.engine->loses_answers = false;
    CHECK(rig.unsealed() == 0); // it was applied
    CHECK(rig.tier->upload().done.segments == 1);
    rig.require(rig.tier->evict(~std::uint64_t{0}));
    const std::uint64_t away = rig.figures().object_only.segments;
    rig.put("next", 100); // a transaction that takes sealed rows along
    CHECK(rig.figures().object_only.segments == away);
    rig.look(1);
    CHECK(rig.figures().object_only.segments == away);
    rig.volume.reset();
    auto report = rig.fsck(false);
    REQUIRE(report.has_value());
    CHECK(report->losses == 0);
}

TEST_CASE("seal: an agent uploads the last segment too, with nothing more to come", "[feedfs][threads]") {
    SealRig rig;
    rig.require(rig.tier->upload());
    rig.put("last", 30'000);
    CHECK(rig.unsealed() == 1);
    feedfs::TierAgent agent(*rig.tier, 1'000'000, {});
    while (agent.done().done.segments < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(rig.unsealed() == 0);
    CHECK(rig.figures().fast_only.segments == 0);
}
