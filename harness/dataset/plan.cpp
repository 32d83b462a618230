#include "harness/dataset/plan.hpp"

#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "harness/dataset/size_index.hpp"

namespace feedbench::dataset {

namespace {

constexpr double kLargestBytes = 0x1p62; // of a file and of a split: sums stay inside 64 bits

std::size_t digit_count(std::uint64_t value) {
    std::size_t digits = 1;
    while (value >= 10) value /= 10, ++digits;
    return digits;
}

void append_padded(std::string& out, std::uint64_t value, std::size_t width) {
    std::array<char, 20> digits;
    std::size_t at = digits.size();
    do digits[--at] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (digits.size() - at < width) digits[--at] = '0';
    out.append(digits.data() + at, digits.size() - at);
}

Expected<FileShape::Compression> parse_compression(const std::string& text) {
    if (text.empty() || text == "none") return FileShape::Compression::none;
    if (text == "gzip") return FileShape::Compression::gzip;
    if (text == "zip") return FileShape::Compression::zip;
    return config_error(fmt::format("unknown compression \"{}\": none, gzip or zip", text), "dataset.compression");
}

// Every reason why this section cannot be a dataset; sizes are checked for room in 64 bits before anything is
// multiplied.
Status check(const DatasetSection& s, std::uint64_t files, std::uint32_t samples, double largest_sample_bytes) {
    if (s.file_prefix.empty() || s.file_prefix.find('/') != std::string::npos)
        return config_error(fmt::format("\"{}\" cannot begin a file name", s.file_prefix), "dataset.file_prefix");
    if (samples == 0) return config_error("0 samples in a file", "dataset.num_samples_per_file");
    if (s.record_element_bytes == 0) return config_error("an element of 0 bytes", "dataset.record_element_bytes");
    if (s.num_dset_per_record == 0) return config_error("0 datasets in a record", "dataset.num_dset_per_record");
    if (s.seed > std::numeric_limits<std::uint32_t>::max())
        return config_error(
            fmt::format("{} is larger than 4294967295, the largest seed of the reference generator", s.seed),
            "dataset.seed");
    const double file_bytes = largest_sample_bytes * samples;
    if (!(file_bytes * static_cast<double>(std::max<std::uint64_t>(files, 1)) < kLargestBytes))
        return config_error(
            fmt::format("{} files of up to {:.3g} bytes are more than this tool can count", files, file_bytes),
            "dataset");
    return {};
}

Status check_record(const DatasetSection& s) {
    for (const std::uint64_t d : s.record_dims)
        if (d == 0) return config_error("a dimension of 0", "dataset.record_dims");
    if (!s.record_dims.empty()) return {};
    if (!(s.record_length_bytes >= 1) || !std::isfinite(s.record_length_bytes))
        return config_error(fmt::format("{} is not a length: at least 1 byte", s.record_length_bytes),
                            "dataset.record_length_bytes");
    if (!(s.record_length_bytes_stdev >= 0) || !std::isfinite(s.record_length_bytes_stdev))
        return config_error(fmt::format("{} is not a standard deviation: at least 0", s.record_length_bytes_stdev),
                            "dataset.record_length_bytes_stdev");
    return {};
}

} // namespace

std::string_view split_folder(Split split) { return split == Split::train ? "train" : "valid"; }

struct DatasetPlan::State {
    Split split = Split::train;
    Sizes sizes = Sizes::computed;
    std::uint64_t file_count = 0, first_content_index = 0;
    std::uint32_t subfolder_count = 0;
    std::string prefix; // "train/"
    std::string stem;   // "img_"
    std::string tail;   // "_of_168.npz"
    std::size_t index_width = 1, subfolder_width = 1;
    FileShape shape; // of every file, or with the dims left to `index`
    std::optional<SizeIndex> index;
};

Expected<DatasetPlan> DatasetPlan::make(const DatasetSection& s, Split split, Sizes sizes) {
    const bool is_train = split == Split::train;
    const std::uint64_t files = is_train ? s.num_files_train : s.num_files_eval;
    const std::uint32_t samples =
        is_train || s.num_samples_per_file_eval == 0 ? s.num_samples_per_file : s.num_samples_per_file_eval;
    const std::uint32_t subfolders = is_train ? s.num_subfolders_train : s.num_subfolders_eval;

    if (Status status = check_record(s); !status) return status.error();
    SizeDistribution distribution;
    double largest_sample_bytes = s.record_element_bytes;
    std::uint64_t table_row_bytes = 0;
    for (const TableColumn& column : s.parquet_columns) table_row_bytes += row_bytes(column);
    if (table_row_bytes > 0) {
        largest_sample_bytes = static_cast<double>(table_row_bytes);
    } else if (s.record_dims.empty()) {
        distribution = size_distribution(s.record_length_bytes, s.record_length_bytes_stdev);
        // Polar normals of 53-bit numbers stay below 10 standard deviations.
        largest_sample_bytes *= std::pow(static_cast<double>(distribution.dimension) + 10 * distribution.stdev, 2);
    } else {
        for (const std::uint64_t d : s.record_dims) largest_sample_bytes *= static_cast<double>(d);
    }
    if (Status status = check(s, files, samples, largest_sample_bytes); !status) return status.error();
    Expected<FileShape::Compression> compression = parse_compression(s.compression);
    if (!compression) return compression.error();

    auto state = std::make_shared<State>();
    state->split = split;
    state->sizes = sizes;
    state->file_count = files;
    state->first_content_index = is_train ? 0 : s.num_files_train;
    state->subfolder_count = subfolders > 1 ? subfolders : 0;
    state->prefix = fmt::format("{}/", split_folder(split));
    state->stem = s.file_prefix + "_";
    state->tail = fmt::format("_of_{}.{}", files, s.format);
    state->index_width = digit_count(files);
    state->subfolder_width = digit_count(subfolders);

    FileShape& shape = state->shape;
    shape.sample_count = samples;
    shape.element_bytes = s.record_element_bytes;
    shape.record_dataset_count = s.num_dset_per_record;
    shape.chunk_dims = s.chunk_dims;
    shape.max_shape = s.max_shape;
    shape.compression = *compression;
    shape.compression_level = s.compression_level;
    shape.row_group_rows = s.parquet_row_group_size;
    if (!s.parquet_columns.empty()) shape.columns = std::make_shared<const std::vector<TableColumn>>(s.parquet_columns);
    if (sizes == Sizes::computed) {
        if (table_row_bytes > 0) {
            shape.dims = {table_row_bytes};
            shape.element_bytes = 1;
        } else if (!s.record_dims.empty()) {
            shape.dims = s.record_dims;
        } else {
            shape.dims = {distribution.dimension, distribution.dimension};
            if (distribution.stdev > 0)
                state->index.emplace(distribution, static_cast<std::uint32_t>(s.seed),
                                     SizeIndex::Range{state->first_content_index, files});
        }
    }
    DatasetPlan plan;
    plan.state_ = std::move(state);
    return plan;
}

Split DatasetPlan::split() const { return state_->split; }
std::uint64_t DatasetPlan::file_count() const { return state_->file_count; }
std::uint32_t DatasetPlan::samples_per_file() const { return state_->shape.sample_count; }
std::uint32_t DatasetPlan::subfolder_count() const { return state_->subfolder_count; }
bool DatasetPlan::sizes_vary() const { return state_->index.has_value() || !sizes_known(); }
bool DatasetPlan::sizes_known() const { return state_->sizes == Sizes::computed; }
bool DatasetPlan::shape_is_cheap() const { return !state_->index || state_->index->has_table(); }
std::uint64_t DatasetPlan::content_index(std::uint64_t file_index) const {
    return state_->first_content_index + file_index;
}

void DatasetPlan::name(std::uint64_t file_index, std::string& out) const {
    assert(file_index < state_->file_count);
    out.assign(state_->prefix);
    if (state_->subfolder_count > 0) {
        append_padded(out, file_index % state_->subfolder_count, state_->subfolder_width);
        out += '/';
    }
    out += state_->stem;
    append_padded(out, file_index, state_->index_width);
    out += state_->tail;
}

std::string DatasetPlan::name(std::uint64_t file_index) const {
    std::string out;
    name(file_index, out);
    return out;
}

std::string DatasetPlan::folder(std::uint32_t subfolder_index) const {
    std::string out(split_folder(state_->split));
    if (state_->subfolder_count > 0) {
        assert(subfolder_index < state_->subfolder_count);
        out += '/';
        append_padded(out, subfolder_index, state_->subfolder_width);
    }
    return out;
}

FileShape DatasetPlan::shape(std::uint64_t file_index) const {
    assert(file_index < state_->file_count);
    FileShape shape = state_->shape;
    if (state_->index) {
        const DimensionPair pair = state_->index->at(file_index);
        shape.dims[0] = pair.first;
        shape.dims[1] = pair.second;
    }
    return shape;
}

std::uint64_t DatasetPlan::total_payload_bytes() const {
    if (!sizes_known()) return 0;
    const FileShape& shape = state_->shape;
    if (state_->index) return state_->index->total_elements() * shape.element_bytes * shape.sample_count;
    return shape.payload_bytes() * state_->file_count;
}

std::uint64_t DatasetPlan::total_read_bytes() const {
    const FileShape& shape = state_->shape;
    if (!sizes_known() || !shape.columns) return total_payload_bytes();
    return shape.read_sample_bytes() * shape.sample_count * state_->file_count;
}

SizeCursor::SizeCursor(DatasetPlan plan) : plan_(std::move(plan)) {}
SizeCursor::~SizeCursor() = default;
SizeCursor::SizeCursor(SizeCursor&&) noexcept = default;
SizeCursor& SizeCursor::operator=(SizeCursor&&) noexcept = default;

FileShape SizeCursor::shape(std::uint64_t file_index) {
    if (plan_.shape_is_cheap()) return plan_.shape(file_index);
    // Far ahead (or back) a checkpoint is nearer than the stream's place.
    const std::uint64_t interval = plan_.file_count() / SizeIndex::kCheckpoints;
    if (!stream_ || file_index < position_ || file_index - position_ > interval) {
        stream_ = std::make_unique<SizeStream>(plan_.state_->index->stream_at(file_index));
        position_ = file_index;
    }
    for (; position_ < file_index; ++position_) stream_->next();
    const DimensionPair pair = stream_->next();
    ++position_;
    FileShape shape = plan_.state_->shape;
    shape.dims[0] = pair.first;
    shape.dims[1] = pair.second;
    return shape;
}

} // namespace feedbench::dataset
