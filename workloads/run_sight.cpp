#include "workloads/run_sight.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace feedbench::workloads {

namespace {

// Below this share of accelerator time spent waiting for batches, the storage kept up.
constexpr double kKeptUp = 0.02;
// Of the readers that begin an epoch together, the part that surely meets a shorter queue than the later ones.
constexpr double kRamp = 0.125;
// How much farther from the median the fast side must reach than the slow one, in orders of magnitude: times, and plus.
constexpr double kLopsided = 1.5, kLeastReach = 0.12;
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
    return h.p50_ns;
}

// Whether the storage serves at a rate of its own, so that reads wait for each other. Times of a storage that answers
// all at once, in its own time, spread about their median as far on the slow side as on the fast one, or farther. A
// queue has hardly a slow side, for it is no longer than there are readers; but the readers that begin an epoch, or a
// step, found it short or empty. The first byte tells it, and not the whole sample, whose time goes with its size. One
// reader makes no queue.
bool queued(const HistogramData& first_byte, double readers_begun) {
    if (first_byte.count == 0 || first_byte.p50_ns <= 0 || readers_begun < 2) return false;
    const double share = std::min(0.01, kRamp * readers_begun / static_cast<double>(first_byte.count));
    const double fast = std::log10(first_byte.p50_ns / std::max(1.0, quantile_ns(first_byte, share)));
    const double slow = std::log10(std::max(1.0, quantile_ns(first_byte, 1 - share)) / first_byte.p50_ns);
    return fast > kLopsided * std::max(0.0, slow) + kLeastReach;
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
    s.sample_ns_least = static_cast<double>(sample.min_ns);
    s.first_byte_ns = first_byte.mean_ns;
    s.first_byte_ns_least = static_cast<double>(first_byte.min_ns);
    s.spread = first_byte.p50_ns > 0 && first_byte.count >= 100 ? first_byte.p99_ns / first_byte.p50_ns : 1;
    const Attribution& a = r.attribution;
    s.waiting_share = a.total_s > a.outside_s ? (a.storage_wait_s + a.client_wait_s) / (a.total_s - a.outside_s) : 0;
    const char* readers = r.data_loader == "native" ? "reader.queue_depth" : "reader.read_threads";
    s.reader_count = std::max(1.0, setting(r, readers, 1)) * r.accelerator_count;
    s.reads_queued =
        s.reader_count > 1 &&
        queued(first_byte, s.reader_count * static_cast<double>(std::max<std::size_t>(r.epochs.size(), 1)));
    // Records of a stream share their reads: what is under way is bytes/s / bytes a read x time of a read.
    const double reads_per_second = s.bytes_per_read > 0 ? s.bytes_per_second / s.bytes_per_read : 0;
    s.busy_readers = (s.streams ? reads_per_second * s.first_byte_ns : s.samples_per_second * s.sample_ns) / 1e9;
    return s;
}

FitLimit RunSight::limit() const {
    if (waiting_share < kKeptUp) return FitLimit::nothing;
    if (busy_readers < kReadersIdle * reader_count) return FitLimit::client;
    return reads_queued ? FitLimit::bandwidth : FitLimit::latency;
}

double RunSight::read_ns() const {
    if (streams) return std::min(first_byte_ns, sample_ns / reads_per_sample);
    if (reads_per_sample < 1.5) return sample_ns; // open and read are one
    return std::max(0.0, (sample_ns - first_byte_ns) / (reads_per_sample - 1));
}

} // namespace feedbench::workloads
