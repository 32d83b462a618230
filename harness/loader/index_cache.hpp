// Indexes of files that are being read (formats whose index lies in files of its own): read once, kept for the samples
// that follow, the oldest dropped where they would take more memory than the limit.
//
// Thread: reactor thread. Owner: whoever makes the LoaderContext, one a rank and dataset. Units: bytes. Errors: none.
// Source: the reference's reader reads the index of every file before its first sample and keeps it.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "formats/format.hpp"

namespace feedbench::loader {

class IndexCache {
  public:
    static constexpr std::uint64_t kLimitBytes = formats::kMaxIndexBytes;
    static constexpr std::uint64_t kEntryBytes =
        256; // that keeping one costs besides its own bytes, with room to spare

    using Index = std::shared_ptr<const formats::IndexBytes>;
    explicit IndexCache(std::uint64_t limit_bytes = kLimitBytes) : limit_bytes_(limit_bytes) {}

    // nullptr: not kept; pointer to a null Index: it was read, but the storage has no content.
    const Index* find(std::uint64_t file_index) const;
    // Readers that hold an index keep it beyond its being dropped here.
    void keep(std::uint64_t file_index, Index index);
    std::uint64_t kept_bytes() const { return kept_bytes_; }

  private:
    static std::uint64_t cost(const Index& index);
    std::uint64_t limit_bytes_, kept_bytes_ = 0;
    std::unordered_map<std::uint64_t, Index> kept_;
    std::deque<std::uint64_t> oldest_first_;
};

} // namespace feedbench::loader
