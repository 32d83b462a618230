// result.csv: one row an epoch and one for the run, of one run or of several; a column a metric, its unit in the key;
// empty where there is no value.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/csv_field.hpp"
#include "reporters/report_formats.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::reporters {
namespace {

void add_keys(std::vector<std::string>& keys, const std::vector<Metric>& rows) {
    for (const Metric& metric : rows)
        if (std::find(keys.begin(), keys.end(), metric.key) == keys.end()) keys.push_back(metric.key);
}

std::string values(const std::vector<std::string>& keys, const std::vector<Metric>& rows) {
    std::string line;
    for (const std::string& key : keys) {
        const Metric* metric = row(rows, key);
        line += ',';
        if (metric != nullptr && metric->value)
            line += fmt::format("{}", *metric->value); // shortest text that reads back exactly
    }
    return line + "\n";
}

std::string heading(const std::vector<std::string>& keys) {
    std::string text = "row,run_id,workload,accelerators,hosts,epoch,start_s,end_s";
    for (const std::string& key : keys) text += "," + csv_field(key);
    return text + "\n";
}

std::string rows(const RunResult& r, const std::vector<std::string>& keys) {
    const std::string who =
        fmt::format("{},{},{},{}", csv_field(r.run_id), csv_field(r.workload), r.accelerator_count, r.hosts.size());
    std::string text;
    for (const EpochResult& epoch : r.epochs) {
        text += fmt::format("{},{},{},{},{}", epoch.evaluation ? "evaluation" : "epoch", who, epoch.index + 1,
                            epoch.start_s, epoch.end_s);
        text += values(keys, epoch.metrics);
    }
    const double end_s = r.epochs.empty() ? 0 : r.epochs.back().end_s,
                 start_s = r.epochs.empty() ? 0 : r.epochs.front().start_s;
    text += fmt::format("run,{},,{},{}", who, start_s, end_s);
    return text + values(keys, r.metrics);
}

void add_keys(std::vector<std::string>& keys, const RunResult& r) {
    for (const EpochResult& epoch : r.epochs) add_keys(keys, epoch.metrics);
    add_keys(keys, r.metrics);
}

} // namespace

std::string render_csv(const RunResult& r, const RenderOptions&) {
    std::vector<std::string> keys;
    add_keys(keys, r);
    return heading(keys) + rows(r, keys);
}

std::string render_run_csv(std::span<const ReportedRun> runs, std::span<const UnusedFile>) {
    std::vector<std::string> keys;
    for (const ReportedRun& one : runs) add_keys(keys, one.result);
    std::string text = heading(keys);
    for (const ReportedRun& one : runs) text += rows(one.result, keys);
    return text;
}

} // namespace feedbench::reporters
