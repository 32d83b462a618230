#include "storage/feedfs_entries.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "storage/feedfs/metadata/schema.hpp"

namespace feedbench::storage {

namespace {
constexpr std::size_t kIndexLeast = 1 << 12;
constexpr std::size_t kHugePageBytes = 2 << 20;

std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes < kHugePageBytes ? 64 : kHugePageBytes};
}
} // namespace

void* allocate_entries(std::size_t bytes) {
    void* const memory = ::operator new(bytes, alignment_of(bytes));
    if (bytes >= kHugePageBytes) (void)::madvise(memory, bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
    return memory;
}
void free_entries(void* memory, std::size_t bytes) { ::operator delete(memory, alignment_of(bytes)); }

std::uint64_t FeedfsEntries::hash_of(feedfs::InodeId parent, std::string_view name) {
    return (std::hash<std::string_view>{}(name) ^ parent * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL >> 20;
}

std::size_t FeedfsEntries::slot_of(std::uint64_t hash, feedfs::InodeId parent, std::string_view name) const {
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = hash & mask;
    for (; index_[slot] != 0; slot = (slot + 1) & mask) {
        if ((index_[slot] & ~kPlaceMask) != tag_of(hash)) continue; // without a look at the entry, which is far away
        const Entry& entry = entries_[(index_[slot] & kPlaceMask) - 1];
        if (entry.parent == parent && std::string_view(entry.name, entry.name_bytes) == name) break;
    }
    return slot;
}

void FeedfsEntries::prefetch(feedfs::InodeId parent, std::string_view name) const {
    if (!entries_.empty()) __builtin_prefetch(&index_[hash_of(parent, name) & (index_.size() - 1)]);
}

void FeedfsEntries::forget() {
    looked_up_ = 0;
    if (entries_.empty()) return;
    entries_.clear();
    std::ranges::fill(index_, 0U);
}

bool FeedfsEntries::find(std::uint64_t state, feedfs::InodeId parent, std::string_view name, feedfs::Inode& inode) {
    if (state != state_) {
        forget();
        state_ = state;
    }
    if (entries_.empty() || name.size() > kNameBytes) return false;
    const std::uint32_t found = index_[slot_of(hash_of(parent, name), parent, name)];
    if (found == 0) return false;
    const Entry& entry = entries_[(found & kPlaceMask) - 1];
    inode.type = feedfs::InodeType::file;
    inode.id = entry.id;
    inode.size_bytes = entry.payload_bytes;
    inode.mtime_ns = entry.mtime_ns;
    inode.extents_in_pages = false;
    inode.extent_count = 1;
    inode.content.clear(); // which keeps its memory
    inode.content.append({.segment = entry.segment,
                          .offset = std::uint64_t{entry.offset_blocks} * feedfs::kRecordAlignment,
                          .payload_bytes = entry.payload_bytes},
                         &entry.crc);
    return true;
}

bool FeedfsEntries::is_kept(feedfs::InodeId parent, std::string_view name, const feedfs::Inode& inode) {
    const auto& content = inode.content;
    if (name.size() > kNameBytes || parent > UINT32_MAX || inode.type != feedfs::InodeType::file ||
        inode.extents_in_pages || content.extents.size() != 1 || content.block_crcs.size() != 1)
        return false;
    const feedfs::Extent& extent = content.extents.front();
    return extent.payload_bytes == inode.size_bytes && extent.segment <= UINT32_MAX &&
           extent.offset / feedfs::kRecordAlignment <= UINT32_MAX;
}

void FeedfsEntries::read_ahead(feedfs::ReadView& view, feedfs::InodeId parent, std::string_view name,
                               const feedfs::Inode& found) {
    if (state_ == 0 || !is_kept(parent, name, found)) return; // what is not kept would be looked for at every opening
    const std::size_t run = std::min<std::uint64_t>(kRunMost, ++looked_up_ / kLookUpsPerEntry);
    if (run == 0 || entries_.size() + run > kEntriesMost) return;
    if (index_.empty()) {
        index_.resize(kIndexLeast);
        entries_.reserve(kEntriesMost); // addresses: memory comes as it is filled, and is never copied
    }
    const feedfs::KeyRange range{feedfs::entry_key(parent, name), feedfs::entries_of(parent).to};
    (void)view.scan(range, run, [&](std::string_view key, std::string_view record) {
        return take_in(parent, feedfs::name_of_entry_key(key), record);
    });
}

// False: it is there already, and so is what lies behind it.
bool FeedfsEntries::take_in(feedfs::InodeId parent, std::string_view name, std::string_view record) {
    if (!feedfs::decode_inode(record, decoded_) || !is_kept(parent, name, decoded_)) return true;
    const feedfs::Extent& extent = decoded_.content.extents.front();
    if (entries_.size() * 2 >= index_.size()) grow();
    const std::uint64_t hash = hash_of(parent, name);
    std::uint32_t& slot = index_[slot_of(hash, parent, name)];
    if (slot != 0) return false;
    Entry entry{.parent = static_cast<std::uint32_t>(parent),
                .segment = static_cast<std::uint32_t>(extent.segment),
                .offset_blocks = static_cast<std::uint32_t>(extent.offset / feedfs::kRecordAlignment),
                .payload_bytes = extent.payload_bytes,
                .crc = decoded_.content.block_crcs.front(),
                .name_bytes = static_cast<std::uint8_t>(name.size()),
                .name = {},
                .id = decoded_.id,
                .mtime_ns = decoded_.mtime_ns};
    std::memcpy(entry.name, name.data(), name.size());
    entries_.push_back(entry);
    slot = static_cast<std::uint32_t>(entries_.size()) | tag_of(hash);
    return true;
}

void FeedfsEntries::grow() {
    index_.assign(index_.size() * 2, 0);
    const std::size_t mask = index_.size() - 1;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        const std::uint64_t hash = hash_of(entry.parent, {entry.name, entry.name_bytes});
        std::size_t slot = hash & mask;
        while (index_[slot] != 0) slot = (slot + 1) & mask; // each is there once
        index_[slot] = (i + 1) | tag_of(hash);
    }
}

} // namespace feedbench::storage
