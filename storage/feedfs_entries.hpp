// Entries of small files that lie beside those that were opened: copied out of the metadata engine in the order of
// names, so that opening them costs one look into a table of the loop's own. Whoever opens some files of a folder in a
// random order, as training does, opens most of them; a walk down LMDB's tree waits for memory in eight places, a step
// to the next entry hardly ever.
//
// Holds for one state of the metadata (ReadView::state_number), and is forgotten with it. Files of one record and one
// checksum (64 KiB) with names of at most 27 bytes; of everything else it knows nothing.
// Thread: reactor thread. Owner: FeedfsBackend. Units: bytes; at most kEntriesMost of 64 bytes, and their index.
// Errors: none; what the engine cannot read the look-up itself will tell. Internal to storage/feedfs*.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/feedfs/metadata/engine.hpp"
#include "storage/feedfs/metadata/inode.hpp"

namespace feedbench::storage {

// Of memory that is looked at in a random order: with pages of 4 KiB each look would miss the processor's list of pages
// too. From 2 MiB on it lies in pages of that size, where the kernel has them.
void* allocate_entries(std::size_t bytes);
void free_entries(void* memory, std::size_t bytes);
template <class T>
struct EntriesAllocator {
    using value_type = T;
    EntriesAllocator() = default;
    template <class U>
    explicit EntriesAllocator(const EntriesAllocator<U>&) {}
    T* allocate(std::size_t count) { return static_cast<T*>(allocate_entries(count * sizeof(T))); }
    void deallocate(T* memory, std::size_t count) { free_entries(memory, count * sizeof(T)); }
    bool operator==(const EntriesAllocator&) const { return true; }
};

class FeedfsEntries {
  public:
    static constexpr std::size_t kEntriesMost = 1 << 20;

    // state 0: not known, nothing is kept. True: what reading needs of the entry's is in `inode` (type, id, size,
    // mtime, content).
    bool find(std::uint64_t state, feedfs::InodeId parent, std::string_view name, feedfs::Inode& inode);
    // Begins to fetch what find() will look at first. For who knows the name some time before the state.
    void prefetch(feedfs::InodeId parent, std::string_view name) const;
    // After find() answered false, and the engine `found`, in that very state: takes in what lies from there on. The
    // first look-ups of a state take in nothing, later ones more and more: where the metadata changes with every file
    // it would be for nothing.
    void read_ahead(feedfs::ReadView& view, feedfs::InodeId parent, std::string_view name, const feedfs::Inode& found);
    std::size_t size() const { return entries_.size(); }

  private:
    static constexpr std::uint32_t kPlaceMask = (1U << 21) - 1; // of an index value; the rest is the hash's
    static constexpr std::size_t kNameBytes = 27, kRunMost = 64, kLookUpsPerEntry = 16;
    struct alignas(64) Entry {
        std::uint32_t parent, segment, offset_blocks, payload_bytes, crc;
        std::uint8_t name_bytes;
        char name[kNameBytes];
        std::uint64_t id;
        std::int64_t mtime_ns;
    };
    static_assert(sizeof(Entry) == 64); // one line of the cache
    static_assert(kEntriesMost <= kPlaceMask);
    template <class T>
    using Values = std::vector<T, EntriesAllocator<T>>;
    static bool is_kept(feedfs::InodeId parent, std::string_view name, const feedfs::Inode& inode);
    static std::uint64_t hash_of(feedfs::InodeId parent, std::string_view name);
    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 12) & ~kPlaceMask; }
    // Its own, or where it would be.
    std::size_t slot_of(std::uint64_t hash, feedfs::InodeId parent, std::string_view name) const;
    bool take_in(feedfs::InodeId parent, std::string_view name, std::string_view record);
    void grow();
    void forget();

    std::uint64_t state_ = 0;
    std::uint64_t looked_up_ = 0; // in this state
    Values<Entry> entries_;
    Values<std::uint32_t> index_; // power of two; 0: empty, else entry + 1 with some bits of its hash above
    feedfs::Inode decoded_;
};

} // namespace feedbench::storage
