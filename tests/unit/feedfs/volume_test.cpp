// volume.yaml: what is refused, and that it round-trips.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "storage/feedfs/fsck.hpp"
#include "storage/feedfs/target_mark.hpp"
#include "tests/unit/feedfs/volume_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

std::string text_of(const std::string& path) {
    std::ifstream stream(path);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST_CASE("feedfs volume: what mkfs wrote is loaded, a second mkfs is refused") {
    VolumeRig rig;
    const auto loaded = load_volume(rig.folder + "/volume");
    REQUIRE(loaded);
    CHECK(loaded->uuid.size() == 36);
    CHECK(loaded->chunk_bytes == 65536);
    CHECK(loaded->targets.size() == 2);
    CHECK(loaded->absolute_place("data1") == rig.folder + "/volume/data1");
    CHECK(rig.error_of(FileSystem::make(rig.folder + "/volume", {})) == EEXIST);
    CHECK(rig.error_of(load_volume(rig.folder)) == ENOENT);
}

TEST_CASE("feedfs volume: other versions, missing and impossible values are refused by name") {
    VolumeRig rig;
    const std::string path = rig.folder + "/volume/" + kVolumeFile, good = text_of(path);
    const auto refused = [&](const std::string& from, const std::string& to, const std::string& word) {
        INFO(from << " -> " << to);
        std::string bad = good;
        const std::size_t at = bad.find(from);
        REQUIRE(at != std::string::npos);
        bad.replace(at, from.size(), to);
        std::ofstream(path) << bad;
        const auto loaded = load_volume(path);
        REQUIRE(!loaded);
        CHECK(loaded.error().describe().find(word) != std::string::npos);
        CHECK(exit_code(loaded.error().kind) == 2);
    };
    refused("format_version: 1", "format_version: 2", "version 2");
    refused("format_version: 1", "format_version: 0", "version 0");
    refused("format_version: 1", "formats: 1", "format_version");
    refused("chunk_bytes: 65536", "chunk_bytes: 65537", "chunk_bytes");
    refused("segment_bytes: 524288", "segment_bytes: 4096", "segment_bytes");
    refused("tier: fast", "tier: slow", "slow");
    refused("- id: 2", "- id: 1", "twice"); // a uuid may begin with 2
    refused("targets:", "others:", "targets");
    refused("uuid:", "uuid: [", "");
    std::ofstream(path) << good;
    CHECK(load_volume(path));
}

TEST_CASE("feedfs volume: mkfs refuses a target's folder that another volume has") {
    VolumeRig rig(small_volume(1));
    rig.write("file", VolumeRig::pattern(300'000));
    rig.fs.reset();
    const std::string data = rig.folder + "/volume/data1", second = rig.folder + "/second";
    const auto refused = [&](Tier tier, const std::string& found) {
        INFO(found);
        VolumeConfig config = small_volume();
        config.targets.push_back({.id = 3, .place = data, .tier = tier});
        const auto made = FileSystem::make(second, config);
        REQUIRE(!made);
        CHECK(exit_code(made.error().kind) == 2);
        CHECK(made.error().describe().find(data) != std::string::npos);
        CHECK(made.error().describe().find(found) != std::string::npos);
        CHECK_FALSE(std::filesystem::exists(second));
    };
    const std::string uuid = load_volume(rig.folder + "/volume")->uuid;
    refused(Tier::fast, uuid);
    refused(Tier::object, uuid);
    std::filesystem::remove(data + "/" + kTargetMark); // a volume that is older than marks
    refused(Tier::fast, ".segment");
    for (const auto& file : std::filesystem::directory_iterator(data)) std::filesystem::remove(file.path());
    std::ofstream(data + "/0000000000000001-00000003.cold") << "piece";
    refused(Tier::object, ".cold");
    std::filesystem::remove(data + "/0000000000000001-00000003.cold");
    std::ofstream(data + "/README") << "no volume's";
    VolumeConfig config = small_volume();
    config.targets.push_back({.id = 3, .place = data, .tier = Tier::fast});
    config.metadata_place = "/dev/null/metadata"; // a mkfs that fails late takes its marks back
    CHECK_FALSE(FileSystem::make(second, config));
    CHECK_FALSE(std::filesystem::exists(data + "/" + kTargetMark));
    config.metadata_place = "metadata";
    CHECK(FileSystem::make(second, config));
}

TEST_CASE("feedfs volume: what a mkfs left that was killed is taken over by the next, and nothing else") {
    VolumeRig rig(small_volume(1));
    const std::string place = rig.folder + "/volume", mark = place + "/data1/" + kTargetMark;
    const std::string uuid = load_volume(place)->uuid;
    CHECK(text_of(mark) == uuid + "\n");
    rig.fs.reset();
    const auto kill_mkfs_of = [&](const std::string& folder) {
        std::ofstream(mark) << uuid << "\nunfinished " << folder << "\n";
    };
    const auto refused = [&](const std::string& folder, const std::string& found) {
        VolumeConfig config = small_volume(1);
        config.targets[0].place = place + "/data1";
        const auto made = FileSystem::make(folder, config);
        REQUIRE(!made);
        INFO(made.error().describe());
        CHECK(made.error().errno_value == EEXIST);
        CHECK(made.error().describe().find(found) != std::string::npos);
        CHECK(std::filesystem::exists(place + "/" + kVolumeFile));
        CHECK(text_of(mark).starts_with(uuid));
    };
    SECTION("before its volume.yaml, by the same and by another") {
        const bool same = GENERATE(true, false);
        std::filesystem::remove_all(place);
        std::filesystem::create_directories(place + "/data1");
        kill_mkfs_of(place);
        VolumeConfig config = small_volume(1);
        config.targets[0].place = place + "/data1";
        const std::string folder = same ? place : rig.folder + "/other";
        REQUIRE(FileSystem::make(folder, config));
        CHECK(text_of(mark) == load_volume(folder)->uuid + "\n");
        CHECK(FileSystem::open(folder, {}));
    }
    SECTION("at its end") {
        kill_mkfs_of(place);
        refused(rig.folder + "/other", "in " + place + ", whose mkfs was killed; `feedfs mkfs " + place + "`");
        REQUIRE(FileSystem::make(place, small_volume(1), {.mode = 0700}));
        rig.open();
        CHECK(rig.fs->root()->mode == 0700);
        rig.write("file", VolumeRig::pattern(300'000));
        rig.fs.reset();
        const auto checked = fsck(place, {.data = true});
        REQUIRE(checked);
        CHECK(checked->found == 0);
    }
    SECTION("never from under who writes: who cannot finish the mark may not write") {
        if (::geteuid() != 0) {
            WARN("skipped: needs root, to be somebody else for a moment");
            return;
        }
        kill_mkfs_of(place);
        for (const std::string& folder : {rig.folder, place, place + "/data1"})
            REQUIRE(::chmod(folder.c_str(), 0755) == 0);
        REQUIRE(::chmod((place + "/" + kVolumeFile).c_str(), 0644) == 0);
        REQUIRE(::chmod(mark.c_str(), 0644) == 0);
        REQUIRE(::seteuid(65534) == 0);
        const auto opened = FileSystem::open(place, {});
        REQUIRE(::seteuid(0) == 0);
        REQUIRE_FALSE(opened);
        INFO(opened.error().describe());
        CHECK(opened.error().errno_value == EACCES);
        CHECK(opened.error().path == mark);
        REQUIRE(FileSystem::open(place, {}));
        CHECK(text_of(mark) == uuid + "\n");
    }
    SECTION("between its volume.yaml and its metadata") {
        kill_mkfs_of(place);
        std::filesystem::remove_all(place + "/metadata");
        REQUIRE(FileSystem::make(place, small_volume(1)));
        CHECK(FileSystem::open(place, {}));
    }
    SECTION("not while it lives") {
        kill_mkfs_of(place);
        const int living = ::open(mark.c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(::flock(living, LOCK_EX | LOCK_NB) == 0);
        refused(rig.folder + "/other", "a mkfs of " + place + " is under way here");
        refused(place, "there is a feedfs volume here already");
        ::close(living);
    }
    SECTION("not once somebody has opened the volume to write") {
        kill_mkfs_of(place);
        rig.open({.read_only = true});
        CHECK(text_of(mark) != uuid + "\n");
        rig.open();
        CHECK(text_of(mark) == uuid + "\n");
        rig.fs.reset();
        refused(place, "there is a feedfs volume here already");
        refused(rig.folder + "/other", "belongs to volume " + uuid + "; remove it if");
    }
    SECTION("not where there is data") {
        rig.open();
        rig.write("file", VolumeRig::pattern(300'000));
        rig.fs.reset();
        kill_mkfs_of(place);
        refused(place, ".segment");
    }
}

TEST_CASE("feedfs volume: it is not opened where a target's folder has another volume's mark; without one it is") {
    VolumeRig rig;
    rig.write("file", VolumeRig::pattern(300'000));
    rig.fs.reset();
    const std::string volume = rig.folder + "/volume", mark = volume + "/data2/" + kTargetMark;
    CHECK(text_of(mark) == load_volume(volume)->uuid + "\n");
    const std::string other = "01234567-89ab-cdef-0123-456789abcdef";
    std::ofstream(mark) << other << "\n";
    const auto opened = FileSystem::open(volume, {});
    REQUIRE(!opened);
    CHECK(exit_code(opened.error().kind) == 2);
    CHECK(opened.error().describe().find(volume + "/data2") != std::string::npos);
    CHECK(opened.error().describe().find(other) != std::string::npos);
    CHECK_FALSE(fsck(volume, {.repair = true}));
    std::filesystem::remove(mark);
    rig.open();
    CHECK(rig.read("file") == VolumeRig::pattern(300'000));
}

TEST_CASE("feedfs record: footers say where they lie, and damage shows") {
    std::vector<std::byte> memory(record_bytes(5000));
    RecordFooter footer{.volume_id = 7,
                        .inode = 9,
                        .file_offset = 65536,
                        .segment = 3,
                        .offset = 8192,
                        .payload_bytes = 5000,
                        .payload_crc = 77};
    finish_record(memory, footer);
    const std::span<std::byte> last = std::span(memory).last(kBlockBytes);
    const auto parsed = parse_footer(last, 7);
    REQUIRE(parsed);
    CHECK(parsed->inode == 9);
    CHECK(parsed->offset == 8192);
    CHECK(parsed->payload_bytes == 5000);
    CHECK(!parse_footer(last, 8));
    last[kBlockBytes - 20] ^= std::byte{1};
    CHECK(!parse_footer(last, 7));
    CHECK(record_bytes(4032) == 4096);
    CHECK(record_bytes(4033) == 8192);
    CHECK(record_bytes(4096) == 8192);
    // RFC 3720 B.4: 32 bytes of zeros.
    CHECK(crc32c(std::vector<std::byte>(32)) == 0x8a9136aaU);
}

} // namespace
