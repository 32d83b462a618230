// fsck: each kind of damage is found, named, repaired where that is possible, and nothing else is touched.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/feedfs/fsck_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("fsck: a sound volume has no findings, and figures") {
    FsckRig rig;
    const FsckReport report = rig.check({.data = true});
    for (const Finding& finding : report.findings) FAIL(finding_name(finding.kind) << " " << finding.message);
    CHECK(report.found == 0);
    CHECK(report.exit_code() == 0);
    CHECK(report.files == 42);
    CHECK(report.directories == 2);
    CHECK(report.symlinks == 1);
    CHECK(report.payload_bytes == 40 * 10'000 + 70'000 + 3'000'000);
    CHECK(report.extents == 40 + 2 + 46);
    CHECK(report.bytes_read >= report.payload_bytes);
    const auto json = nlohmann::json::parse(to_json(report));
    CHECK(json["files"] == 42);
    CHECK(json["exit_code"] == 0);
    CHECK(json["findings"].empty());
}

TEST_CASE(
    "fsck: a flipped bit of a payload is found with data, one of a footer without; both are named and not repairable") {
    FsckRig rig;
    const Inode inode = rig.inode_of("small7");
    const Extent extent = inode.content.extents.at(0);
    rig.flip(rig.segment_path(extent.segment), extent.offset + 5000);
    CHECK(rig.check().found == 0);
    const FsckReport data = rig.check({.data = true, .repair = true});
    CHECK(data.found == 1);
    CHECK(data.losses == 1);
    CHECK(data.repaired == 0);
    CHECK(data.exit_code() == 4);
    CHECK(data.findings.at(0).kind == FindingKind::data_wrong);
    CHECK(data.findings.at(0).path == "small7");
    const auto json = nlohmann::json::parse(to_json(data));
    CHECK(json["findings"][0]["kind"] == "data_wrong");
    CHECK(json["findings"][0]["path"] == "small7");
    CHECK(json["counts"]["data_wrong"] == 1);

    std::vector<Location> second;
    rig.open({.read_only = true});
    VolumeRig::require((*rig.fs->open_read("dir/large"))->locate(65'536, 65'536, second));
    rig.fs.reset();
    rig.flip(rig.segment_path(second.at(0).segment), second.at(0).offset + record_bytes(65'536) - 10);
    const FsckReport footer = rig.check();
    CHECK(footer.found == 1);
    CHECK(footer.findings.at(0).kind == FindingKind::footer_wrong);
    CHECK(footer.findings.at(0).path == "dir/large");
    CHECK(footer.findings.at(0).message.find("bytes 65536 to 131072") != std::string::npos);
}

TEST_CASE("fsck: a segment or a whole target that is missing is a loss, and the rest is still checked") {
    FsckRig rig;
    const Inode inode = rig.inode_of("small7");
    files::remove(rig.segment_path(inode.content.extents.at(0).segment));
    const FsckReport report = rig.check({.repair = true});
    CHECK(FsckRig::count(report, FindingKind::segment_missing) == 1);
    CHECK(report.exit_code() == 4);
    files::rename(rig.folder + "/volume/data2", rig.folder + "/volume/elsewhere");
    const FsckReport missing = rig.check({.repair = true});
    CHECK(FsckRig::count(missing, FindingKind::target_missing) == 1);
    files::rename(rig.folder + "/volume/elsewhere", rig.folder + "/volume/data2");
    CHECK(rig.check({.data = true}).found == report.found); // nothing was removed meanwhile
}

TEST_CASE("fsck: files that no row names are removed, but not those that the metadata cannot know") {
    FsckRig rig;
    const std::uint64_t unused = *rig.engine()->take_ids(kSegmentCounter, 1);
    const std::string stray = rig.folder + "/volume/data1/" + segment_name(unused);
    std::ofstream(stray) << std::string(8192, 's');
    const std::string foreign = rig.folder + "/volume/data1/README";
    std::ofstream(foreign) << "not ours";
    rig.expect_repaired(FindingKind::segment_unnamed);
    CHECK_FALSE(files::exists(stray));
    CHECK(files::exists(foreign));
    const std::string newer = rig.folder + "/volume/data1/" + segment_name(unused + 5000);
    std::ofstream(newer) << std::string(8192, 's');
    const FsckReport report = rig.check({.repair = true});
    CHECK(FsckRig::count(report, FindingKind::segment_unnamed) == 1);
    CHECK(report.repaired == 0);
    CHECK(report.exit_code() == 0); // a leftover
    CHECK(files::exists(newer));
}

TEST_CASE("fsck: another volume's segment that lies on a target is named and never removed, wherever its footers are") {
    VolumeRig other(small_volume(1));
    other.write("file", VolumeRig::pattern(300'000));
    other.fs.reset();
    std::string segment;
    for (const auto& file : files::directory_iterator(other.folder + "/volume/data1"))
        if (file.path().extension() == ".segment") segment = file.path();
    REQUIRE_FALSE(segment.empty());
    FsckRig rig;
    const std::uint64_t number = *rig.engine()->take_ids(kSegmentCounter, 2);
    const std::string first = rig.folder + "/volume/data1/" + segment_name(number);
    const std::string second = rig.folder + "/volume/data2/" + segment_name(number + 1);
    files::copy_file(segment, first);
    std::ofstream(second) << std::string(5 << 20, '\0') << std::ifstream(segment).rdbuf();
    for (const bool repair : {false, true, true}) {
        const FsckReport report = rig.check({.repair = repair});
        CHECK(report.found == 2);
        CHECK(report.repaired == 0);
        CHECK(FsckRig::count(report, FindingKind::segment_foreign) == 2);
        CHECK(report.exit_code() == 4);
        CHECK(report.findings.at(0).message.find(segment_name(number)) != std::string::npos);
        CHECK(report.findings.at(0).message.find("another volume") != std::string::npos);
        CHECK(nlohmann::json::parse(to_json(report))["counts"]["segment_foreign"] == 2);
    }
    CHECK(files::file_size(first) == files::file_size(segment));
    CHECK(files::exists(second));
    files::resize_file(second, 5 << 20); // of no volume any more
    const FsckReport repaired = rig.check({.repair = true});
    CHECK(repaired.repaired == 1);
    CHECK_FALSE(files::exists(second));
    CHECK(files::exists(first));
}

TEST_CASE("fsck: a dead writer's row whose number another volume's file has loses the row, not the file") {
    VolumeRig other(small_volume(1));
    other.write("file", VolumeRig::pattern(300'000));
    other.fs.reset();
    FsckRig rig;
    const std::uint64_t number = *rig.engine()->take_ids(kSegmentCounter, 1);
    const std::string path = rig.folder + "/volume/data1/" + segment_name(number);
    for (const auto& file : files::directory_iterator(other.folder + "/volume/data1"))
        if (file.path().extension() == ".segment") files::copy_file(file.path(), path);
    Batch row;
    row.put(segment_key(number), encode(SegmentRecord{.target = 1, .lease = 999'999}));
    rig.change(row);
    const FsckReport report = rig.check({.repair = true});
    CHECK(FsckRig::count(report, FindingKind::segment_foreign) == 1);
    CHECK(FsckRig::count(report, FindingKind::segment_unsealed) == 1);
    CHECK(report.exit_code() == 4);
    CHECK(files::exists(path));
    std::string stored;
    CHECK_FALSE(*rig.engine()->get(segment_key(number), stored));
}

TEST_CASE("fsck: figures that are wrong are put right") {
    FsckRig rig;
    const Inode inode = rig.inode_of("small7");
    Batch live;
    live.add(live_key(inode.content.extents.at(0).segment), std::vector<std::int64_t>{-5, 1});
    rig.change(live);
    rig.expect_repaired(FindingKind::live_wrong);
    Batch totals;
    add_totals(totals, {.files = 3, .directories = -1, .payload_bytes = 7});
    rig.change(totals);
    rig.expect_repaired(FindingKind::totals_wrong);
    Batch counter;
    counter.put(counter_key(kInodeCounter), encode_counters(std::vector<std::int64_t>{1}));
    rig.change(counter);
    rig.expect_repaired(FindingKind::counter_behind);
    Batch rows;
    rows.add(live_key(123'456), std::vector<std::int64_t>{1, 1});
    rows.put(counter_key(kSegmentCounter), encode_counters(std::vector<std::int64_t>{200'000}));
    rig.change(rows);
    rig.expect_repaired(FindingKind::row_unnamed);
    Batch times;
    times.raise(directory_times_key(123'456), std::vector<std::int64_t>{1, 1});
    rig.change(times);
    rig.expect_repaired(FindingKind::row_unnamed);
    Batch damaged_times;
    damaged_times.put(directory_times_key(kRootInode), "torn");
    rig.change(damaged_times);
    rig.expect_repaired(FindingKind::directory_row_wrong);
    Batch pages;
    pages.put(extent_page_key(4, 4096), "page of nobody");
    rig.change(pages);
    rig.expect_repaired(FindingKind::pages_unnamed);
}

TEST_CASE("fsck: directories: rows, lost parents, circles; what was lost is in lost+found with its content") {
    FsckRig rig;
    const InodeId dir = rig.inode_of("dir").id;
    const InodeId below = rig.inode_of("dir/below").id;
    Batch row;
    row.put(directory_key(below), encode(DirectoryRecord{.parent = kRootInode, .name = "wrong"}));
    rig.change(row);
    rig.expect_repaired(FindingKind::directory_row_wrong);

    Batch lost; // nothing names "dir" any more
    lost.erase(entry_key(kRootInode, "dir"));
    add_totals(lost, {.directories = -1});
    rig.change(lost);
    rig.expect_repaired(FindingKind::entry_unreachable);
    rig.open();
    const std::string place = "lost+found/inode-" + std::to_string(dir);
    CHECK(rig.read(place + "/large") == VolumeRig::pattern(3'000'000, 100));
    CHECK(rig.read(place + "/below/inner") == VolumeRig::pattern(70'000, 99));

    // A directory that lies below itself.
    const InodeId lost_found = rig.fs->resolve("lost+found")->inode.id;
    rig.fs.reset();
    std::string record;
    auto engine = rig.engine();
    REQUIRE(*engine->get(entry_key(lost_found, "inode-" + std::to_string(dir)), record));
    Batch circle;
    circle.erase(entry_key(lost_found, "inode-" + std::to_string(dir)));
    circle.put(entry_key(below, "circle"), record);
    circle.put(directory_key(dir), encode(DirectoryRecord{.parent = below, .name = "circle"}));
    rig.change(circle);
    engine.reset();
    rig.expect_repaired(FindingKind::entry_unreachable);
    rig.open();
    CHECK(rig.fs->resolve("lost+found")->inode.id == lost_found);
    std::vector<DirectoryEntry> found;
    REQUIRE(rig.fs->read_directory(lost_found, "", 10, found));
    REQUIRE(found.size() == 1);
    const std::string way = "lost+found/" + found[0].name + (found[0].inode.id == dir ? "/below" : "");
    CHECK(rig.read(way + "/inner") == VolumeRig::pattern(70'000, 99));
}

TEST_CASE("fsck: two files that claim one record, and a record that cannot be decoded") {
    FsckRig rig;
    Inode inode = rig.inode_of("small7");
    inode.id = *rig.engine()->take_ids(kInodeCounter, 1);
    Batch twice;
    put_entry(twice, entry_key(kRootInode, "thief"), inode);
    rig.change(twice);
    const FsckReport overlap = rig.check();
    CHECK(FsckRig::count(overlap, FindingKind::record_overlap) == 1);
    CHECK(FsckRig::count(overlap, FindingKind::footer_wrong) == 1); // the footer says whose it is
    Batch damage;
    damage.erase(entry_key(kRootInode, "thief"));
    damage.put(entry_key(kRootInode, "small7"), "garbage");
    rig.change(damage);
    const std::size_t keys = rig.engine()->figures()->keys;
    const FsckReport damaged = rig.check({.repair = true});
    CHECK(FsckRig::count(damaged, FindingKind::record_damaged) == 1);
    CHECK(damaged.findings.at(0).path == "small7");
    CHECK(damaged.exit_code() == 4);
    CHECK_FALSE(damaged.note.empty());
    CHECK(rig.engine()->figures()->keys == keys);
}

TEST_CASE("fsck: what a dead writer left is sealed or removed, its published files stay") {
    FsckRig rig;
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    const pid_t writer = fork();
    REQUIRE(writer >= 0);
    if (writer == 0) {
        rig.open();
        rig.write("published", VolumeRig::pattern(20'000, 7));
        auto half = rig.create("half"); // chunks of it lie in segments, and nobody names them
        const bool is_done =
            half->append(VolumeRig::pattern(1'000'000, 8)) && rig.fs->sync() && write(ready[1], "r", 1) == 1;
        if (is_done) pause();
        _exit(1);
    }
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK(rig.check().living_writers == 1);
    CHECK(rig.check().found == 0);
    const auto busy = fsck(rig.folder + "/volume", {.repair = true});
    REQUIRE_FALSE(busy.has_value());
    CHECK(busy.error().errno_value == EBUSY);
    kill(writer, SIGKILL);
    REQUIRE(waitpid(writer, nullptr, 0) == writer);

    const FsckReport found = rig.check();
    CHECK(FsckRig::count(found, FindingKind::lease_dead) == 1);
    CHECK(FsckRig::count(found, FindingKind::segment_unsealed) >= 2);
    CHECK(found.losses == 0);
    CHECK(found.exit_code() == 0);
    const FsckReport repaired = rig.check({.repair = true});
    CHECK(repaired.repaired == repaired.found);
    CHECK(rig.check({.data = true}).found == 0);
    CHECK(rig.read("published", rig.open_another({.read_only = true}).get()) == VolumeRig::pattern(20'000, 7));
}

TEST_CASE("fsck: it stops when asked to, and refuses what is no volume") {
    FsckRig rig;
    const auto stopped = fsck(rig.folder + "/volume", {.progress = [](const FsckProgress&) { return false; }});
    REQUIRE_FALSE(stopped.has_value());
    CHECK(stopped.error().errno_value == EINTR);
    CHECK_FALSE(fsck(rig.folder, {}).has_value());
}

} // namespace
