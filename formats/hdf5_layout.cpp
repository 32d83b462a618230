#include "formats/hdf5_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace feedbench::formats::hdf5 {

namespace {
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 60;
constexpr std::uint64_t kChunkBytesMax = 0xffffffff; // of the file format
// Limits that keep the memory of one file bounded (16 bytes a chunk); far above any dataset in use.
constexpr std::uint64_t kChunkCountMax = std::uint64_t{1} << 24;
constexpr std::uint32_t kDatasetCountMax = 4096;
constexpr std::size_t kRankMax = 31; // 32 in the file format, one is the sample axis

std::vector<std::uint64_t> full_dims(const FileShape& shape) {
    std::vector<std::uint64_t> dims{shape.sample_count};
    dims.insert(dims.end(), shape.dims.begin(), shape.dims.end());
    return dims;
}

// The product of `values` and `start`, or nothing where it passes `limit`.
std::optional<std::uint64_t> bounded_product(std::uint64_t start, const std::vector<std::uint64_t>& values,
                                             std::uint64_t limit) {
    std::uint64_t product = start;
    for (const std::uint64_t value : values) {
        if (value == 0 || product > limit / value) return std::nullopt;
        product *= value;
    }
    return product;
}

std::string text_of(const std::vector<std::uint64_t>& dims) {
    std::string text;
    for (const std::uint64_t d : dims)
        text += (text.empty() ? "" : " x ") + (d == kUnlimited ? "unlimited" : std::to_string(d));
    return text;
}

Status refuse(const std::string& message) { return config_error("format hdf5: " + message); }

Status check_chunks(const FileShape& shape) {
    const std::vector<std::uint64_t> dims = full_dims(shape), limits = max_dims_of(shape), chunk = chunk_dims_of(shape);
    if (limits.size() != dims.size())
        return refuse("max_shape must name the sample's " + std::to_string(shape.dims.size()) +
                      " dimensions, or one more for the sample axis in front");
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (limits[i] < dims[i])
            return refuse("max_shape " + text_of(limits) + " is smaller than the data, " + text_of(dims));
    if (chunk.empty()) return {};
    if (chunk.size() != dims.size())
        return refuse("chunk_dims must name the sample's " + std::to_string(shape.dims.size()) +
                      " dimensions, or one more for the sample axis in front");
    const auto chunk_bytes = bounded_product(shape.element_bytes, chunk, kChunkBytesMax);
    if (!chunk_bytes) return refuse("a chunk of " + text_of(chunk) + " is empty or larger than 4 GiB");
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (chunk[i] > limits[i])
            return refuse("a chunk of " + text_of(chunk) + " is larger than the data, " + text_of(dims));
    std::vector<std::uint64_t> grid;
    for (std::size_t i = 0; i < dims.size(); ++i) grid.push_back((dims[i] - 1) / chunk[i] + 1);
    if (!bounded_product(shape.record_dataset_count, grid, kChunkCountMax))
        return refuse("chunks of " + text_of(chunk) + " make more than " + std::to_string(kChunkCountMax) +
                      " chunks a file");
    return {};
}
} // namespace

void Layout::derive() {
    is_chunked = !shape.chunk_dims.empty();
    is_compressed = shape.compression != FileShape::Compression::none;
    if (!is_chunked) {
        unit_bytes = shape.sample_bytes();
        unit_count = shape.sample_count;
        return;
    }
    const std::vector<std::uint64_t> dims = full_dims(shape);
    unit_bytes = shape.element_bytes;
    units_per_row = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        unit_bytes *= shape.chunk_dims[i];
        if (i > 0) units_per_row *= (dims[i] - 1) / shape.chunk_dims[i] + 1;
    }
    samples_per_row = shape.chunk_dims[0];
    unit_count = ((dims[0] - 1) / shape.chunk_dims[0] + 1) * units_per_row;
}

Unit Layout::unit(std::uint32_t dataset, std::uint64_t index) const {
    if (is_chunked) return chunks[dataset][index];
    return {first_offsets[dataset] + index * unit_bytes, unit_bytes};
}

// h5py's rule (its _hl/filters.py): a target between 8 KiB and 1 MiB that grows with the dataset; axes are halved in
// turn.
std::vector<std::uint64_t> guess_chunk_dims(const std::vector<std::uint64_t>& dims, std::uint64_t element_bytes) {
    constexpr double kBase = 16 * 1024, kLow = 8 * 1024, kHigh = 1024 * 1024;
    std::vector<double> chunk(dims.begin(), dims.end());
    const auto elements = [&] {
        double product = 1;
        for (const double c : chunk) product *= c;
        return product;
    };
    const double total_bytes = elements() * static_cast<double>(element_bytes);
    const double target = std::clamp(kBase * std::exp2(std::log10(total_bytes / kHigh)), kLow, kHigh);
    for (std::size_t i = 0;; ++i) {
        const double bytes = elements() * static_cast<double>(element_bytes);
        if ((bytes < target || std::abs(bytes - target) / target < 0.5) && bytes < kHigh) break;
        if (elements() == 1) break;
        double& axis = chunk[i % chunk.size()];
        axis = std::ceil(axis / 2);
    }
    std::vector<std::uint64_t> guess;
    for (const double c : chunk) guess.push_back(static_cast<std::uint64_t>(c));
    return guess;
}

std::vector<std::uint64_t> max_dims_of(const FileShape& shape) {
    if (shape.max_shape.empty()) return full_dims(shape);
    std::vector<std::uint64_t> limits = shape.max_shape;
    if (limits.size() == shape.dims.size()) limits.insert(limits.begin(), shape.sample_count);
    for (std::uint64_t& limit : limits)
        if (limit == 0) limit = kUnlimited; // YAML has no word for unlimited; nothing else could be meant by 0
    return limits;
}

std::vector<std::uint64_t> chunk_dims_of(const FileShape& shape) {
    std::vector<std::uint64_t> chunk = shape.chunk_dims;
    if (!chunk.empty()) {
        if (chunk.size() == shape.dims.size()) chunk.insert(chunk.begin(), 1);
        return chunk;
    }
    const bool needs_chunks =
        shape.compression != FileShape::Compression::none || max_dims_of(shape) != full_dims(shape);
    return needs_chunks ? guess_chunk_dims(full_dims(shape), shape.element_bytes) : chunk;
}

Status check_shape(const FileShape& shape) {
    const std::uint32_t width = shape.element_bytes;
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return refuse("elements of " + std::to_string(width) + " bytes; 1, 2, 4 or 8 are possible");
    if (shape.dims.empty() || shape.dims.size() > kRankMax)
        return refuse("a sample has 1 to " + std::to_string(kRankMax) + " dimensions, not " +
                      std::to_string(shape.dims.size()));
    if (shape.sample_count == 0) return refuse("a file holds at least one sample");
    if (shape.record_dataset_count == 0 || shape.record_dataset_count > kDatasetCountMax)
        return refuse("num_dset_per_record is 1 to " + std::to_string(kDatasetCountMax) + ", not " +
                      std::to_string(shape.record_dataset_count));
    if (!bounded_product(std::uint64_t{width} * shape.record_dataset_count, full_dims(shape), kFileBytesMax))
        return refuse("samples of " + text_of(shape.dims) + " are empty or too large for one file");
    if (shape.compression == FileShape::Compression::zip)
        return refuse("compression is gzip or none; zip belongs to npz");
    if (shape.compression_level < 0 || shape.compression_level > 9)
        return refuse("compression_level is 0 to 9, not " + std::to_string(shape.compression_level));
    return check_chunks(shape);
}

Status check_expected(const std::string& path, const Layout& found, const FileShape& expected) {
    if (expected.dims.empty()) return {};
    const FileShape& is = found.shape;
    if (is.dims != expected.dims || is.sample_count != expected.sample_count)
        return format_error(path, "holds samples of shape " + text_of(full_dims(is)) + ", expected " +
                                      text_of(full_dims(expected)));
    if (is.element_bytes != expected.element_bytes)
        return format_error(path, "holds elements of " + std::to_string(is.element_bytes) + " bytes, expected " +
                                      std::to_string(expected.element_bytes));
    if (is.record_dataset_count != expected.record_dataset_count)
        return format_error(path, "holds " + std::to_string(is.record_dataset_count) + " record datasets, expected " +
                                      std::to_string(expected.record_dataset_count));
    return {};
}

} // namespace feedbench::formats::hdf5
