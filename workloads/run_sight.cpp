#include "workloads/run_sight.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace feedbench::workloads {

namespace {

// Below this share of accelerator time spent waiting for batches, the storage kept up.
constexpr double kKeptUp = 0.02;
// The fastest reads take less than this part of the mean: the others stood in a queue.
constexpr double kQueued = 0.6;
// Fewer reads under way than this part of the readers, while accelerators wait: the client is not there.
constexpr double kReadersIdle = 0.35;

double metric_or(const RunResult& r, std::string_view key, double otherwise) {
    for (const Metric& metric : r.metrics)
        if (metric.key == key && metric.value) return *metric.value;
    return otherwise;
}

double setting(const RunResult& r, std::string_view key, double otherwise) {
    for (const ConfigValue& value : r.config)
        if (value.key == key) {
            try {
                return std::stod(value.value);
            } catch (const std::exception&) { // a result that somebody edited
                return otherwise;
            }
        }
    return otherwise;
}

// The value below which `share` of the histogram lies.
double quantile_ns(const HistogramData& h, double share) {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(h.count));
    std::uint64_t seen = 0;
    for (const auto& [lower_ns, count] : h.buckets)
        if ((seen += count) > wanted) return static_cast<double>(std::max(lower_ns, h.min_ns));
    return h.mean_ns;
}

} // namespace

const HistogramData* find_histogram(const RunResult& r, std::string_view key) {
    for (const HistogramData& one : r.histograms)
        if (one.key == key && one.count > 0) return &one;
    return nullptr;
}

RunSight look_at(const RunResult& r, const HistogramData& sample, const HistogramData& first_byte) {
    RunSight s;
    s.streams = r.data_loader == "tensorflow";
    const double bytes = metric_or(r, "delivered_MB_per_second", 0);
    s.bytes_per_second = 1e6 * (r.slices.size() >= 5 ? metric_or(r, "sustained_MB_per_second_mean", bytes) : bytes);
    double slice_reads = 0, slice_samples = 0, slice_bytes = 0;
    for (const Slice& slice : r.slices) {
        slice_reads += static_cast<double>(slice.reads);
        slice_samples += static_cast<double>(slice.samples);
        slice_bytes += static_cast<double>(slice.bytes);
    }
    double epoch_bytes = 0, epoch_samples = 0;
    for (const EpochResult& epoch : r.epochs) {
        epoch_bytes += static_cast<double>(epoch.bytes_delivered);
        epoch_samples += static_cast<double>(epoch.sample_count);
    }
    const double sample_bytes = epoch_samples > 0 ? epoch_bytes / epoch_samples : r.record_length_bytes;
    const double transfer = std::max(setting(r, "reader.transfer_size", 262144), 1.0);
    s.bytes_per_read = slice_reads > 0 ? slice_bytes / slice_reads : std::min(sample_bytes, transfer);
    // A stream is cut into transfers whatever the records' borders: a record lies in one transfer and, often, the next.
    s.reads_per_sample = s.streams           ? 1 + sample_bytes / transfer
                         : slice_samples > 0 ? std::max(1.0, slice_reads / slice_samples)
                                             : std::max(1.0, std::ceil(sample_bytes / transfer));
    s.samples_per_second = sample_bytes > 0 ? s.bytes_per_second / sample_bytes : 0;
    s.sample_ns = sample.mean_ns;
    s.sample_ns_fast = sample.count < 200 ? static_cast<double>(sample.min_ns) : quantile_ns(sample, 0.01);
    s.sample_ns_least = static_cast<double>(sample.min_ns);
    s.first_byte_ns = first_byte.mean_ns;
    s.first_byte_ns_least = static_cast<double>(first_byte.min_ns);
    s.spread = first_byte.p50_ns > 0 && first_byte.count >= 100 ? first_byte.p99_ns / first_byte.p50_ns : 1;
    const Attribution& a = r.attribution;
    s.waiting_share = a.total_s > a.outside_s ? (a.storage_wait_s + a.client_wait_s) / (a.total_s - a.outside_s) : 0;
    const char* readers = r.data_loader == "native" ? "reader.queue_depth" : "reader.read_threads";
    s.reader_count = std::max(1.0, setting(r, readers, 1)) * r.accelerator_count;
    // Records of a stream share their reads: what is under way is bytes/s / bytes a read x time of a read.
    const double reads_per_second = s.bytes_per_read > 0 ? s.bytes_per_second / s.bytes_per_read : 0;
    s.busy_readers = (s.streams ? reads_per_second * s.first_byte_ns : s.samples_per_second * s.sample_ns) / 1e9;
    return s;
}

FitLimit RunSight::limit() const {
    if (waiting_share < kKeptUp) return FitLimit::nothing;
    if (busy_readers < kReadersIdle * reader_count) return FitLimit::client;
    return sample_ns_fast < kQueued * sample_ns ? FitLimit::bandwidth : FitLimit::latency;
}

double RunSight::read_ns() const {
    if (streams) return std::min(first_byte_ns, sample_ns / reads_per_sample);
    if (reads_per_sample < 1.5) return sample_ns; // open and read are one
    return std::max(0.0, (sample_ns - first_byte_ns) / (reads_per_sample - 1));
}

} // namespace feedbench::workloads
