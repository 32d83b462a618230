#include "harness/dataset/sizing.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "harness/dataset/sizes_dlio.hpp"
#include "harness/types/units.hpp"

namespace feedbench::dataset {

namespace {

constexpr double kTooMany = 0x1p62;

double nominal_record_bytes(const DatasetSection& section) {
    if (section.record_dims.empty()) return section.record_length_bytes;
    double bytes = section.record_element_bytes;
    for (const std::uint64_t d : section.record_dims) bytes *= static_cast<double>(d);
    return bytes;
}

// Mean payload of a generated sample. Two independent dimensions: the mean of their product is the product of their
// means.
double mean_generated_bytes(const DatasetSection& section) {
    double row = 0; // of a table: read or not, its columns lie on the disk
    for (const TableColumn& column : section.parquet_columns) row += static_cast<double>(row_bytes(column));
    if (row > 0) return row;
    if (!section.record_dims.empty()) return nominal_record_bytes(section);
    const SizeDistribution distribution =
        size_distribution(section.record_length_bytes, section.record_length_bytes_stdev);
    const auto dimension = static_cast<double>(distribution.dimension);
    // int() takes away half an element on average, where sizes are drawn.
    const double mean = distribution.stdev > 0 ? std::max(1.0, dimension - 0.5) : dimension;
    return mean * mean * section.record_element_bytes;
}

} // namespace

Expected<Sizing> size_dataset(const DatasetSection& section, const SizingRequest& request) {
    if (request.accelerator_count == 0) return usage_error("datasize: at least 1 accelerator");
    if (request.host_count == 0) return usage_error("datasize: at least 1 client host");
    if (request.batch_size == 0) return config_error("a batch of 0 samples", "reader.batch_size");
    if (section.num_samples_per_file == 0) return config_error("0 samples in a file", "dataset.num_samples_per_file");
    if (!(request.memory_GB_per_host > 0) || !std::isfinite(request.memory_GB_per_host))
        return usage_error(fmt::format("datasize: {} GB is no host memory", request.memory_GB_per_host));
    const double record_bytes = nominal_record_bytes(section);
    if (!(record_bytes >= 1) || !std::isfinite(record_bytes))
        return config_error(fmt::format("{} is not a length: at least 1 byte", record_bytes),
                            "dataset.record_length_bytes");

    Sizing sizing;
    const double memory_bytes =
        request.host_count * request.memory_GB_per_host * static_cast<double>(kMemoryMultiple * kGiB);
    const double for_steps = static_cast<double>(kMinimumSteps) * request.batch_size * request.accelerator_count;
    const double for_memory = memory_bytes / record_bytes;
    if (!(std::max(for_steps, for_memory) * std::max(1.0, record_bytes) < kTooMany))
        return config_error("a dataset of this size cannot be counted in 64 bits", "dataset");
    sizing.samples_for_steps = kMinimumSteps * request.batch_size * request.accelerator_count;
    sizing.samples_for_memory = static_cast<std::uint64_t>(for_memory);
    sizing.memory_decides = sizing.samples_for_memory > sizing.samples_for_steps;
    sizing.sample_count = std::max(sizing.samples_for_steps, sizing.samples_for_memory);
    sizing.file_count = std::max<std::uint64_t>(1, sizing.sample_count / section.num_samples_per_file);
    sizing.nominal_bytes = static_cast<std::uint64_t>(static_cast<double>(sizing.sample_count) * record_bytes);
    const std::uint64_t samples_in_files = sizing.file_count * section.num_samples_per_file;
    sizing.disk_bytes =
        static_cast<std::uint64_t>(static_cast<double>(samples_in_files) * mean_generated_bytes(section));
    sizing.steps_per_epoch = samples_in_files / (std::uint64_t{request.batch_size} * request.accelerator_count);
    sizing.explanation =
        fmt::format("{} samples for {} steps of batch {} on {} accelerators; {} samples of {} bytes for {} x the "
                    "memory of {} hosts x {} GB; {} decides: "
                    "{} samples, {} files of {} samples",
                    sizing.samples_for_steps, kMinimumSteps, request.batch_size, request.accelerator_count,
                    sizing.samples_for_memory, record_bytes, kMemoryMultiple, request.host_count,
                    request.memory_GB_per_host, sizing.memory_decides ? "the memory" : "the number of steps",
                    sizing.sample_count, sizing.file_count, section.num_samples_per_file);
    return sizing;
}

} // namespace feedbench::dataset
