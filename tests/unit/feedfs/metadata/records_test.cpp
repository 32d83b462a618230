// Records and long extent lists: what is written is what is read, and bytes that nobody wrote are refused.
#include <random>

#include "storage/feedfs/metadata/memory.hpp"
#include "storage/feedfs/metadata/schema.hpp"
#include "storage/feedfs/metadata/varint.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

Inode random_inode(std::mt19937_64& random, std::size_t extents) {
    Inode inode;
    inode.type = static_cast<InodeType>(1 + random() % 3);
    if (extents > 0) inode.type = InodeType::file;
    inode.id = random() >> (random() % 60);
    inode.mode = random() % 010000;
    inode.uid = static_cast<std::uint32_t>(random() >> (random() % 32 + 32));
    inode.gid = static_cast<std::uint32_t>(random() % 3);
    inode.mtime_ns = static_cast<std::int64_t>(random());
    inode.ctime_ns = static_cast<std::int64_t>(random());
    inode.atime_ns = inode.mtime_ns + 1;
    if (inode.type == InodeType::symlink) inode.symlink_target = std::string(random() % 300, '/');
    for (std::size_t i = 0; i < extents; ++i) {
        Extent extent{random() >> (random() % 60), (random() >> 20) * kRecordAlignment,
                      static_cast<std::uint32_t>(1 + random() % (300 * 1024)), 0};
        std::vector<std::uint32_t> crcs(extent.crc_count());
        for (std::uint32_t& crc : crcs) crc = static_cast<std::uint32_t>(random());
        inode.content.append(extent, crcs.data());
    }
    inode.extent_count = extents;
    inode.size_bytes = inode.type == InodeType::symlink ? inode.symlink_target.size() : inode.content.payload_bytes();
    return inode;
}

TEST_CASE("feedfs records: an inode comes back as it was written, and a cut or lengthened one is refused") {
    std::mt19937_64 random(1);
    Inode read;
    for (int i = 0; i < 500; ++i) {
        const Inode inode = random_inode(random, i % 5 == 0 ? random() % 6 : 0);
        const std::string bytes = encode_inode(inode);
        REQUIRE(decode_inode(bytes, read));
        REQUIRE(read == inode);
        REQUIRE(decode_inode(bytes, read, InodePart::attributes));
        REQUIRE(read.size_bytes == inode.size_bytes);
        REQUIRE(read.content.extents.empty());
        if (inode.type != InodeType::symlink) {
            REQUIRE_FALSE(decode_inode(bytes + "x", read));
            for (std::size_t length = 0; length < bytes.size(); ++length)
                REQUIRE(decode_inode(std::string_view(bytes).substr(0, length), read).error().errno_value != 0);
        }
    }
    std::string later = encode_inode(random_inode(random, 1));
    later[0] = 2;
    CHECK(decode_inode(later, read).error().errno_value == EPROTONOSUPPORT);
    later[0] = 1;
    later[1] = 4;
    CHECK(decode_inode(later, read).error().errno_value == EUCLEAN);
}

TEST_CASE("feedfs records: any bytes are decoded or refused, never more") {
    std::mt19937_64 random(2);
    std::size_t decoded = 0;
    Inode read;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = encode_inode(random_inode(random, random() % 3));
        for (std::size_t flips = 1 + random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        decoded += decode_inode(bytes, read).has_value() ? 1 : 0;
    }
    CHECK(decoded > 0);
    CHECK(decoded < 20000);
}

TEST_CASE("feedfs records: a small file's record is small") {
    Inode inode;
    inode.id = 5'000'000;
    inode.uid = inode.gid = 1000;
    inode.mtime_ns = inode.ctime_ns = inode.atime_ns = 1'790'000'000'000'000'000;
    inode.size_bytes = 10240;
    const std::uint32_t crc = 0x12345678;
    inode.content.append({70'000, 40'000'000 / 4096 * 4096, 10240, 0}, &crc);
    CHECK(encode_inode(inode).size() <= 42);
}

TEST_CASE("feedfs records: the other tables' records come back, and cut ones are refused") {
    const DirectoryRecord directory{77, std::string("n\0\xff", 3)};
    CHECK(*decode_directory(encode(directory)) == directory);
    const SegmentRecord segment{3, 9, 1ULL << 40, 64 << 20, true, SegmentRecord::kFast | SegmentRecord::kObject};
    CHECK(*decode_segment(encode(segment)) == segment);
    const LeaseRecord lease{"host", "boot", 1234, 99, -5, "mount"};
    CHECK(*decode_lease(encode(lease)) == lease);
    const RetiredRecord retired{1'790'000'000'000'000'000};
    CHECK(*decode_retired(encode(retired)) == retired);
    const VolumeRecord volume{kSchemaVersion, kVolumeId};
    CHECK(*decode_volume(encode(volume)) == volume);
    for (std::size_t cut = 0; cut < encode(segment).size(); ++cut)
        CHECK(decode_segment(encode(segment).substr(0, cut)).error().errno_value == EUCLEAN);
    for (std::size_t cut = 0; cut < encode(lease).size(); ++cut)
        CHECK(decode_lease(encode(lease).substr(0, cut)).error().errno_value == EUCLEAN);
    CHECK(decode_retired("").error().errno_value == EUCLEAN);
    CHECK(decode_directory("\x02x").error().errno_value == EPROTONOSUPPORT);
}

TEST_CASE("feedfs keys: order is that of numbers, and each key says what it is of") {
    CHECK(entry_key(1, "z") < entry_key(2, "a"));
    CHECK(entry_key(255, "") < entry_key(256, ""));
    CHECK(segment_key(0xffff) < segment_key(0x10000));
    CHECK(parent_of_entry_key(entry_key(1ULL << 40, "name")) == 1ULL << 40);
    CHECK(name_of_entry_key(entry_key(3, "name")) == "name");
    CHECK(name_of_entry_key(root_key()).empty());
    CHECK(entries_behind(3, "a").from > entry_key(3, "a"));
    CHECK(entries_behind(3, "a").from < entry_key(3, std::string("a\0\0", 3)));
    CHECK(keys_with_prefix("a\xff\xff").to == "b");
    CHECK(keys_with_prefix("\xff").to.empty());
}

TEST_CASE("feedfs varints: every length, and what is no number") {
    for (int shift = 0; shift < 64; ++shift) {
        for (const std::uint64_t value : {1ULL << shift, (1ULL << shift) - 1, ~0ULL << shift}) {
            std::string bytes;
            put_varint(bytes, value);
            std::string_view rest = bytes;
            std::uint64_t read = 0;
            REQUIRE(get_varint(rest, read));
            REQUIRE(read == value);
            REQUIRE(rest.empty());
            REQUIRE(add_difference(77, zigzag_difference(value, 77)) == value);
        }
    }
    std::string_view too_long = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
    std::uint64_t read = 0;
    CHECK_FALSE(get_varint(too_long, read));
    std::string_view cut = "\xff";
    CHECK_FALSE(get_varint(cut, read));
}

TEST_CASE("feedfs records: long extent lists lie in pages, any part of which is one look-up away") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name, {"--appendonly", "no"});
        auto engine = rig.create();
        std::mt19937_64 random(3);
        Inode inode = random_inode(random, 3000);
        Batch batch;
        put_entry(batch, entry_key(kRootInode, "large"), inode);
        REQUIRE(applied(*engine, batch));
        Inode read;
        REQUIRE(decode_inode(*value_of(*engine, entry_key(kRootInode, "large")), read));
        CHECK(read.extents_in_pages);
        CHECK(read.extent_count == 3000);
        CHECK(read.content.extents.empty());
        const std::size_t pages = contents(*engine, extent_pages_of(inode.id)).size();
        CHECK(pages > 3);
        auto view = engine->read();
        ExtentList list;
        REQUIRE(read_extents(**view, read, 0, inode.size_bytes, list));
        CHECK(list == inode.content);
        for (int i = 0; i < 200; ++i) {
            const std::uint64_t offset = random() % inode.size_bytes;
            const std::uint64_t bytes = 1 + random() % (1 << 20);
            REQUIRE(read_extents(**view, read, offset, bytes, list));
            REQUIRE(list.file_offset <= offset);
            REQUIRE(list.file_offset + list.payload_bytes() >= std::min(inode.size_bytes, offset + bytes));
            REQUIRE(list.extents.size() < 1300);
            std::uint64_t at = 0; // the part is the whole's, extent by extent, with its checksums
            std::size_t first = 0;
            while (at < list.file_offset) at += inode.content.extents[first++].payload_bytes;
            REQUIRE(at == list.file_offset);
            for (std::size_t e = 0; e < list.extents.size(); ++e) {
                const Extent& whole = inode.content.extents[first + e];
                REQUIRE(list.extents[e].offset == whole.offset);
                REQUIRE(list.extents[e].segment == whole.segment);
                REQUIRE(list.block_crcs[list.extents[e].crc_first] == inode.content.block_crcs[whole.crc_first]);
            }
        }
        view->reset();
        Batch rename; // the record moves without its pages
        rename.erase(entry_key(kRootInode, "large"));
        put_entry(rename, entry_key(kRootInode, "moved"), read);
        REQUIRE(applied(*engine, rename));
        CHECK(contents(*engine, extent_pages_of(inode.id)).size() == pages);
        Batch damage;
        damage.erase_range(
            {extent_page_key(inode.id, inode.size_bytes / 2), extent_page_key(inode.id, inode.size_bytes)});
        REQUIRE(applied(*engine, damage));
        auto after = engine->read();
        CHECK(read_extents(**after, read, inode.size_bytes / 2 + (2 << 20), 1, list).error().errno_value == EUCLEAN);
        after->reset();
        Batch erase;
        erase_entry(erase, entry_key(kRootInode, "moved"), read);
        REQUIRE(applied(*engine, erase));
        CHECK(contents(*engine, all_extent_pages()).empty());
    }
}

TEST_CASE("feedfs records: live bytes are counted for each segment") {
    MemoryEngine engine;
    ExtentList list;
    const std::vector<std::uint32_t> crcs(4, 0);
    list.append({5, 0, 100, 0}, crcs.data());
    list.append({6, 0, 200, 0}, crcs.data());
    list.append({5, 4096, 50, 0}, crcs.data());
    Batch put;
    add_live(put, list, 1);
    add_totals(put, {.files = 1, .payload_bytes = 350});
    REQUIRE(applied(engine, put));
    CHECK(decode_counters(*value_of(engine, live_key(5))) == std::vector<std::int64_t>{150, 2});
    CHECK(decode_counters(*value_of(engine, live_key(6))) == std::vector<std::int64_t>{200, 1});
    CHECK(decode_counters(*value_of(engine, counter_key(kTotals))) == std::vector<std::int64_t>{1, 0, 0, 350});
    Batch erase;
    add_live(erase, list, -1);
    REQUIRE(applied(engine, erase));
    CHECK(decode_counters(*value_of(engine, live_key(5))) == std::vector<std::int64_t>{0, 0});
}

} // namespace
