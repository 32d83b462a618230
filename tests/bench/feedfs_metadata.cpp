// What a metadata engine does in a second: entries put, looked up, listed; what opening costs; and LMDB's bare look-up.
//
//     feedfs_metadata fill ENGINE PLACE FILES FILES_OF_A_DIRECTORY     a volume's entries, 1000 a batch
//     feedfs_metadata open ENGINE PLACE                                opened, its root looked up
//     feedfs_metadata stat ENGINE PLACE FILES FILES_OF_A_DIRECTORY N   N of them in random order, each by a view of its
//     own feedfs_metadata list ENGINE PLACE FILES FILES_OF_A_DIRECTORY N   directories in random order, until N entries
//     feedfs_metadata bare PLACE FILES FILES_OF_A_DIRECTORY N          as stat, by mdb_get alone, nothing decoded
// Each prints one JSON object: seconds, operations, and the process's memory (anonymous, and mapped file pages).
#include <lmdb.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "storage/feedfs/metadata/schema.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using Clock = std::chrono::steady_clock;

constexpr const char* kVolumeId = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
constexpr InodeId kFirstDirectory = 2;

struct Shape {
    std::uint64_t files = 0, per_directory = 1;
    std::uint64_t directories() const { return (files + per_directory - 1) / per_directory; }
    std::string key(std::uint64_t file) const {
        char name[32];
        std::snprintf(name, sizeof name, "img_%010llu.jpg", static_cast<unsigned long long>(file));
        return entry_key(kFirstDirectory + file / per_directory, name);
    }
};

template <class T>
T checked(Expected<T> value) {
    if (value) return std::move(*value);
    std::fprintf(stderr, "%s\n", value.error().describe().c_str());
    std::exit(3);
}

std::uint64_t status_kib(const char* field) {
    std::ifstream stream("/proc/self/status");
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with(field)) return std::strtoull(line.c_str() + std::string(field).size() + 1, nullptr, 10);
    return 0;
}

void print(Clock::time_point begin, std::uint64_t operations) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    std::printf(
        "{\"seconds\": %.6f, \"operations\": %llu, \"per_second\": %.0f, \"cpu_s\": %.3f, \"anonymous_MiB\": %.1f, "
        "\"mapped_MiB\": %.1f}\n",
        seconds, static_cast<unsigned long long>(operations), static_cast<double>(operations) / seconds,
        of(usage.ru_utime) + of(usage.ru_stime), static_cast<double>(status_kib("RssAnon:")) / 1024,
        static_cast<double>(status_kib("RssFile:")) / 1024);
}

std::shared_ptr<MetadataEngine> open(const std::string& engine, const std::string& place, OpenMode mode) {
    return checked(open_metadata({.engine = engine, .place = place, .volume_id = kVolumeId, .options = {}}, mode));
}

Inode small_file(std::uint64_t file) {
    Inode inode;
    inode.id = 100'000 + file;
    inode.uid = inode.gid = 1000;
    inode.mtime_ns = inode.ctime_ns = inode.atime_ns =
        1'790'000'000'000'000'000 + static_cast<std::int64_t>(file) * 1'000'003;
    inode.size_bytes = 10'240;
    const auto crc = static_cast<std::uint32_t>(file * 2'654'435'761u);
    inode.content.append({1 + file / 5000, file % 5000 * 12'288, 10'240, 0}, &crc);
    return inode;
}

int fill(const std::string& name, const std::string& place, const Shape& shape) {
    auto engine = open(name, place, OpenMode::create);
    const auto begin = Clock::now();
    Batch batch;
    Inode directory;
    directory.type = InodeType::directory;
    directory.id = kRootInode;
    put_entry(batch, root_key(), directory);
    for (std::uint64_t d = 0; d < shape.directories(); ++d) {
        directory.id = kFirstDirectory + d;
        put_entry(batch, entry_key(kRootInode, "d" + std::to_string(d)), directory);
        batch.put(directory_key(directory.id), encode(DirectoryRecord{kRootInode, "d" + std::to_string(d)}));
    }
    checked(engine->apply(batch, Durability::relaxed));
    for (std::uint64_t first = 0; first < shape.files; first += 1000) {
        batch.clear();
        for (std::uint64_t file = first; file < std::min(shape.files, first + 1000); ++file) {
            std::string key = shape.key(file);
            batch.require_absent(key);
            put_entry(batch, std::move(key), small_file(file));
        }
        add_totals(batch, {.files = 1000});
        checked(engine->apply(batch, first % 100'000 == 0 ? Durability::durable : Durability::relaxed));
    }
    if (Status synced = engine->sync(); !synced) return 3;
    print(begin, shape.files);
    return 0;
}

int open_only(const std::string& name, const std::string& place) {
    const auto begin = Clock::now();
    auto engine = open(name, place, OpenMode::read_write);
    std::string record;
    if (!checked(engine->get(root_key(), record))) return 3;
    print(begin, 1);
    return 0;
}

int stat(const std::string& name, const std::string& place, const Shape& shape, std::uint64_t count) {
    auto engine = open(name, place, OpenMode::read_write);
    std::mt19937_64 random(1);
    Inode inode;
    std::uint64_t bytes = 0;
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
        auto view = checked(engine->read());
        const auto record = checked(view->get(shape.key(random() % shape.files)));
        if (!record || !decode_inode(*record, inode, InodePart::attributes)) return 3;
        bytes += inode.size_bytes;
    }
    print(begin, count);
    return bytes == count * 10'240 ? 0 : 3;
}

int list(const std::string& name, const std::string& place, const Shape& shape, std::uint64_t count) {
    auto engine = open(name, place, OpenMode::read_write);
    std::mt19937_64 random(1);
    Inode inode;
    std::uint64_t entries = 0, bytes = 0;
    const auto begin = Clock::now();
    while (entries < count) {
        KeyRange range = entries_of(kFirstDirectory + random() % shape.directories());
        for (bool complete = false; !complete;) {
            auto view = checked(engine->read());
            ScanEnd end = checked(view->scan(range, 1000, [&](std::string_view key, std::string_view value) {
                bytes += name_of_entry_key(key).size();
                ++entries;
                return decode_inode(value, inode, InodePart::attributes).has_value();
            }));
            complete = end.complete;
            range.from = std::move(end.next_key);
        }
    }
    print(begin, entries);
    return bytes == entries * 18 ? 0 : 3;
}

int bare(const std::string& place, const Shape& shape, std::uint64_t count) {
    MDB_env* environment = nullptr;
    MDB_txn* transaction = nullptr;
    MDB_dbi table = 0;
    mdb_env_create(&environment);
    mdb_env_set_mapsize(environment, std::size_t{16} << 30);
    if (mdb_env_open(environment, place.c_str(), MDB_NOTLS | MDB_NORDAHEAD, 0666) != 0) return 3;
    if (mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction) != 0) return 3;
    if (mdb_dbi_open(transaction, nullptr, 0, &table) != 0) return 3;
    std::mt19937_64 random(1);
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string bytes = shape.key(random() % shape.files);
        MDB_val key{bytes.size(), bytes.data()}, value{};
        if (mdb_get(transaction, table, &key, &value) != 0) return 3;
    }
    print(begin, count);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto number = [&](std::size_t index) { return std::strtoull(words.at(index).c_str(), nullptr, 10); };
    if (words.size() == 5 && words[0] == "fill") return fill(words[1], words[2], {number(3), number(4)});
    if (words.size() == 3 && words[0] == "open") return open_only(words[1], words[2]);
    if (words.size() == 6 && words[0] == "stat") return stat(words[1], words[2], {number(3), number(4)}, number(5));
    if (words.size() == 6 && words[0] == "list") return list(words[1], words[2], {number(3), number(4)}, number(5));
    if (words.size() == 5 && words[0] == "bare") return bare(words[1], {number(2), number(3)}, number(4));
    std::fprintf(stderr, "usage: see the head of tests/bench/feedfs_metadata.cpp\n");
    return 2;
}
