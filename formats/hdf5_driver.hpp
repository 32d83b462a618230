// A file driver for libhdf5 in which only metadata is real: sample bytes are neither read nor written, their places are
// noted.
//
// Thread: under hdf5::Library. Owner: the caller; a Medium outlives the file opened on it. Units: bytes.
// Errors: a failed read fails the library's call, the medium keeps why.
// Source: HDF5 1.10 H5FDpublic.h. With it a file's layout is made without writing its data, and read without reading
// its data, from anything that can fetch bytes. The place of a chunk comes from a dry H5Dread_chunk: H5Dget_chunk_info
// walks all chunks for each question, which is quadratic for a file of many chunks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "formats/hdf5_library.hpp"
#include "harness/types/error.hpp"

namespace feedbench::formats::hdf5 {

// What a file lies on, seen by the driver.
struct Medium {
    // Reading an existing file: its size, and how its bytes are fetched. Empty = a new file, kept in `pages`.
    std::function<Status(std::uint64_t offset, std::span<std::byte> out)> read;
    std::uint64_t file_bytes = 0; // grows with a new file
    Status failure;               // first failure of `read`

    // New file: the pages that hold metadata; everything else is zeros or sample bytes.
    static constexpr std::uint64_t kPageBytes = 4096;
    using Page = std::array<std::byte, kPageBytes>;
    std::map<std::uint64_t, Page> pages; // by page number

    // The last access to sample bytes: where it would have been.
    std::uint64_t raw_offset = UINT64_MAX, raw_bytes = 0;
};

Handle create_on(Medium& medium, bool latest_version);
Handle open_on(Medium& medium);

} // namespace feedbench::formats::hdf5
