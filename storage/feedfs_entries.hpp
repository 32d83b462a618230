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

class FeedfsEntries {
  public:
    static constexpr std::size_t kEntriesMost = 1 << 20;

    // state 0: not known, nothing is kept. True: what reading needs of the entry's is in `inode` (type, id, size,
    // mtime, content).
    bool find(std::uint64_t state, feedfs::InodeId parent, std::string_view name, feedfs::Inode& inode);
    // After find() answered false, and the engine `found`, in that very state: takes in what lies from there on. The
    // first look-ups of a state take in nothing, later ones more and more: where the metadata changes with every file
    // it would be for nothing.
    void read_ahead(feedfs::ReadView& view, feedfs::InodeId parent, std::string_view name, const feedfs::Inode& found);
    std::size_t size() const { return entries_.size(); }

  private:
    static constexpr std::size_t kNameBytes = 27, kRunMost = 64, kLookUpsPerEntry = 16;
    struct alignas(64) Entry {
        std::uint32_t parent, segment, offset_blocks, payload_bytes, crc;
        std::uint8_t name_bytes;
        char name[kNameBytes];
        std::uint64_t id;
        std::int64_t mtime_ns;
    };
    static_assert(sizeof(Entry) == 64); // one line of the cache
    static bool is_kept(feedfs::InodeId parent, std::string_view name, const feedfs::Inode& inode);
    static std::uint64_t hash_of(feedfs::InodeId parent, std::string_view name);
    std::size_t slot_of(feedfs::InodeId parent, std::string_view name) const; // its own, or where it would be
    bool take_in(feedfs::InodeId parent, std::string_view name, std::string_view record);
    void grow();
    void forget();

    std::uint64_t state_ = 0;
    std::uint64_t looked_up_ = 0; // in this state
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> index_; // power of two; 0: empty, else entry + 1
    feedfs::Inode decoded_;
};

} // namespace feedbench::storage
