// Reads of cold segments: how often a piece is fetched, what is believed, what other hosts see.
#include <thread>

#include "tests/unit/feedfs/tier_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("many readers of one cold piece cause one fetch", "[feedfs][threads]") {
    TierRig rig;
    rig.require(rig.tier->drain());
    rig.objects().reads = 0;
    const std::uint64_t fetches_before = rig.read_figures().fetches;
    // Nobody gets his answer before all have asked: the object's read waits for the others to be waiting.
    constexpr std::uint64_t kReaders = 8;
    rig.objects().before_read = [&] {
        while (rig.read_figures().waits < kReaders - 1) std::this_thread::yield();
    };
    std::vector<std::thread> readers;
    std::atomic<int> right{0};
    for (std::uint64_t i = 0; i < kReaders; ++i)
        readers.emplace_back([&] {
            auto file = rig.volume->open_read(name(0));
            if (!file) return;
            std::string found(1000, '\0');
            const auto read = (*file)->read(0, std::as_writable_bytes(std::span(found)));
            if (read && *read == 1000 && found == content(0).substr(0, 1000)) ++right;
        });
    for (std::thread& reader : readers) reader.join();
    rig.objects().before_read = {};
    CHECK(right == kReaders);
    CHECK(rig.objects().reads == 1);
    CHECK(rig.read_figures().fetches - fetches_before == 1);
    CHECK(rig.read_figures().waits == kReaders - 1);
    // The whole piece came along.
    rig.check_file(0);
    CHECK(rig.read_figures().fetches - fetches_before == 1);
}

TEST_CASE("a failed fetch is everybody's error, and tried again by the next", "[feedfs]") {
    TierRig rig;
    rig.require(rig.tier->drain());
    rig.objects().error = [](const char* operation, const std::string&, std::uint64_t) {
        return std::string_view(operation) == "read" ? ETIMEDOUT : 0;
    };
    auto file = rig.volume->open_read(name(3));
    REQUIRE(file.has_value());
    const auto failed = content_of(**file);
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().errno_value == ETIMEDOUT);
    rig.objects().error = {};
    rig.check_file(3);
}

TEST_CASE("pieces in the fast tier serve the next opening, unless they are damaged", "[feedfs]") {
    TierRig rig;
    rig.require(rig.tier->drain());
    rig.check_all();
    rig.reopen();
    rig.objects().reads = 0;
    rig.check_all();
    CHECK(rig.objects().reads == 0);
    rig.reopen();
    std::size_t flipped = 0;
    for (std::uint32_t id = 1; id <= kFastTargets; ++id)
        for (auto& [file_name, file] : rig.target(id).store().files)
            if (feedfs::is_piece_name(file_name)) file->own()[++flipped * 1000] ^= std::byte{1};
    REQUIRE(flipped > 5);
    rig.check_all();
    CHECK(rig.read_figures().damaged == flipped);
    CHECK(rig.objects().reads == flipped);
}

TEST_CASE("what is damaged in the fast tier is read from the object tier, if that has it", "[feedfs]") {
    TierRig rig;
    const auto flip = [&](std::uint32_t first_target, std::uint32_t last_target) {
        std::size_t flipped = 0;
        for (std::uint32_t id = first_target; id <= last_target; ++id)
            for (auto& [file_name, file] : rig.target(id).store().files) {
                file->own()[100] ^= std::byte{1}; // of the first record's payload
                ++flipped;
            }
        return flipped;
    };
    SECTION("a segment") {
        rig.require(rig.tier->upload());
        rig.reopen();
        CHECK(flip(1, kFastTargets) > 5);
        rig.check_all();
    }
    SECTION("a piece that was whole when it was opened") {
        rig.require(rig.tier->drain());
        rig.check_all();
        CHECK(flip(1, kFastTargets) > 5);
        rig.check_all();
    }
    SECTION("damaged there, too: an error that names the place") {
        rig.require(rig.tier->drain());
        REQUIRE(flip(kObjectTarget, kObjectTarget) > 5);
        auto file = rig.volume->open_read(name(0));
        REQUIRE(file.has_value());
        const auto failed = content_of(**file);
        REQUIRE_FALSE(failed.has_value());
        CHECK(failed.error().errno_value == EIO);
        CHECK(failed.error().describe().find(".segment") != std::string::npos);
        CHECK(failed.error().offset == 0);
    }
}

TEST_CASE("another host reads a volume from the object tier and the metadata alone", "[feedfs]") {
    TierRig rig;
    rig.require(rig.tier->drain());
    for (std::uint32_t id = 1; id <= kFastTargets; ++id) rig.target(id).store().missing = true;
    rig.reopen(true);
    rig.check_all();
    CHECK(rig.read_figures().fetches >= rig.figures().object_only.segments);
    const feedfs::TierWork refused = rig.tier->upload();
    REQUIRE(refused.first_error.has_value());
    CHECK(refused.first_error->errno_value == EROFS);
}
