// The words in which a dataset is described to formats, generators and loaders: which sample, which file, of what
// shape.
//
// Thread: plain values. Owner: the holder. Units: bytes. Errors: none.
// Source: reference.md section 1 (the reference generator's files). The plan itself is harness/dataset/plan.hpp.
#pragma once

#include "harness/types/table_column.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace feedbench {

enum class Split : std::uint8_t { train, valid };

struct SampleRef {
    std::uint64_t file_index = 0;
    std::uint32_t sample_index = 0; // within the file
    bool operator==(const SampleRef&) const = default;
};

// What one file holds. A sample is dims[0] x dims[1] x ... elements of element_bytes each, element type unsigned
// integer.
struct FileShape {
    std::vector<std::uint64_t> dims; // of one sample, e.g. {15865, 14125} or record_dims
    std::uint32_t sample_count = 1;
    std::uint32_t element_bytes = 1;
    std::uint32_t record_dataset_count = 1; // hdf5: num_dset_per_record
    std::vector<std::uint64_t> chunk_dims;  // hdf5: empty = contiguous
    std::vector<std::uint64_t> max_shape;   // hdf5: empty = fixed
    enum class Compression : std::uint8_t { none, gzip, zip } compression = Compression::none;
    int compression_level = 4;
    // parquet: a sample is a row. nullptr = one column of all its bytes. Shared: hundreds of columns, thousands of
    // opens.
    std::shared_ptr<const std::vector<TableColumn>> columns;
    std::uint32_t row_group_rows = 1024;

    std::uint64_t sample_bytes() const {
        std::uint64_t bytes = element_bytes;
        for (const std::uint64_t d : dims) bytes *= d;
        return bytes;
    }
    std::uint64_t payload_bytes() const { return sample_bytes() * sample_count; }
    // Of a sample, what reading it delivers: of a table, the columns that are read.
    std::uint64_t read_sample_bytes() const {
        if (!columns) return sample_bytes();
        std::uint64_t bytes = 0;
        for (const TableColumn& column : *columns) bytes += column.is_read ? row_bytes(column) : 0;
        return bytes;
    }
};

} // namespace feedbench
