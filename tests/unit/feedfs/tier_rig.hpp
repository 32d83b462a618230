// A volume with an object tier and sealed segments, in memory.
#pragma once

#include <catch2/catch.hpp>

#include "storage/feedfs/tier.hpp"
#include "storage/feedfs/tier_read.hpp"
#include "tests/support/feedfs_model.hpp"
#include "tests/support/feedfs_rig.hpp"

namespace feedbench::test {

using feedfs::kRootInode;
using feedfs::Publish;

inline std::string content(std::size_t i) {
    std::string bytes(60'000, '\0');
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 31 + at / 251 + i * 7);
    return bytes;
}
inline std::string name(std::size_t i) { return "file" + std::to_string(i); }
inline constexpr std::size_t kFiles = 24;

// A volume of kFiles files whose segments are all sealed.
struct TierRig : FeedfsRig {
    TierRig() : FeedfsRig(false) {
        REQUIRE(make().has_value());
        reopen();
        for (std::size_t i = 0; i < kFiles; ++i)
            REQUIRE(put_file(*volume, kRootInode, name(i), content(i), Publish::visible).has_value());
        reopen();
    }
    void reopen(bool read_only = false) {
        tier.reset();
        volume.reset();
        feedfs::OpenOptions chosen = options();
        chosen.read_only = read_only;
        auto opened = open(chosen);
        INFO((opened ? std::string() : opened.error().describe()));
        REQUIRE(opened.has_value());
        volume = std::move(*opened);
        auto made = feedfs::Tiering::make(*volume);
        REQUIRE(made.has_value());
        tier = std::move(*made);
    }
    void check_file(std::size_t i) {
        auto file = volume->open_read(name(i));
        REQUIRE(file.has_value());
        auto found = content_of(**file);
        INFO((found ? std::string() : found.error().describe()));
        REQUIRE(found.has_value());
        CHECK((*found == content(i)));
    }
    void check_all() {
        for (std::size_t i = 0; i < kFiles; ++i) check_file(i);
    }
    feedfs::TierFigures figures() {
        auto found = tier->figures();
        REQUIRE(found.has_value());
        return *found;
    }
    feedfs::ReadThroughFigures read_figures() {
        return dynamic_cast<feedfs::ReadThrough&>(*volume->segments().fetcher()).figures();
    }
    RecordedStore& objects() { return target(kObjectTarget).store(); }
    static void require(const feedfs::TierWork& work) {
        INFO((work.first_error ? work.first_error->describe() : std::string()));
        REQUIRE_FALSE(work.first_error.has_value());
    }

    std::unique_ptr<feedfs::FileSystem> volume;
    std::unique_ptr<feedfs::Tiering> tier;
};

} // namespace feedbench::test
