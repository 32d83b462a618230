// summary.json: the keys of the MLPerf Storage summary, with their historical meaning.
//
// Source: reference.md section 4; corpus README. Keys ending in MB_per_second hold MiB/s of the nominal record length,
// keys ending in _GB hold GiB: that is what every reader of these files expects. Nothing else in feedbench does so.
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/types/units.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::reporters {
namespace {

using Json = nlohmann::ordered_json;

Json number(const Metric* metric) { return metric != nullptr && metric->value ? Json(*metric->value) : Json(nullptr); }

// 2026-01-31T10:00:00.123+01:00 -> 2026-01-31T10:00:00.123: these files hold local time without an offset.
std::string local_time(const std::string& iso) {
    const std::size_t clock = iso.find('T');
    if (clock == std::string::npos) return iso;
    return iso.substr(0, iso.find_first_of("+-Z", clock));
}

Json per_epoch(const RunResult& r, bool evaluation, const char* key) {
    Json values = Json::array();
    for (const EpochResult& epoch : r.epochs)
        if (epoch.evaluation == evaluation) values.push_back(number(row(epoch.metrics, key)));
    return values;
}

// metric_prefix: "" for training's rows, "eval_" for evaluation's.
void add_phase(Json& metric, const RunResult& r, bool evaluation) {
    const std::string ours = evaluation ? "eval_" : "", theirs = evaluation ? "eval_" : "train_";
    const Metric* au = row(r.metrics, ours + "au_mean_percentage");
    const Metric* rate = row(r.metrics, ours + "samples_per_second_mean");
    const Metric* spread = row(r.metrics, ours + "samples_per_second_stdev");
    const auto nominal_MiB = [&](const Metric* m) {
        return m != nullptr && m->value ? Json(to_MiB(*m->value * r.record_length_bytes)) : Json(nullptr);
    };
    const bool met = au != nullptr && au->value && *au->value >= 100 * r.au_required;
    metric[theirs + "au_percentage"] = per_epoch(r, evaluation, "au_percentage");
    metric[theirs + "au_mean_percentage"] = number(au);
    metric[theirs + "au_meet_expectation"] = met ? "success" : "fail";
    metric[theirs + "au_stdev_percentage"] = number(row(r.metrics, ours + "au_stdev_percentage"));
    metric[theirs + "throughput_samples_per_second"] = per_epoch(r, evaluation, "samples_per_second");
    metric[theirs + "throughput_mean_samples_per_second"] = number(rate);
    metric[theirs + "throughput_stdev_samples_per_second"] = number(spread);
    metric[theirs + "io_mean_MB_per_second"] = nominal_MiB(rate);
    metric[theirs + "io_stdev_MB_per_second"] = nominal_MiB(spread);
}

struct Spread {
    double sum = 0, squares = 0;
    void add(double value) {
        sum += value;
        squares += value * value;
    }
    double mean(double n) const { return sum / n; }
    double stdev(double n) const { return std::sqrt(std::max(0.0, squares / n - mean(n) * mean(n))); }
};

// `theirs`: save or load. The rates are means of rates, as in every published summary.
void add_checkpoints_of(Json& metric, const RunResult& r, const std::string& kind, const std::string& theirs) {
    Spread rates, durations;
    double n = 0;
    for (const CheckpointResult& c : r.checkpoints) {
        if (c.kind != kind) continue;
        ++n;
        rates.add(c.duration_s > 0 ? to_GiB(static_cast<double>(c.bytes)) / c.duration_s : 0);
        durations.add(c.duration_s);
    }
    if (n == 0) return;
    metric[theirs + "_checkpoint_io_mean_GB_per_second"] = rates.mean(n);
    metric[theirs + "_checkpoint_io_stdev_GB_per_second"] = rates.stdev(n);
    metric[theirs + "_checkpoint_duration_mean_seconds"] = durations.mean(n);
    metric[theirs + "_checkpoint_duration_stdev_seconds"] = durations.stdev(n);
}

void add_checkpoints(Json& metric, const RunResult& r) {
    add_checkpoints_of(metric, r, "write", "save");
    add_checkpoints_of(metric, r, "read", "load");
    double bytes = 0;
    for (const CheckpointResult& c : r.checkpoints) bytes += static_cast<double>(c.bytes);
    metric["checkpoint_size_GB"] = to_GiB(bytes / static_cast<double>(r.checkpoints.size()));
}

} // namespace

std::string render_mlperf_summary(const RunResult& r, const RenderOptions&) {
    bool evaluated = false;
    std::size_t train_epochs = 0;
    for (const EpochResult& epoch : r.epochs) {
        evaluated |= epoch.evaluation;
        train_epochs += epoch.evaluation ? 0 : 1;
    }
    const double samples = static_cast<double>(r.num_files_train) * r.num_samples_per_file;
    const double host_count = std::max<double>(1, static_cast<double>(r.hosts.size()));
    const bool checkpoint_only = r.kind == "checkpoint";
    double bytes_per_host = samples * r.record_length_bytes / host_count;
    if (checkpoint_only && !r.checkpoints.empty())
        bytes_per_host = static_cast<double>(r.checkpoints.front().bytes) / host_count;

    Json summary;
    summary["start"] = local_time(r.start_time);
    summary["num_accelerators"] = r.accelerator_count;
    summary["num_hosts"] = r.hosts.size();
    summary["hostname"] = r.hosts.empty() ? "" : r.hosts.front().name;
    Json metric = Json::object();
    if (!checkpoint_only) add_phase(metric, r, false);
    if (evaluated) add_phase(metric, r, true);
    if (!r.checkpoints.empty()) add_checkpoints(metric, r);
    summary["metric"] = metric;
    summary["num_files_train"] = r.num_files_train;
    summary["num_files_eval"] = r.num_files_eval;
    summary["num_samples_per_file"] = r.num_samples_per_file;
    // Each host's own values, whatever the placement of ranks (case T9).
    Json cpus = Json::array(), caching = Json::array(), memory = Json::array();
    for (const HostFacts& host : r.hosts) {
        cpus.push_back(host.cpu_count);
        caching.push_back(static_cast<double>(host.memory_bytes) > bytes_per_host ? 1 : 0);
        memory.push_back(to_GiB(static_cast<double>(host.memory_bytes)));
    }
    summary["host_cpu_count"] = cpus;
    summary["host_processor_name"] = r.hosts.empty() ? "" : r.hosts.front().cpu_model;
    summary["potential_caching"] = caching;
    summary["host_cpuinfo"] = Json::object();
    summary["host_meminfo"] = Json::object();
    summary["host_memory_GB"] = memory;
    summary["data_size_per_host_GB"] = to_GiB(bytes_per_host);
    summary["epochs"] = train_epochs;
    summary["end"] = local_time(r.end_time);
    return summary.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace feedbench::reporters
