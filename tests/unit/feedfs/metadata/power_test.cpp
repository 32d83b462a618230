// LMDB and a loss of power: whatever of the blocks written since the last sync point reached the disk, that point is
// there.
#include <fcntl.h>

#include <fstream>
#include <random>

#include "storage/feedfs/metadata/lmdb_sync_point.hpp"
#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

constexpr std::size_t kBlockBytes = 4096;

std::string bytes_of(const std::string& path) {
    std::string bytes(std::filesystem::file_size(path), '\0');
    std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}
void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Each block of any of the versions since the sync point, or, behind the first version's end, possibly none (zeros).
std::string after_loss_of_power(const std::vector<std::string>& versions, std::mt19937_64& random) {
    std::string disk = versions.front();
    disk.resize(versions.back().size(), '\0');
    for (std::size_t at = 0; at < disk.size(); at += kBlockBytes) {
        const std::string& version = versions[random() % versions.size()];
        if (at + kBlockBytes <= version.size()) disk.replace(at, kBlockBytes, version, at, kBlockBytes);
    }
    return disk;
}

// As the host's start writes it.
void pretend_restart(const std::string& folder) {
    const int file = open((folder + "/sync-point").c_str(), O_RDWR);
    REQUIRE(file >= 0);
    auto point = read_sync_point(file);
    REQUIRE(point.has_value());
    REQUIRE(point->has_value());
    SyncPointRecord record = **point;
    ++record.sequence;
    record.boot_id = "an earlier start of this host";
    REQUIRE(write_sync_point(file, record));
    close(file);
}

Batch random_batch(std::mt19937_64& random) {
    Batch batch;
    for (int i = 0; i < 30; ++i) {
        const std::string key = entry_key(1 + random() % 4, "name" + std::to_string(random() % 400));
        if (random() % 3 == 0)
            batch.erase(key);
        else
            batch.put(key, std::string(random() % 300 + (random() % 50 == 0 ? 9000 : 0),
                                       static_cast<char>('a' + random() % 26)));
    }
    return batch;
}

using Contents = std::vector<std::pair<std::string, std::string>>;

struct Crash {
    Contents durable;                  // at the sync point
    std::string sync_point;            // the file
    std::vector<std::string> versions; // of data.mdb, from then on
};

Crash run_until_crash(MetadataRig& rig, std::mt19937_64& random) {
    auto engine = rig.open(OpenMode::read_write);
    for (int i = 0; i < 10; ++i)
        REQUIRE(applied(*engine, random_batch(random), i == 9 ? Durability::durable : Durability::relaxed));
    Crash crash;
    crash.durable = contents(*engine, {});
    crash.versions.push_back(bytes_of(rig.place.place + "/data.mdb"));
    for (std::size_t i = 1 + random() % 20; i > 0; --i) {
        REQUIRE(applied(*engine, random_batch(random), Durability::relaxed));
        crash.versions.push_back(bytes_of(rig.place.place + "/data.mdb"));
    }
    crash.sync_point = bytes_of(rig.place.place + "/sync-point");
    return crash;
}

// What was left, in a place of its own.
struct Remains {
    MetadataRig rig{"lmdb"};
    Remains(const Crash& crash, std::mt19937_64& random) {
        std::filesystem::create_directory(rig.place.place);
        write_file(rig.place.place + "/sync-point", crash.sync_point);
        write_file(rig.place.place + "/data.mdb", after_loss_of_power(crash.versions, random));
        pretend_restart(rig.place.place);
    }
};

TEST_CASE("lmdb: a loss of power leaves exactly the last sync point, whichever later blocks reached the disk") {
    std::mt19937_64 random(1);
    MetadataRig rig("lmdb");
    rig.create().reset();
    int broken_without = 0;
    for (int round = 0; round < 15; ++round) {
        INFO("round " << round);
        const Crash crash = run_until_crash(rig, random);
        std::mt19937_64 same = random;
        {
            Remains left(crash, random);
            CHECK(contents(*left.rig.open(OpenMode::read_only), {}) == crash.durable);
            auto engine = left.rig.open(OpenMode::read_write);
            REQUIRE(contents(*engine, {}) == crash.durable);
            for (int i = 0; i < 5; ++i) // and it is a sound place to go on
                REQUIRE(applied(*engine, random_batch(random), i % 2 == 0 ? Durability::durable : Durability::relaxed));
            const Contents after = contents(*engine, {});
            engine.reset();
            REQUIRE(contents(*left.rig.open(OpenMode::read_write), {}) == after);
        }
        // The same blocks without the sync point: LMDB alone finds another state, damage, or its end.
        Remains bare(crash, same);
        std::filesystem::remove(bare.rig.place.place + "/sync-point");
        const pid_t pid = fork();
        if (pid == 0) {
            for (const int number : {SIGABRT, SIGSEGV, SIGBUS})
                signal(number, SIG_DFL); // not Catch's: this is expected
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
            auto engine = open_metadata(bare.rig.place, OpenMode::read_only);
            Contents found;
            if (engine) {
                auto view = (*engine)->read();
                if (view)
                    (void)(*view)->scan({}, SIZE_MAX, [&](std::string_view key, std::string_view value) {
                        found.emplace_back(key, value);
                        return true;
                    });
            }
            _exit(found == crash.durable ? 0 : 1);
        }
        int status = 0;
        REQUIRE(waitpid(pid, &status, 0) == pid);
        broken_without += status == 0 ? 0 : 1;
    }
    CHECK(broken_without > 5); // else this test would see nothing
}

TEST_CASE("lmdb: torn sync points, other files' ones and restarts without a crash") {
    std::mt19937_64 random(2);
    MetadataRig rig("lmdb");
    rig.create().reset();
    const Crash crash = run_until_crash(rig, random);
    {
        Remains torn(crash,
                     random); // the newer slot was being written: the one before counts, and it is of the same state
        std::string file = bytes_of(torn.rig.place.place + "/sync-point");
        const int opened = open((torn.rig.place.place + "/sync-point").c_str(), O_RDONLY);
        const std::uint64_t newest = (**read_sync_point(opened)).sequence;
        file[newest % 2 * 128 * 1024 + 2000] ^= 1;
        write_file(torn.rig.place.place + "/sync-point", file);
        CHECK((**read_sync_point(opened)).sequence == newest - 1);
        close(opened);
    }
    // An orderly end, then a restart: everything relaxed is there as well.
    auto engine = rig.open(OpenMode::read_write);
    REQUIRE(applied(*engine, random_batch(random), Durability::relaxed));
    const Contents all = contents(*engine, {});
    engine.reset();
    pretend_restart(rig.place.place);
    CHECK(contents(*rig.open(OpenMode::read_write), {}) == all);
    // A backup from before the sync point was put here: its own roots hold.
    MetadataRig backup("lmdb");
    backup.create().reset();
    const Contents few = contents(*backup.open(OpenMode::read_only), {});
    std::filesystem::copy_file(rig.place.place + "/sync-point", backup.place.place + "/sync-point",
                               std::filesystem::copy_options::overwrite_existing);
    pretend_restart(backup.place.place);
    CHECK(contents(*backup.open(OpenMode::read_write), {}) == few);
}

} // namespace
