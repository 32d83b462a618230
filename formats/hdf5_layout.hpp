// Where in an HDF5 file the samples lie: by datasets, and in each by units that the library would read in one piece.
//
// Thread: plain values, const after making. Owner: the holder. Units: bytes, file offsets from byte 0 of the file.
// Errors: format_error for a file that is not what was expected.
// Source: reference.md section 1: records_0..k-1 of shape (samples, dims...), labels int64 (samples).
//
// A unit is a sample (contiguous dataset) or a chunk. A sample's bytes are in units_per_row consecutive units; with
// several samples in a chunk they share them and each sample costs its whole chunks, as in the library. Payload offsets
// (what ContentSource and PayloadVisitor count): unit u of dataset d begins at (d * unit_count + u) * unit_bytes. So a
// contiguous file's datasets follow each other, and chunks follow each other in row-major order, edge chunks padded.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/types/dataset_plan.hpp"
#include "harness/types/error.hpp"

namespace feedbench::formats::hdf5 {

struct Unit {
    std::uint64_t offset = 0;
    std::uint64_t stored_bytes = 0; // in the file: unit_bytes, or what compression made of them
};

struct Layout {
    FileShape shape; // as the file has it, chunk_dims with the sample axis
    std::uint64_t file_bytes = 0;
    bool is_chunked = false, is_compressed = false;
    std::uint64_t unit_bytes = 0, unit_count = 0; // of one dataset
    std::uint64_t samples_per_row = 1, units_per_row = 1;
    std::vector<std::vector<Unit>> chunks;    // chunked: by dataset, row-major
    std::vector<std::uint64_t> first_offsets; // contiguous: by dataset

    // Fills what follows from the shape alone (all but offsets); chunk_dims empty = contiguous.
    void derive();
    std::uint32_t dataset_count() const { return shape.record_dataset_count; }
    Unit unit(std::uint32_t dataset, std::uint64_t index) const;
    std::uint64_t payload_offset(std::uint32_t dataset, std::uint64_t index) const {
        return (dataset * unit_count + index) * unit_bytes;
    }
    std::uint64_t first_unit(std::uint32_t sample_index) const {
        return sample_index / samples_per_row * units_per_row;
    }
};

// Answers how many bytes a compressed unit takes in the file.
using StoredBytes = std::function<std::uint32_t(std::uint32_t dataset, std::uint64_t index)>;

// A file without its sample bytes: `literals` are the metadata by offset, everything else outside units is zeros.
struct Template {
    Layout layout;
    std::map<std::uint64_t, std::vector<std::byte>> literals;
};

// Chunk dimensions with the sample axis: as asked, or, where compression or max_shape need chunks and none are named,
// as h5py guesses them. Empty = contiguous.
std::vector<std::uint64_t> chunk_dims_of(const FileShape& shape);
std::vector<std::uint64_t> guess_chunk_dims(const std::vector<std::uint64_t>& dims, std::uint64_t element_bytes);
// Largest extent of each axis, sample axis first; UINT64_MAX = unlimited.
std::vector<std::uint64_t> max_dims_of(const FileShape& shape);

Status check_shape(const FileShape& shape);
// `stored_bytes` is called for compressed shapes only.
Expected<Template> make_template(const FileShape& shape, const StoredBytes& stored_bytes);

// Fetches bytes of the file.
using ReadAt = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;
struct MetadataRequest {
    std::string path; // for messages
    std::uint64_t file_bytes = 0;
    std::uint32_t dataset_count = 0; // 0: as many as there are
    ReadAt read;
};
// Reads metadata only. Every unit lies within the file.
Expected<Layout> read_layout(const MetadataRequest& request);
// Refuses a file whose samples are not what the plan expects (dims empty: any).
Status check_expected(const std::string& path, const Layout& found, const FileShape& expected);

} // namespace feedbench::formats::hdf5
