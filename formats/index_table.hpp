// The index of an indexed_binary file: where each sample begins, and how long it is.
//
// Thread: any (const). Owner: the reader; the bytes are shared with whoever keeps them. Units: bytes.
// Errors: format_error naming the index file, the entry, what was found and what was expected.
// Source: reference.md section 1: two files of one uint64 (little endian) a sample. The reference generator begins
// again at offset 0 where it writes a file in several rounds, so that samples may overlap in files of others.
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

class IndexTable {
  public:
    // From request.index, held against request.file_bytes and, where it is known, request.shape (sample_count 0: as
    // many as there are). `names`: the format's, for messages. O(1): each entry is checked when it is asked for.
    static Expected<IndexTable> make(const ReadRequest& request, std::span<const SideFile> names);

    std::uint32_t sample_count() const { return sample_count_; }
    Expected<Extent> at(std::uint32_t sample_index) const;

  private:
    IndexTable() = default;
    std::shared_ptr<const IndexBytes> bytes_;
    std::string path_;
    std::span<const SideFile> names_;
    std::uint64_t file_bytes_ = 0, planned_bytes_ = 0; // of a sample; 0 = only the index knows
    std::uint32_t sample_count_ = 0;
};

// The two files' bytes for samples that lie one after another.
std::string index_of_offsets(const FileShape& shape);
std::string index_of_sizes(const FileShape& shape);

} // namespace feedbench::formats
