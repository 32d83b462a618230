// Full targets, full metadata, missing targets: one clear sentence, everything else goes on, and so does the rest when
// there is room again.
#include <catch2/catch.hpp>

#include "tests/support/feedfs_model.hpp"
#include "tests/support/feedfs_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;
using feedfs::kRootInode;
using feedfs::Publish;

namespace {

std::string read_whole(feedfs::FileSystem& volume, const std::string& path) {
    auto file = volume.open_read(path);
    INFO(path << ": " << (file ? std::string() : file.error().describe()));
    REQUIRE(file.has_value());
    auto content = content_of(**file);
    INFO(path << ": " << (content ? std::string() : content.error().describe()));
    REQUIRE(content.has_value());
    return *content;
}
std::string full_content(std::size_t i) { return std::string(50'000 + i, static_cast<char>('a' + i % 26)); }
std::string full_name(std::size_t i) { return "file" + std::to_string(i); }

// Files of segments, and their rows.
std::pair<std::size_t, std::size_t> segments_of(FeedfsRig& rig) {
    std::pair<std::size_t, std::size_t> count;
    for (const auto& target : rig.targets) count.first += target->store().files.size();
    auto view = rig.engine->read();
    REQUIRE(view.has_value());
    REQUIRE((*view)->scan(feedfs::all_segments(), SIZE_MAX, [&](std::string_view, std::string_view) {
        ++count.second;
        return true;
    }));
    return count;
}

} // namespace

TEST_CASE("a full target says so, and what is there stays readable", "[feedfs]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    const std::uint64_t segment = rig.config.segment_bytes;
    for (const auto& target : rig.targets) target->store().limit_bytes = 2 * segment + segment / 2;
    std::size_t written = 0;
    Status status;
    for (; written < 200; ++written)
        if (status = put_file(*volume, kRootInode, full_name(written), full_content(written), Publish::visible);
            !status)
            break;
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().errno_value == ENOSPC);
    CHECK(status.error().path.find("fast") != std::string::npos); // which target
    CHECK(written > 10);
    CHECK_FALSE(volume->lookup(kRootInode, full_name(written)).has_value()); // nothing half-written
    for (std::size_t i = 0; i < written; ++i) CHECK((read_whole(*volume, full_name(i)) == full_content(i)));

    // Names can still be changed, and with room again it goes on.
    CHECK(volume->unlink(kRootInode, full_name(0)).has_value());
    CHECK(volume->make_directory(kRootInode, "directory", {.mode = 0755}).has_value());
    for (const auto& target : rig.targets) target->store().limit_bytes = 0;
    CHECK(put_file(*volume, kRootInode, full_name(written), full_content(written), Publish::durable).has_value());
    CHECK((read_whole(*volume, full_name(written)) == full_content(written)));
    volume.reset();
    volume = rig.opened();
    for (std::size_t i = 1; i <= written; ++i) CHECK((read_whole(*volume, full_name(i)) == full_content(i)));
}

TEST_CASE("attempts to write to a full target leave nothing behind", "[feedfs]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    REQUIRE(put_file(*volume, kRootInode, "before", full_content(1), Publish::durable).has_value());
    const auto before = segments_of(rig);
    const bool is_metadata_full = GENERATE(false, true); // for the rows' removal, too
    const std::size_t bytes = GENERATE(50'000, 200'000); // of one chunk, and of several
    for (std::size_t i = 0; i < 10; ++i) {
        for (const auto& target : rig.targets)
            target->store().error = [&](const std::string& operation, const std::string&, std::uint64_t) {
                if (operation != "write") return 0;
                rig.engine->is_full = is_metadata_full;
                return ENOSPC;
            };
        const Status status = put_file(*volume, kRootInode, "during", std::string(bytes, 'x'), Publish::visible);
        REQUIRE_FALSE(status.has_value());
        CHECK(status.error().errno_value == ENOSPC);
        rig.engine->is_full = false;
        for (const auto& target : rig.targets) target->store().error = {};
        if (!is_metadata_full) CHECK(segments_of(rig) == before);
        CHECK(segments_of(rig).first == before.first);
    }
    CHECK(put_file(*volume, kRootInode, "after", full_content(2), Publish::visible).has_value());
    CHECK(segments_of(rig).second == before.second + 1);
    CHECK((read_whole(*volume, "before") == full_content(1)));
    CHECK((read_whole(*volume, "after") == full_content(2)));
    volume.reset();
    auto checked = rig.fsck(false);
    REQUIRE(checked.has_value());
    INFO(feedfs::to_json(*checked));
    CHECK(checked->found == 0);
}

TEST_CASE("one full target of two is passed over", "[feedfs]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    rig.target(1).store().limit_bytes = rig.config.segment_bytes / 2; // not even one segment
    for (std::size_t i = 0; i < 60; ++i)
        REQUIRE(put_file(*volume, kRootInode, full_name(i), full_content(i), Publish::visible).has_value());
    for (std::size_t i = 0; i < 60; ++i) CHECK((read_whole(*volume, full_name(i)) == full_content(i)));
    CHECK(rig.target(1).store().files.empty());
}

TEST_CASE("full metadata says so, and what is there stays readable", "[feedfs]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    REQUIRE(put_file(*volume, kRootInode, "before", full_content(1), Publish::durable).has_value());
    rig.engine->is_full = true;
    const Status status = put_file(*volume, kRootInode, "during", full_content(2), Publish::visible);
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().errno_value == ENOSPC);
    CHECK(status.error().describe().find("metadata") != std::string::npos);
    CHECK_FALSE(volume->lookup(kRootInode, "during").has_value());
    CHECK((read_whole(*volume, "before") == full_content(1)));
    rig.engine->is_full = false;
    CHECK(put_file(*volume, kRootInode, "during", full_content(3), Publish::durable).has_value());
    CHECK((read_whole(*volume, "during") == full_content(3)));
}

TEST_CASE("a missing target fails what lies there, with its place, and nothing else", "[feedfs]") {
    FeedfsRig rig(false);
    REQUIRE(rig.make().has_value());
    auto volume = rig.opened();
    for (std::size_t i = 0; i < 60; ++i) // several segments, on both targets
        REQUIRE(put_file(*volume, kRootInode, full_name(i), full_content(i), Publish::visible).has_value());
    volume.reset();
    rig.target(2).store().missing = true;
    volume = rig.opened();
    std::size_t there = 0, gone = 0;
    for (std::size_t i = 0; i < 60; ++i) {
        auto file = volume->open_read(full_name(i));
        auto found = file ? content_of(**file) : Expected<std::string>(file.error());
        if (found) {
            CHECK((*found == full_content(i)));
            ++there;
            continue;
        }
        ++gone;
        INFO(found.error().describe());
        CHECK(found.error().errno_value == ENODEV);
        CHECK(found.error().describe().find("fast2") != std::string::npos);
    }
    CHECK(there > 10);
    CHECK(gone > 10);
    // New files go to the other one.
    CHECK(put_file(*volume, kRootInode, "new", full_content(7), Publish::durable).has_value());
    CHECK((read_whole(*volume, "new") == full_content(7)));
    volume.reset();
    rig.target(2).store().missing = false; // and when it is back, all is there
    volume = rig.opened();
    for (std::size_t i = 0; i < 60; ++i) CHECK((read_whole(*volume, full_name(i)) == full_content(i)));
}
