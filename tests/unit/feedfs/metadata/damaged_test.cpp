// LMDB's file when it is empty, cut, or not LMDB's: one sentence with the file, what was found and what was expected.
#include <fstream>

#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

struct DamagedRig : MetadataRig {
    DamagedRig() : MetadataRig("lmdb") {
        auto engine = create();
        Batch batch;
        for (int i = 0; i < 2000; ++i) batch.put(entry_key(2, std::to_string(i)), std::string(200, 'x'));
        REQUIRE(applied(*engine, batch, Durability::durable));
    }
    std::string file() const { return place.place + "/data.mdb"; }
    void refused(const std::string& found) {
        for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
            const auto size = std::filesystem::file_size(file());
            const auto opened = open_metadata(place, mode);
            REQUIRE_FALSE(opened.has_value());
            INFO(opened.error().describe());
            CHECK(opened.error().errno_value == EUCLEAN);
            CHECK(opened.error().path == file());
            CHECK(opened.error().message.find(found) != std::string::npos);
            CHECK(opened.error().message.find("expected") != std::string::npos);
            CHECK(std::filesystem::file_size(file()) == size);
        }
    }
};

TEST_CASE("lmdb: an empty, short or foreign file is named as that, and left as it is") {
    DamagedRig rig;
    SECTION("empty") {
        std::filesystem::resize_file(rig.file(), 0);
        rig.refused("the file is empty");
    }
    SECTION("short") {
        std::filesystem::resize_file(rig.file(), 5000);
        rig.refused("the file has 5000 bytes");
    }
    SECTION("foreign") {
        std::ofstream(rig.file()) << std::string(100'000, 'a');
        rig.refused("61616161 at byte 16, where LMDB writes beefc0de");
    }
    SECTION("a folder") {
        std::filesystem::remove(rig.file());
        std::filesystem::create_directory(rig.file());
        for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
            const auto opened = open_metadata(rig.place, mode);
            REQUIRE_FALSE(opened.has_value());
            CHECK(opened.error().message.find("this is no file") != std::string::npos);
        }
    }
}

TEST_CASE("lmdb: a database of another program is named as that") {
    DamagedRig rig;
    {
        auto engine = rig.open(OpenMode::read_write);
        Batch batch;
        batch.erase(volume_key());
        REQUIRE(applied(*engine, batch, Durability::durable));
    }
    const auto opened = open_metadata(rig.place, OpenMode::read_only);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().message.find("no volume's record") != std::string::npos);
    CHECK(opened.error().message.find(kVolumeId + " was expected") != std::string::npos);
}

TEST_CASE("lmdb: a file that was cut is an error, not the end of the process") {
    DamagedRig rig;
    const std::uint64_t pages = std::filesystem::file_size(rig.file()) / 4096;
    REQUIRE(pages > 100);
    for (const std::uint64_t left : {pages - 1, pages / 2, std::uint64_t{4}, std::uint64_t{2}})
        for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
            std::filesystem::resize_file(rig.file(), left * 4096);
            INFO(left << " of " << pages << " pages");
            const auto opened = open_metadata(rig.place, mode);
            if (!opened) {
                CHECK(opened.error().describe().find(rig.file()) != std::string::npos);
                continue;
            }
            std::uint64_t errors = 0;
            for (int i = 0; i < 2000; ++i) {
                std::string value;
                const auto found = (*opened)->get(entry_key(2, std::to_string(i)), value);
                if (!found || !*found || value != std::string(200, 'x')) ++errors;
                if (!found) CHECK(found.error().errno_value == EUCLEAN);
            }
            CHECK((errors > 0 || left == pages - 1)); // the last page may hold none of them
        }
}

} // namespace
