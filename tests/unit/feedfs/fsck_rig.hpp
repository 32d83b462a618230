// A volume with a few of everything, and what tests of fsck do to it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "storage/feedfs/fsck.hpp"
#include "tests/unit/feedfs/volume_rig.hpp"

namespace feedbench::test {

namespace files = std::filesystem;

// A volume with a few of everything, closed, so that nobody has a lease.
struct FsckRig : VolumeRig {
    FsckRig() {
        for (int i = 0; i < 40; ++i)
            write("small" + std::to_string(i), pattern(10'000, 1 + static_cast<std::uint64_t>(i)));
        const InodeId directory = fs->make_directory(kRootInode, "dir", {.mode = 0755})->id;
        const InodeId below = fs->make_directory(directory, "below", {.mode = 0755})->id;
        write("inner", pattern(70'000, 99), below);
        write("large", pattern(3'000'000, 100), directory);
        REQUIRE(fs->make_symlink(kRootInode, "link", "dir/large", {}).has_value());
        fs.reset();
    }
    FsckReport check(FsckOptions options = {}) {
        auto report = fsck(folder + "/volume", options);
        if (!report) FAIL(report.error().describe());
        return std::move(*report);
    }
    static std::uint64_t count(const FsckReport& report, FindingKind kind) {
        for (const auto& [each, number] : report.counts)
            if (each == kind) return number;
        return 0;
    }
    std::shared_ptr<MetadataEngine> engine() {
        const auto volume = load_volume(folder + "/volume");
        REQUIRE(volume.has_value());
        auto opened = open_metadata(
            {.engine = "lmdb", .place = folder + "/volume/metadata", .volume_id = volume->uuid, .options = {}},
            OpenMode::read_write);
        if (!opened) FAIL(opened.error().describe());
        return *opened;
    }
    void change(const Batch& batch) { REQUIRE(engine()->apply(batch, Durability::durable)->applied()); }
    Inode inode_of(const std::string& path) {
        open({.read_only = true});
        const Inode inode = fs->resolve(path)->inode;
        fs.reset();
        return inode;
    }
    std::string segment_path(std::uint64_t segment) {
        for (const char* target : {"data1", "data2"})
            if (const std::string path = folder + "/volume/" + target + "/" + segment_name(segment);
                files::exists(path))
                return path;
        FAIL("segment " << segment << " has no file");
        return {};
    }
    static void flip(const std::string& path, std::uint64_t offset) {
        const int fd = ::open(path.c_str(), O_RDWR);
        char byte = 0;
        REQUIRE(pread(fd, &byte, 1, static_cast<off_t>(offset)) == 1);
        byte = static_cast<char>(byte ^ 16);
        REQUIRE(pwrite(fd, &byte, 1, static_cast<off_t>(offset)) == 1);
        ::close(fd);
    }
    // Repaired by one run, and the next finds nothing.
    void expect_repaired(FindingKind kind) {
        INFO(finding_name(kind));
        const FsckReport found = check();
        CHECK(count(found, kind) >= 1);
        CHECK(found.repaired == 0);
        const FsckReport repaired = check({.repair = true});
        CHECK(count(repaired, kind) == count(found, kind));
        for (const Finding& finding : repaired.findings) {
            INFO(finding.message);
            CHECK(finding.repaired);
        }
        CHECK(repaired.exit_code() == 1);
        const FsckReport again = check({.data = true});
        CHECK(again.found == 0);
        CHECK(again.exit_code() == 0);
    }
};

} // namespace feedbench::test
