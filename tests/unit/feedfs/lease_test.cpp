// Leases: who is taken for dead by another host, and what becomes of him.
#include <chrono>
#include <thread>

#include "storage/feedfs/lease_keeper.hpp"
#include "tests/support/feedfs_model.hpp"
#include "tests/support/feedfs_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;
using feedfs::kRootInode;
using feedfs::Publish;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct LeaseRig : FeedfsRig {
    LeaseRig() : FeedfsRig(false) {
        REQUIRE(make().has_value());
        volume = opened();
        REQUIRE(put_file(*volume, kRootInode, "first", "its content", Publish::durable).has_value());
    }
    // As a host sees it on which the writer does not run.
    bool is_alive_elsewhere(const feedfs::LeaseRecord& lease) {
        feedfs::LeaseRecord seen = lease;
        seen.host = "another-host";
        return feedfs::lease_is_alive(seen, now_ns);
    }
    Expected<feedfs::FsckReport> fsck_elsewhere(bool repair) {
        feedfs::FsckOptions chosen;
        chosen.repair = repair;
        chosen.lease_alive = [this](const feedfs::LeaseRecord& lease) { return is_alive_elsewhere(lease); };
        chosen.now_ns = [this] { return now_ns; };
        return feedfs::fsck(config, {targets.begin(), targets.end()}, engine, chosen);
    }
    std::unique_ptr<feedfs::Writer> written(const std::string& name) {
        auto writer = volume->create(kRootInode, name, {});
        REQUIRE(writer.has_value());
        REQUIRE((*writer)->append(std::as_bytes(std::span(name))).has_value());
        return std::move(*writer);
    }
    std::string read(const std::string& name) {
        auto file = volume->open_read(name);
        REQUIRE(file.has_value());
        auto content = test::content_of(**file);
        REQUIRE(content.has_value());
        return *content;
    }
    std::unique_ptr<feedfs::FileSystem> volume;
};

} // namespace

TEST_CASE("lease: a writer that renews it lives for ever, for other hosts too", "[feedfs]") {
    LeaseRig rig;
    for (int minutes = 0; minutes < 20; ++minutes) {
        rig.now_ns += 60 * kSecond;
        auto seen = rig.fsck_elsewhere(false);
        REQUIRE(seen.has_value());
        CHECK(seen->living_writers == 1);
        auto refused = rig.fsck_elsewhere(true);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().errno_value == EBUSY);
        REQUIRE(rig.volume->renew_lease().has_value());
    }
    auto writer = rig.written("second");
    CHECK(rig.volume->publish(*writer, Publish::durable).has_value());
}

TEST_CASE("lease: who was taken for dead can name nothing more, and is told so", "[feedfs]") {
    LeaseRig rig;
    auto late = rig.written("late"), other = rig.written("other");
    REQUIRE(rig.volume->flush(*late).has_value()); // its bytes lie in a segment, where repair takes them for garbage
    rig.now_ns += feedfs::kLeaseNs + kSecond;
    auto repaired = rig.fsck_elsewhere(true);
    REQUIRE(repaired.has_value());
    CHECK(repaired->living_writers == 0);
    CHECK(repaired->found > 0);
    CHECK(repaired->repaired == repaired->found);

    SECTION("alone") {
        const Status refused = rig.volume->publish(*late, Publish::visible);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().errno_value == ESTALE);
        CHECK(refused.error().describe().find("lease 1 of this process") != std::string::npos);
    }
    SECTION("several") {
        feedfs::Writer* const both[] = {late.get(), other.get()};
        for (const Status& refused : rig.volume->publish(both, Publish::visible)) {
            REQUIRE_FALSE(refused.has_value());
            CHECK(refused.error().errno_value == ESTALE);
        }
    }
    SECTION("by its renewal") {
        const Status refused = rig.volume->renew_lease();
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().errno_value == ESTALE);
    }
    late.reset();
    other.reset();
    rig.volume.reset(); // names nothing either, and leaves segments as long as the repair has made them
    auto after = rig.fsck(false);
    REQUIRE(after.has_value());
    INFO(feedfs::to_json(*after));
    CHECK(after->found == 0);
    CHECK(after->living_writers == 0);
    rig.volume = rig.opened();
    CHECK(rig.read("first") == "its content");
    CHECK_FALSE(rig.volume->open_read("late").has_value());
    CHECK(put_file(*rig.volume, kRootInode, "late", "again", Publish::durable).has_value());
}

TEST_CASE("lease: who has lost it goes on under another, without what was begun before", "[feedfs]") {
    LeaseRig rig;
    const bool knows = GENERATE(false, true); // by its renewal
    auto late = rig.written("late");
    REQUIRE(rig.volume->flush(*late).has_value());
    rig.now_ns += feedfs::kLeaseNs + kSecond;
    REQUIRE(rig.fsck_elsewhere(true).has_value());
    if (knows) CHECK_FALSE(rig.volume->renew_lease().has_value());
    CHECK(rig.read("first") == "its content");

    auto fresh = rig.written("fresh");
    feedfs::Writer* const both[] = {late.get(), fresh.get()};
    const auto answers = rig.volume->publish(both, Publish::visible);
    REQUIRE_FALSE(answers[0].has_value());
    CHECK(answers[0].error().errno_value == ESTALE);
    CHECK(answers[0].error().describe().find("lease 1 of this process") != std::string::npos);
    REQUIRE(answers[1].has_value());
    CHECK(rig.volume->flush(*late).error().errno_value == ESTALE);
    CHECK(rig.volume->renew_lease().has_value());
    CHECK(rig.volume->seal_idle().has_value());
    CHECK(rig.volume->sync().has_value());
    CHECK(rig.read("first") == "its content");
    CHECK(rig.read("fresh") == "fresh");
    auto seen = rig.fsck_elsewhere(false);
    REQUIRE(seen.has_value());
    CHECK(seen->living_writers == 1);

    late.reset();
    fresh.reset();
    rig.volume.reset();
    auto after = rig.fsck(false);
    REQUIRE(after.has_value());
    INFO(feedfs::to_json(*after));
    CHECK(after->found == 0);
}

TEST_CASE("lease: what a write left that was under way when it was lost is no damage, and repair cuts it", "[feedfs]") {
    LeaseRig rig;
    rig.now_ns += feedfs::kLeaseNs + kSecond;
    REQUIRE(rig.fsck_elsewhere(true).has_value());
    rig.volume.reset();
    std::size_t longer = 0;
    for (const auto& target : rig.targets)
        for (auto& [name, file] : target->store().files) {
            file->own().resize(file->size() + 8192, std::byte{1});
            ++longer;
        }
    REQUIRE(longer == 1);
    auto found = rig.fsck(false);
    REQUIRE(found.has_value());
    REQUIRE(found->findings.size() == 1);
    CHECK(found->findings[0].kind == feedfs::FindingKind::segment_tail);
    CHECK(found->exit_code() == 0);
    auto repaired = rig.fsck(true);
    REQUIRE(repaired.has_value());
    CHECK(repaired->repaired == 1);
    auto after = rig.fsck(false);
    REQUIRE(after.has_value());
    CHECK(after->found == 0);
    rig.volume = rig.opened();
    CHECK(rig.read("first") == "its content");
}

TEST_CASE("lease: one that is renewed while a repair begins stays, and the repair does not", "[feedfs]") {
    LeaseRig rig;
    rig.now_ns += feedfs::kLeaseNs + kSecond;
    feedfs::FsckOptions chosen;
    chosen.repair = true;
    chosen.now_ns = [&] { return rig.now_ns; };
    chosen.lease_alive = [&](const feedfs::LeaseRecord& lease) {
        const bool alive = rig.is_alive_elsewhere(lease);
        CHECK_FALSE(alive);
        CHECK(rig.volume->renew_lease().has_value());
        return alive;
    };
    auto refused = feedfs::fsck(rig.config, {rig.targets.begin(), rig.targets.end()}, rig.engine, chosen);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().errno_value == EBUSY);
    CHECK(put_file(*rig.volume, kRootInode, "second", "s", Publish::durable).has_value());
}

TEST_CASE("lease: a thread of its own renews it until it is given back", "[feedfs][threads]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    std::atomic<std::int64_t> now_ns{1};
    auto keeper = feedfs::LeaseKeeper::take(
        rig.engine, {.purpose = "test", .now_ns = [&] { return ++now_ns; }, .renewal_ns = 100'000});
    REQUIRE(keeper.has_value());
    const std::string key = feedfs::lease_key((*keeper)->id());
    const auto expires = [&]() -> std::int64_t {
        std::string value;
        auto found = rig.engine->get(key, value);
        REQUIRE(found.has_value());
        if (!*found) return 0;
        auto lease = feedfs::decode_lease(value);
        REQUIRE(lease.has_value());
        return lease->expires_ns;
    };
    const std::int64_t first = expires();
    CHECK(first > feedfs::kLeaseNs);
    while (expires() < first + 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    feedfs::Batch last;
    (*keeper)->end(last);
    auto outcome = rig.engine->apply(last, feedfs::Durability::durable);
    REQUIRE(outcome.has_value());
    CHECK(outcome->applied());
    CHECK((*keeper)->renew().has_value()); // nothing to renew
    CHECK(expires() == 0);
}
