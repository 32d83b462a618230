// compact: gives space back while others read and write; every byte that is live stays.
#include <atomic>
#include <cerrno>
#include <random>
#include <thread>

#include "storage/feedfs/compact.hpp"
#include "storage/feedfs/fsck.hpp"
#include "tests/unit/feedfs/volume_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

Status put(FileSystem& fs, const std::string& name) {
    auto writer = fs.create(kRootInode, name, {});
    if (!writer) return writer.error();
    if (Status written = (*writer)->append(VolumeRig::pattern(5000)); !written) return written;
    return fs.publish(**writer, Publish::visible);
}

struct CompactRig : VolumeRig {
    using VolumeRig::VolumeRig;
    std::uint64_t bytes_on_targets() const {
        std::uint64_t sum = 0;
        for (const char* target : {"data1", "data2"})
            for (const auto& file : std::filesystem::directory_iterator(folder + "/volume/" + target))
                if (file.path().extension() == ".segment") sum += file.file_size();
        return sum;
    }
    CompactReport compacted(CompactOptions options = {.grace_ns = 0}) {
        auto report = compact(*fs, options);
        if (!report) FAIL(report.error().describe());
        return *report;
    }
    void expect_sound() {
        auto report = fsck(folder + "/volume", {.data = true});
        if (!report) FAIL(report.error().describe());
        for (const Finding& finding : report->findings) INFO(finding_name(finding.kind) << ": " << finding.message);
        CHECK(report->found == 0);
    }
    static std::vector<std::byte> content_of(int file) {
        return pattern(static_cast<std::size_t>(3'000 + 500 * (file % 20)), static_cast<std::uint64_t>(file + 1));
    }
    // 400 small files; the segments are sealed and their writer is gone.
    void fill() {
        for (int i = 0; i < 400; ++i) write("f" + std::to_string(i), content_of(i));
        open();
    }
};

TEST_CASE("compact: space of removed files comes back, the others are as they were") {
    CompactRig rig;
    rig.fill();
    const std::uint64_t full = rig.bytes_on_targets();
    CHECK(rig.compacted().segments_emptied == 0);
    for (int i = 0; i < 400; ++i)
        if (i % 4 != 0) VolumeRig::require(rig.fs->unlink(kRootInode, "f" + std::to_string(i)));
    CHECK(rig.bytes_on_targets() == full);
    const CompactReport report = rig.compacted();
    CHECK(report.records_moved == 100);
    CHECK(report.segments_removed == report.segments_emptied);
    CHECK(report.segments_removed >= 3);
    CHECK(report.records_damaged == 0);
    CHECK(report.bytes_reclaimed > 0);
    CHECK(rig.bytes_on_targets() < full / 2);
    for (int i = 0; i < 400; i += 4) CHECK(rig.read("f" + std::to_string(i)) == CompactRig::content_of(i));
    rig.expect_sound();
    CHECK(rig.compacted().segments_emptied == 0); // and nothing is left to do
    for (int i = 0; i < 400; i += 4) VolumeRig::require(rig.fs->unlink(kRootInode, "f" + std::to_string(i)));
    rig.open();
    CHECK(rig.compacted().records_moved == 0);
    CHECK(rig.bytes_on_targets() == 0);
    rig.expect_sound();
}

TEST_CASE("compact: entries are looked at only until all that must move was found") {
    CompactRig rig;
    for (int i = 0; i < 100; ++i) rig.write("a" + std::to_string(1000 + i), CompactRig::content_of(i));
    rig.open(); // the segments of the first hundred are sealed, the others are of their own
    for (int i = 0; i < 300; ++i) rig.write("b" + std::to_string(1000 + i), CompactRig::content_of(i));
    rig.open();
    CHECK(rig.compacted().entries_looked_at == 0); // no segment is to be emptied
    for (int i = 0; i < 90; ++i) VolumeRig::require(rig.fs->unlink(kRootInode, "a" + std::to_string(1000 + i)));
    const CompactReport some = rig.compacted();
    CHECK(some.records_moved == 10);
    CHECK(some.entries_looked_at == 11); // the root's, and the ten that are left of the first hundred
    rig.open();
    for (int i = 90; i < 100; ++i) VolumeRig::require(rig.fs->unlink(kRootInode, "a" + std::to_string(1000 + i)));
    const CompactReport none = rig.compacted();
    CHECK(none.segments_removed >= 1);
    CHECK(none.records_moved == 0);
    CHECK(none.entries_looked_at == 0); // nothing in them is live
    for (int i = 0; i < 300; ++i) CHECK(rig.read("b" + std::to_string(1000 + i)) == CompactRig::content_of(i));
    rig.expect_sound();
}

TEST_CASE("compact: an open file is read on, and one that was looked up before is found again after the grace") {
    CompactRig rig;
    rig.fill();
    for (int i = 0; i < 400; ++i)
        if (i % 8 != 0) VolumeRig::require(rig.fs->unlink(kRootInode, "f" + std::to_string(i)));
    auto other = rig.open_another({.read_only = true});
    const auto opened = *other->open_read("f8");
    const Inode looked_up = *other->lookup(kRootInode, "f16");
    std::int64_t time = 1'000'000'000'000;
    CompactOptions options{.grace_ns = 60'000'000'000, .now_ns = [&] { return time; }};
    const CompactReport first = rig.compacted(options);
    CHECK(first.records_moved == 50);
    CHECK(first.segments_removed == 0);
    CHECK(first.segments_waiting == first.segments_emptied);
    const auto bytes_of = [](ReadFile& file) {
        std::vector<std::byte> content(file.inode().size_bytes);
        CHECK(file.read(0, content).has_value());
        return content;
    };
    CHECK(bytes_of(**other->open_read(looked_up, kRootInode, "f16")) == CompactRig::content_of(16)); // within the grace
    rig.expect_sound();
    time += 61'000'000'000;
    const auto removed = remove_retired(*rig.fs, options);
    REQUIRE(removed.has_value());
    CHECK(removed->segments_removed == first.segments_emptied);
    CHECK(removed->segments_waiting == 0);
    CHECK(bytes_of(*opened) == CompactRig::content_of(8));
    auto third = rig.open_another({.read_only = true}); // has no file open
    CHECK(bytes_of(**third->open_read(looked_up, kRootInode, "f16")) == CompactRig::content_of(16));
    rig.expect_sound();
}

TEST_CASE("compact: files whose extents lie in pages are moved page by page") {
    CompactRig rig;
    const auto large = VolumeRig::pattern(9'000'000, 5);
    {
        auto keep = rig.create("keep"); // its chunks lie between those of a file that goes
        auto gone = rig.create("gone");
        for (std::size_t at = 0; at < large.size(); at += 65'536) {
            const std::size_t bytes = std::min<std::size_t>(65'536, large.size() - at);
            VolumeRig::require(keep->append(std::span(large).subspan(at, bytes)));
            VolumeRig::require(gone->append(std::span(large).subspan(at, bytes)));
            VolumeRig::require(gone->append(std::span(large).subspan(at, bytes)));
        }
        Writer* const both[] = {keep.get(), gone.get()};
        for (const Status& status : rig.fs->publish(both, Publish::durable)) VolumeRig::require(status);
    }
    rig.open();
    REQUIRE(rig.fs->lookup(kRootInode, "keep")->extents_in_pages);
    VolumeRig::require(rig.fs->unlink(kRootInode, "gone"));
    const CompactReport report = rig.compacted();
    CHECK(report.records_moved >= 100);
    CHECK(report.segments_removed > 20);
    CHECK(rig.read("keep") == large);
    rig.expect_sound();
}

TEST_CASE("compact: a damaged record stays where it is, and so does its segment") {
    CompactRig rig;
    rig.fill();
    const Extent extent = rig.fs->lookup(kRootInode, "f4")->content.extents.at(0);
    for (int i = 0; i < 400; ++i)
        if (i % 4 != 0) VolumeRig::require(rig.fs->unlink(kRootInode, "f" + std::to_string(i)));
    for (const char* target : {"data1", "data2"}) {
        const std::string path = rig.folder + "/volume/" + target + "/" + segment_name(extent.segment);
        std::FILE* file = std::fopen(path.c_str(), "r+b");
        if (file == nullptr) continue;
        std::fseek(file, static_cast<long>(extent.offset) + 100, SEEK_SET);
        std::fputc(~static_cast<int>(CompactRig::content_of(4)[100]) & 0xff, file);
        std::fclose(file);
    }
    rig.open();
    const CompactReport report = rig.compacted();
    CHECK(report.records_damaged == 1);
    CHECK(report.records_moved == 99);
    CHECK(rig.fs->lookup(kRootInode, "f4")->content.extents.at(0) == extent);
    const auto found = fsck(rig.folder + "/volume", {.data = true});
    REQUIRE(found.has_value());
    REQUIRE(found->found == 1);
    CHECK(found->findings[0].path == "f4");
    CHECK(rig.read("f8") == CompactRig::content_of(8));
}

TEST_CASE("compact: records that a living writer will publish later are left alone, what it removed is not") {
    CompactRig rig;
    auto writer = rig.open_another();
    {
        auto late = writer->create(kRootInode, "late", {}); // its chunks fill segments, its name comes later
        REQUIRE(late.has_value());
        const auto content = VolumeRig::pattern(3'000'000, 3);
        VolumeRig::require((*late)->append(content));
        VolumeRig::require(writer->sync());
        CHECK(rig.compacted().segments_emptied == 0);
        VolumeRig::require(writer->publish(**late, Publish::durable));
        CHECK(rig.read("late") == content);
    }
    VolumeRig::require(writer->unlink(kRootInode, "late"));
    VolumeRig::require(put(*writer, "next")); // its transaction brings the rows of what was sealed
    CHECK(rig.compacted().segments_removed > 0);
    writer.reset();
    CHECK(rig.read("next") == VolumeRig::pattern(5000));
    rig.expect_sound();
}

TEST_CASE("compact: readers, removers and writers go on at the same time", "[threads]") {
    CompactRig rig;
    rig.fill();
    std::atomic<bool> stop = false;
    std::vector<std::string> complaints(2);
    auto other = rig.open_another();
    std::thread reader([&] {
        std::mt19937_64 random(1);
        while (!stop) {
            const int i = static_cast<int>(random() % 100) * 4;
            auto file = other->open_read("f" + std::to_string(i));
            if (!file) {
                complaints[0] = file.error().describe();
                return;
            }
            std::vector<std::byte> content((*file)->inode().size_bytes);
            auto got = (*file)->read(0, content);
            if (!got) complaints[0] = got.error().describe();
            if (content != CompactRig::content_of(i)) complaints[0] += "f" + std::to_string(i) + " has other bytes";
            if (!complaints[0].empty()) return;
        }
    });
    std::thread remover([&] {
        for (int i = 0; i < 400; ++i) {
            if (i % 4 == 0) continue;
            if (auto removed = other->unlink(kRootInode, "f" + std::to_string(i)); !removed)
                complaints[1] = removed.error().describe();
            if (i % 40 != 1) continue;
            if (auto written = put(*other, "new" + std::to_string(i)); !written)
                complaints[1] = written.error().describe();
        }
    });
    std::uint64_t moved = 0;
    for (int round = 0; round < 30; ++round) moved += rig.compacted({.live_below = 0.9, .grace_ns = 0}).records_moved;
    remover.join();
    for (int round = 0; round < 3; ++round) moved += rig.compacted({.live_below = 0.9, .grace_ns = 0}).records_moved;
    stop = true;
    reader.join();
    for (const std::string& complaint : complaints) CHECK(complaint.empty());
    CHECK(moved >= 100);
    for (int i = 0; i < 400; i += 4) CHECK(rig.read("f" + std::to_string(i)) == CompactRig::content_of(i));
    other.reset();
    rig.expect_sound();
}

TEST_CASE("compact: a read-only volume is refused, and stopping leaves a sound volume") {
    CompactRig rig;
    rig.fill();
    for (int i = 0; i < 400; ++i)
        if (i % 4 != 0) VolumeRig::require(rig.fs->unlink(kRootInode, "f" + std::to_string(i)));
    auto reader = rig.open_another({.read_only = true});
    CHECK(compact(*reader, {}).error().errno_value == EROFS);
    const CompactReport stopped =
        rig.compacted({.grace_ns = 0, .progress = [](const CompactProgress&) { return false; }});
    CHECK(stopped.stopped);
    CHECK(stopped.segments_emptied == 0);
    rig.expect_sound();
    CHECK(rig.compacted().segments_emptied > 0);
    rig.expect_sound();
}

} // namespace
