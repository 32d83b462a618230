#include "workloads/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/types/units.hpp"

namespace feedbench::workloads {

namespace {

// A p99 nearer to the median than this is a constant.
constexpr double kNoSpread = 1.05;
// Fewer cached bytes than this are not worth a parameter.
constexpr double kLeastCached = 0.1;

storage::ModelTime time_of(double mean_ns, double spread) {
    storage::ModelTime time;
    if (mean_ns < 1) return time;
    if (spread < kNoSpread) {
        time.median_ns = static_cast<std::uint64_t>(std::llround(mean_ns));
        return time;
    }
    // A lognormal of this spread that has the measured mean.
    const double sigma = std::log(spread) / 2.3263478740408408;
    const double median = mean_ns * std::exp(-sigma * sigma / 2);
    time.median_ns = static_cast<std::uint64_t>(std::llround(median));
    time.p99_ns = std::max(static_cast<std::uint64_t>(std::llround(median * spread)), time.median_ns);
    if (time.median_ns == 0) time.p99_ns = 0;
    return time;
}

class Fitting {
  public:
    Fitting(const RunResult& r, const RunSight& s) : r_(r), s_(s) { fit_.limit = s.limit(); }

    ModelFit run() {
        rate();
        latencies();
        if (fit_.limit == FitLimit::bandwidth)
            note("iops", "not told apart from bandwidth: one run has one size of reads; with other sizes give iops="
                         "yourself");
        else
            note("iops", fmt::format("not determined: at least {:.6g} a second were answered", s_.reads_per_second()));
        if (r_.hosts.size() > 1)
            note("link", "not told apart from the storage: all hosts ran at once; give link= and hosts= yourself");
        cached();
        if (!r_.valid && !r_.invalid_reasons.empty())
            note("", "the measured run is not valid (" + r_.invalid_reasons.front() +
                         "): these are the parameters of what answered it");
        return std::move(fit_);
    }

  private:
    void note(const char* parameter, std::string text) { fit_.notes.push_back({parameter, std::move(text)}); }

    void rate() {
        storage::ModelParameters& p = fit_.parameters;
        const std::string rate = fmt::format("{:.1f} MB/s", to_MB(s_.bytes_per_second));
        const std::string waited = fmt::format("accelerators waited {:.1f} % of their time", 100 * s_.waiting_share);
        switch (fit_.limit) {
        case FitLimit::bandwidth:
            p.bytes_per_second = s_.bytes_per_second;
            note("bandwidth",
                 fmt::format("the sustained rate: {}, and reads queued (the first byte came after {:.3g} ms "
                             "in the mean, {:.3g} ms where the queue was shortest)",
                             waited, s_.first_byte_ns / 1e6, s_.first_byte_ns_least / 1e6));
            break;
        case FitLimit::latency:
            note("bandwidth", fmt::format("not determined, only that it is at least {}: {} but reads did not queue, so "
                                          "that latency held them back; measure with more accelerators or readers",
                                          rate, waited));
            break;
        case FitLimit::nothing:
            note("bandwidth", fmt::format("not determined, only that it is at least {}: the run was not storage-bound "
                                          "({}); measure with more accelerators",
                                          rate, waited));
            break;
        case FitLimit::client:
            p.host_count = std::max<std::uint32_t>(1, r_.rank_count); // each rank is one loop on one processor
            p.link_bytes_per_second = s_.bytes_per_second / p.host_count;
            note("link",
                 fmt::format("what each of {} ranks carried: {}, while only {:.1f} of {:.0f} readers were at the "
                             "storage; the client was the limit",
                             p.host_count, waited, s_.busy_readers, s_.reader_count));
            note("bandwidth",
                 fmt::format("not determined, only that it is at least {}: the client was the limit", rate));
            break;
        }
    }

    void latencies() {
        storage::ModelParameters& p = fit_.parameters;
        if (fit_.limit == FitLimit::bandwidth || fit_.limit == FitLimit::client) return latencies_in_queue();
        const double each = s_.read_ns();
        p.latency = time_of(each, s_.spread);
        note("latency", fmt::format("the mean of a read ({:.3g} ms), {}", each / 1e6,
                                    p.latency.p99_ns == 0
                                        ? std::string("without spread")
                                        : fmt::format("with the spread of the time to the first byte (p99 = {:.2f} x "
                                                      "median)",
                                                      s_.spread)));
        if (!s_.streams && s_.reads_per_sample < 1.5) {
            note("open_latency", "not told apart from latency: a sample is one read, so that it is part of it");
            return;
        }
        p.open_latency = time_of(std::max(0.0, s_.first_byte_ns - each), s_.spread);
        note("open_latency", "the time to the first byte less one read");
    }

    // In a queue nobody sees the latency alone: the fastest of all, which met the shortest queue, is nearest.
    void latencies_in_queue() {
        storage::ModelParameters& p = fit_.parameters;
        const double transfer_ns = s_.bytes_per_read / std::max(p.bytes_per_second, p.link_bytes_per_second) * 1e9;
        const bool short_head = r_.format == "npz" || r_.format == "npy" || r_.format == "hdf5";
        const double first = std::max(0.0, s_.first_byte_ns_least - (short_head ? 0 : transfer_ns)); // open and a read
        double each = first, open = 0;
        const char* how = "not told apart from latency: a sample is one read";
        if (s_.streams) {
            each = std::min(first, std::max(0.0, s_.sample_ns_least - transfer_ns));
            open = first - each;
            how = "the fastest first byte less the fastest read";
        } else if (s_.reads_per_sample >= 1.5) {
            const double others = s_.reads_per_sample - 1;
            each = std::max(0.0, (s_.sample_ns_least - s_.first_byte_ns_least) / others - transfer_ns);
            how = "the fastest first byte less the fastest read";
            if (each > first) { // even the fastest sample stood in a queue for its later reads
                each = first / 2;
                how = "half of the fastest first byte (an open and a read); the other half is latency";
            }
            open = first - each;
        }
        p.latency = time_of(each, 1);
        p.open_latency = time_of(open, 1);
        note("latency", "from the fastest reads, which met the shortest queue; the spread cannot be seen in a queue, "
                        "measure once with few accelerators for that");
        note("open_latency", how);
    }

    void cached() {
        double delivered = 0, from_source = 0;
        for (const EpochResult& epoch : r_.epochs)
            for (const HostEpochResult& host : epoch.hosts) {
                if (epoch.evaluation || !host.cache.source_bytes || host.cache.source_kind == "memory") continue;
                delivered += static_cast<double>(host.cache.bytes_delivered);
                from_source += std::min(*host.cache.source_bytes, static_cast<double>(host.cache.bytes_delivered));
            }
        if (delivered <= 0) {
            note("cached", "not determined: the result does not say how many bytes came from a device or network");
            return;
        }
        const double share = 1 - from_source / delivered;
        if (share < kLeastCached)
            return note("cached",
                        fmt::format("none: {:.1f} % of the bytes came from below", 100 * from_source / delivered));
        fit_.parameters.cached_share = std::round(share * 1000) / 1000;
        fit_.parameters.bytes_per_second *= 1 - share;
        note("cached", fmt::format("{:.1f} % of the bytes did not come from the storage; its speed alone is not known "
                                   "well, measure with caches dropped",
                                   100 * share));
    }

    const RunResult& r_;
    const RunSight& s_;
    ModelFit fit_;
};

} // namespace

std::optional<double> au_of(const RunResult& result) {
    for (const Metric& metric : result.metrics)
        if (metric.key == "au_mean_percentage") return metric.value;
    return std::nullopt;
}

Expected<ModelFit> fit_model(const RunResult& r, const std::string& name) {
    const auto refused = [&name](const std::string& why) { return config_error("cannot be fitted: " + why, name); };
    if (r.kind != "training") return refused("it is a result of kind '" + r.kind + "', expected 'training'");
    if (r.status != "complete") return refused("the run is " + r.status + ", expected a complete one");
    if (r.backend == "null") return refused("it measured null:, which is no storage");
    const HistogramData* sample = find_histogram(r, "sample_read_latency");
    const HistogramData* first_byte = find_histogram(r, "time_to_first_byte");
    if (!sample || !first_byte)
        return refused(std::string("it holds no histogram ") + (sample ? "time_to_first_byte" : "sample_read_latency"));
    const RunSight seen = look_at(r, *sample, *first_byte);
    if (seen.bytes_per_second <= 0) return refused("it says of no byte that it was delivered");
    return Fitting(r, seen).run();
}

void speed_up(ModelFit& fit, double faster) {
    storage::ModelParameters& p = fit.parameters;
    const auto scale = [faster](std::uint64_t& ns) {
        ns = static_cast<std::uint64_t>(std::llround(static_cast<double>(ns) / faster));
    };
    switch (fit.limit) {
    case FitLimit::nothing:
        break;
    case FitLimit::bandwidth:
        p.bytes_per_second *= faster;
        break;
    case FitLimit::client:
        p.link_bytes_per_second *= faster;
        break;
    case FitLimit::latency:
        for (storage::ModelTime* time : {&p.latency, &p.open_latency}) {
            scale(time->median_ns);
            scale(time->p99_ns);
        }
        break;
    }
}

} // namespace feedbench::workloads
