// feedfs and bits that change by themselves: found, named, never delivered.
#include <catch2/catch.hpp>
#include <set>

#include "tests/support/feedfs_crash.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

struct Damaged {
    std::uint64_t segment = 0, offset = 0;
};

// Every file read: whole and right, or an error that names segment and place. The files that failed go to `failed`.
void read_each(feedfs::FileSystem& volume, const Model& expected, std::map<std::string, Error>& failed) {
    for (const auto& [path, entry] : expected) {
        if (entry.type != feedfs::InodeType::file) continue;
        auto file = volume.open_read(path);
        REQUIRE(file.has_value());
        const auto content = content_of(**file);
        if (content) {
            INFO(path);
            CHECK((*content == *entry.content));
        } else
            failed.emplace(path, content.error());
    }
}

// Which file's payload a byte of a segment belongs to; empty: nobody's.
std::string owner(feedfs::FileSystem& volume, const Model& expected, const Damaged& damage) {
    for (const auto& [path, entry] : expected) {
        if (entry.type != feedfs::InodeType::file) continue;
        auto file = volume.open_read(path);
        REQUIRE(file.has_value());
        std::vector<feedfs::Location> pieces;
        REQUIRE((*file)->locate(0, entry.content->size(), pieces).has_value());
        for (const feedfs::Location& piece : pieces)
            if (piece.segment == damage.segment && damage.offset >= piece.offset &&
                damage.offset < piece.offset + piece.bytes)
                return path;
    }
    return {};
}

} // namespace

TEST_CASE("a flipped bit is found and named, and its data never delivered", "[feedfs]") {
    std::size_t in_payload = 0, elsewhere = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        FeedfsRig rig(false);
        FeedfsProgram program(rig, seed);
        program.run(60);
        program.close();
        std::mt19937_64 random(seed);
        for (int trial = 0; trial < 40; ++trial) {
            TargetImage& files = rig.target(1 + static_cast<std::uint32_t>(random() % kFastTargets)).store().files;
            if (files.empty()) continue;
            const auto& [name, file] = *std::next(files.begin(), static_cast<std::ptrdiff_t>(random() % files.size()));
            if (file->size() == 0) continue;
            const Damaged damage{feedfs::segment_number(name), random() % file->size()};
            const auto bit = static_cast<std::byte>(1U << (random() % 8));
            file->own()[damage.offset] ^= bit;

            auto volume = rig.opened();
            std::map<std::string, Error> failed;
            read_each(*volume, program.now(), failed);
            const std::string path = owner(*volume, program.now(), damage);
            INFO("seed " << seed << ", " << name << " at " << damage.offset << ", of " << path);
            if (path.empty()) {
                CHECK(failed.empty());
                ++elsewhere;
            } else {
                ++in_payload;
                REQUIRE(failed.size() == 1);
                CHECK(failed.begin()->first == path);
                const Error& error = failed.begin()->second;
                CHECK(error.errno_value == EIO);
                CHECK(error.path.find(name) != std::string::npos);
                CHECK(error.path.find(last_name(path)) != std::string::npos);
                // The block of 64 KiB that holds it.
                CHECK(static_cast<std::uint64_t>(error.offset) <= damage.offset);
                CHECK(static_cast<std::uint64_t>(error.offset) + feedfs::kCrcBlockBytes > damage.offset);
            }
            volume.reset();
            // fsck says the same, and of what nobody owns at most that a footer is wrong.
            const auto report = rig.fsck(false);
            REQUIRE(report.has_value());
            std::size_t damaged = 0;
            for (const feedfs::Finding& one : report->findings) {
                if (one.kind != feedfs::FindingKind::data_wrong) {
                    CHECK(one.kind == feedfs::FindingKind::footer_wrong);
                    continue;
                }
                ++damaged;
                CHECK(one.path.ends_with(path));
                CHECK(one.segment == damage.segment);
                CHECK(one.offset <= damage.offset);
                CHECK(one.offset + feedfs::kCrcBlockBytes > damage.offset);
            }
            CHECK(damaged == (path.empty() ? 0 : 1));
            file->own()[damage.offset] ^= bit;
        }
    }
    CHECK(in_payload > 20);
    CHECK(elsewhere > 20);
}

TEST_CASE("a sector that reads as zeros, or as another's, is found", "[feedfs]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    const std::string first(10'000, 'a'), second(10'000, 'b');
    REQUIRE(put_file(*volume, feedfs::kRootInode, "first", first, feedfs::Publish::durable).has_value());
    REQUIRE(put_file(*volume, feedfs::kRootInode, "second", second, feedfs::Publish::durable).has_value());
    TargetImage& files = rig.target(rig.target(1).store().files.empty() ? 2 : 1).store().files;
    REQUIRE(files.size() == 1);
    std::vector<std::byte>& bytes = files.begin()->second->own();
    REQUIRE(bytes.size() >= 6 * feedfs::kBlockBytes);
    SECTION("zeros") { std::fill_n(bytes.begin() + 512, 512, std::byte{0}); }
    SECTION("another record's") { std::copy_n(bytes.begin() + 3 * 4096, 3 * 4096, bytes.begin()); }
    std::map<std::string, Error> failed;
    const Model expected{{"first", {feedfs::InodeType::file, 0644, std::make_shared<const std::string>(first)}},
                         {"second", {feedfs::InodeType::file, 0644, std::make_shared<const std::string>(second)}}};
    read_each(*volume, expected, failed);
    REQUIRE(failed.size() == 1);
    CHECK(failed.begin()->first == "first");
    CHECK(failed.begin()->second.errno_value == EIO);
}
