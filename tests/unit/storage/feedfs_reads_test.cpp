// Reads of the feedfs backend: damage that the object tier makes good, and entries that are read ahead.
#include <algorithm>
#include <cerrno>
#include <numeric>
#include <random>

#include "storage/feedfs/metadata/schema.hpp"
#include "storage/feedfs/segment.hpp"
#include "storage/feedfs/tier.hpp"
#include "storage/feedfs_entries.hpp"
#include "tests/support/backend_variants.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::BufferLease;
using engine::File;

storage::BackendRequest request_of(const std::string& volume) {
    storage::BackendRequest request;
    request.uri = "feedfs:" + volume;
    request.odirect = true;
    return request;
}

std::unique_ptr<feedfs::FileSystem> opened(const std::string& volume) {
    auto made = feedfs::FileSystem::open(volume, {});
    if (!made) FAIL(made.error().describe());
    return std::move(*made);
}

void put(feedfs::FileSystem& volume, feedfs::InodeId folder, const std::string& name, std::uint64_t bytes) {
    auto writer = volume.create(folder, name, {});
    REQUIRE(writer);
    std::vector<std::byte> content(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) content[i] = pattern_at(i);
    REQUIRE((*writer)->append(content));
    REQUIRE(volume.publish(**writer, feedfs::Publish::durable));
}

void flip(const std::string& path, long at) {
    std::FILE* raw = std::fopen(path.c_str(), "r+b");
    REQUIRE(raw);
    std::fseek(raw, at, SEEK_SET);
    const int byte = std::fgetc(raw);
    std::fseek(raw, at, SEEK_SET);
    std::fputc(byte ^ 1, raw);
    std::fclose(raw);
}

Task<void> read_whole(Rig& rig, std::string path, std::int64_t expected) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open(path, file), == 0);
    if (!file) co_return;
    BufferLease lease = rig.pool->try_lease();
    CHECK_RESULT(rig.move(IoKind::read, *file, 0, 65536, lease), == expected);
    if (expected > 0) CHECK(has_pattern(lease.data(), 0, static_cast<std::uint64_t>(expected)));
}

TEST_CASE("feedfs backend: what is damaged or cut short in the fast tier is read from the object tier") {
    const TemporaryFolder folder;
    const std::string volume = folder.path + "/volume", fast = volume + "/fast/", object = volume + "/objects";
    feedfs::VolumeConfig config;
    config.targets = {{.id = 1, .place = "fast"}, {.id = 2, .place = "objects", .tier = feedfs::Tier::object}};
    REQUIRE(feedfs::FileSystem::make(volume, config));
    {
        auto filesystem = opened(volume);
        put(*filesystem, feedfs::kRootInode, "a", 10'000);
        put(*filesystem, feedfs::kRootInode, "b", 50'000);
    }
    {
        auto filesystem = opened(volume);
        auto tiering = feedfs::Tiering::make(*filesystem);
        REQUIRE(tiering);
        REQUIRE((*tiering)->upload().done.segments == 1);
    }
    const std::string segment = fast + feedfs::segment_name(1);
    flip(segment, 5000);
    {
        Rig rig(request_of(volume));
        rig.run(read_whole(rig, "a", 10'000));
        rig.run(read_whole(rig, "b", 50'000));
        std::filesystem::resize_file(segment, 20'480); // within b
        rig.run(read_whole(rig, "b", 50'000));
    }
    std::filesystem::remove_all(object); // now nobody has it
    Rig rig(request_of(volume));
    rig.run(read_whole(rig, "a", -EIO));
    CHECK(rig.last_message.find("damaged") != std::string::npos);
    rig.run(read_whole(rig, "b", -EIO));
}

Task<void> read_parts(Rig& rig, std::uint64_t bytes, std::uint64_t damaged_at, std::uint64_t seed) {
    constexpr std::uint64_t kMost = 400'000;
    const std::unique_ptr<std::byte, decltype(&std::free)> memory(
        static_cast<std::byte*>(std::aligned_alloc(4096, kMost / 4096 * 4096 + 4096)), std::free);
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("large", file), == 0);
    if (!file) co_return;
    const std::uint64_t unit = file->alignment_bytes, damaged = damaged_at / 65536;
    std::mt19937_64 random(seed);
    std::uint64_t refused = 0, whole = 0;
    for (int trial = 0; trial < 150; ++trial) {
        IoOp op;
        op.file = file.get();
        op.offset = random() % bytes / unit * unit;
        op.bytes = (random() % (trial % 2 == 0 ? 20'000 : kMost - unit) + unit) / unit * unit;
        op.data = memory.get();
        const std::uint64_t end = std::min(op.offset + op.bytes, bytes);
        const bool touches = op.offset / 65536 <= damaged && (end - 1) / 65536 >= damaged;
        const std::int64_t result = co_await rig.perform(op);
        INFO(op.offset << " + " << op.bytes);
        CHECK(result == (touches ? -EIO : static_cast<std::int64_t>(end - op.offset)));
        if (touches) {
            ++refused;
            CHECK(op.message.find("0000000000000001.segment") != std::string::npos);
            CHECK(op.message.find("at " + std::to_string(damaged * 65536) + ": the data is damaged") !=
                  std::string::npos);
        } else if (result > 0) {
            ++whole;
            CHECK(has_pattern(op.data, op.offset, end - op.offset));
        }
    }
    CHECK(refused > 10);
    CHECK(whole > 10);
}

TEST_CASE("feedfs backend: of a damaged block no part is delivered, wherever a read begins and ends") {
    const TemporaryFolder folder;
    const std::string volume = folder.path + "/volume";
    feedfs::VolumeConfig config;
    config.targets = {{.id = 1, .place = "data"}};
    REQUIRE(feedfs::FileSystem::make(volume, config));
    constexpr std::uint64_t kBytes = 1'000'000;
    put(*opened(volume), feedfs::kRootInode, "large", kBytes);
    const std::string segment = volume + "/data/" + feedfs::segment_name(1);
    for (const std::uint64_t at : {70'000UL, 999'990UL}) { // of a whole block, and of the file's last, short one
        flip(segment, static_cast<long>(at));
        for (const bool direct : {true, false})
            for (const IoEngine engine : {IoEngine::uring, IoEngine::threads}) {
                INFO((direct ? "direct " : "buffered ") << (engine == IoEngine::uring ? "uring" : "threads"));
                auto request = request_of(volume);
                request.odirect = direct;
                request.io_engine = engine;
                Rig rig(request);
                rig.run(read_parts(rig, kBytes, at, at + (direct ? 1 : 0)));
            }
        flip(segment, static_cast<long>(at));
    }
}

constexpr std::uint64_t kFiles = 500;
std::string small_file_name(std::uint64_t i) { return "file" + std::to_string(i); }
std::uint64_t bytes_of(std::uint64_t i) { return 100 + i * 37; }

Task<void> read_shuffled(Rig& rig, std::uint64_t seed, std::uint64_t without) {
    std::vector<std::uint64_t> order(kFiles);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    for (const std::uint64_t i : order)
        if (i != without) co_await read_whole(rig, "d/" + small_file_name(i), static_cast<std::int64_t>(bytes_of(i)));
}

Task<void> is_missing(Rig& rig, std::string path) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open(path, file), == -ENOENT);
}

TEST_CASE("feedfs backend: entries that were read ahead are those of now, also after others changed them") {
    const TemporaryFolder folder;
    const std::string place = folder.path + "/volume";
    const VariantVolume volume(place);
    auto filesystem = opened(place);
    auto made = filesystem->make_directory(feedfs::kRootInode, "d", {.mode = 0755});
    REQUIRE(made);
    for (std::uint64_t i = 0; i < kFiles; ++i) put(*filesystem, made->id, small_file_name(i), bytes_of(i));
    Rig rig(request_of(place));
    rig.run(read_shuffled(rig, 1, kFiles));
    rig.run(read_shuffled(rig, 2, kFiles));
    put(*filesystem, made->id, small_file_name(7), 4321);
    REQUIRE(filesystem->unlink(made->id, small_file_name(8)));
    rig.run(read_whole(rig, "d/" + small_file_name(7), 4321));
    rig.run(is_missing(rig, "d/" + small_file_name(8)));
    put(*filesystem, made->id, small_file_name(7), bytes_of(7));
    rig.run(read_shuffled(rig, 3, 8));
    rig.run(is_missing(rig, "d/" + small_file_name(8)));
}

TEST_CASE("feedfs entries: what lies behind a name is taken in once look-ups have shown that it pays, for one state") {
    const TemporaryFolder folder;
    const std::string place = folder.path + "/volume";
    const VariantVolume volume(place);
    auto filesystem = opened(place);
    for (std::uint64_t i = 0; i < kFiles; ++i) put(*filesystem, feedfs::kRootInode, small_file_name(i), bytes_of(i));
    put(*filesystem, feedfs::kRootInode, "with a name of more than 27 bytes", 10);
    put(*filesystem, feedfs::kRootInode, "two records", 100'000);
    storage::FeedfsEntries entries;
    std::uint64_t found = 0, known = 0;
    const auto look_up = [&](const std::string& name, std::uint64_t state_more) {
        auto view = filesystem->metadata().read();
        REQUIRE(view);
        feedfs::Inode expected, inode;
        auto record = (*view)->get(feedfs::entry_key(feedfs::kRootInode, name));
        REQUIRE((record && *record));
        REQUIRE(feedfs::decode_inode(**record, expected));
        if (entries.find((*view)->state_number() + state_more, feedfs::kRootInode, name, inode)) {
            ++found;
            known += inode.id == expected.id && inode.size_bytes == expected.size_bytes &&
                     inode.mtime_ns == expected.mtime_ns && inode.content == expected.content;
        } else
            entries.read_ahead(**view, feedfs::kRootInode, name, expected);
    };
    for (std::uint64_t i = 0; i < 10; ++i) look_up(small_file_name(i * 7), 0);
    CHECK(entries.size() == 0);
    for (int turn = 0; turn < 2; ++turn)
        for (std::uint64_t i = 0; i < kFiles; ++i) look_up(small_file_name(i * 211 % kFiles), 0);
    CHECK(entries.size() == kFiles); // each once
    CHECK(found >= kFiles);
    CHECK(known == found);
    found = 0;
    for (int turn = 0; turn < 2; ++turn) {
        look_up("with a name of more than 27 bytes", 0);
        look_up("two records", 0);
    }
    CHECK(found == 0);
    look_up(small_file_name(1), 1); // another state
    CHECK((found == 0 && entries.size() == 0));
}

} // namespace
