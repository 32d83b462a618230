// The entries that the feedfs backend keeps of what lies beside the files that it opened.
#include "storage/feedfs/metadata/schema.hpp"
#include "storage/feedfs_entries.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

// More than one page of 2 MiB holds, of folders whose names are alike.
constexpr std::uint64_t kFolders = 3, kFilesOfEach = 15'000;
constexpr feedfs::InodeId kFirstFolder = 7;

std::string name_of(std::uint64_t i) { return "img_" + std::to_string(i); }

feedfs::Inode entry_of(std::uint64_t folder, std::uint64_t i) {
    feedfs::Inode inode;
    inode.id = 100 + folder * kFilesOfEach + i;
    inode.size_bytes = 1 + i % 60'000;
    inode.mtime_ns = static_cast<std::int64_t>(i);
    const auto crc = static_cast<std::uint32_t>(inode.id * 2'654'435'761U);
    inode.content.append({.segment = 1 + i % 50,
                          .offset = inode.id * feedfs::kRecordAlignment,
                          .payload_bytes = static_cast<std::uint32_t>(inode.size_bytes)},
                         &crc);
    inode.extent_count = 1;
    return inode;
}

TEST_CASE("feedfs entries: of many files each is found by its own name and folder, and no other is") {
    MetadataRig rig("memory");
    auto engine = rig.create();
    feedfs::Batch batch;
    for (std::uint64_t folder = 0; folder < kFolders; ++folder)
        for (std::uint64_t i = 0; i < kFilesOfEach; ++i)
            batch.put(feedfs::entry_key(kFirstFolder + folder, name_of(i)), feedfs::encode_inode(entry_of(folder, i)));
    REQUIRE(applied(*engine, batch));
    auto view = engine->read();
    REQUIRE(view);
    const std::uint64_t state = (*view)->state_number();
    storage::FeedfsEntries entries;
    std::uint64_t found = 0, right = 0;
    for (int turn = 0; turn < 3; ++turn) {
        found = right = 0;
        for (std::uint64_t n = 0; n < kFolders * kFilesOfEach; ++n) {
            const std::uint64_t at = n * 7919 % (kFolders * kFilesOfEach);
            const std::uint64_t folder = at / kFilesOfEach, i = at % kFilesOfEach;
            const feedfs::Inode expected = entry_of(folder, i);
            feedfs::Inode inode;
            entries.prefetch(kFirstFolder + folder, name_of(i));
            if (entries.find(state, kFirstFolder + folder, name_of(i), inode)) {
                ++found;
                right += inode.id == expected.id && inode.size_bytes == expected.size_bytes &&
                         inode.mtime_ns == expected.mtime_ns && inode.content == expected.content;
            } else
                entries.read_ahead(**view, kFirstFolder + folder, name_of(i), expected);
        }
        CHECK(right == found);
    }
    CHECK(entries.size() == kFolders * kFilesOfEach); // each once
    CHECK(found == kFolders * kFilesOfEach);
    feedfs::Inode inode;
    std::uint64_t strangers = 0;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        strangers += entries.find(state, kFirstFolder + kFolders, name_of(i), inode);
        strangers += entries.find(state, kFirstFolder, "jpg_" + std::to_string(i), inode);
    }
    CHECK(strangers == 0);
}

} // namespace
