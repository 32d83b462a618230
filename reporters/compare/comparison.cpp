#include "reporters/compare/comparison.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "reporters/compare/row_metrics.hpp"
#include "reporters/compare/suspicions.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::compare {
namespace {

using ingest::IngestedRun;

// What must agree for runs to be repetitions of one measurement.
auto row_key(const IngestedRun& run) {
    return std::make_tuple(run.input_index, run.set_path, run.accelerator_count, run.host_count, run.tool);
}
auto group_key(const IngestedRun& run) {
    return std::make_tuple(run.kind, run.workload, run.accelerator_model, run.edition, run.division, run.variant);
}

// Edition 3.0: six runs, of which the first is warm-up.
void set_warm_up_aside(Row& row) {
    constexpr std::size_t kRunsOfEdition3 = 6;
    if (row.runs.front().kind != ingest::Kind::training || row.runs.front().edition != "3.0" || row.submitter.empty() ||
        row.runs.size() != kRunsOfEdition3)
        return;
    row.warm_up.push_back(std::move(row.runs.front()));
    row.runs.erase(row.runs.begin());
}

Row make_row(std::vector<IngestedRun> runs) {
    Row row;
    std::stable_sort(runs.begin(), runs.end(), [](const IngestedRun& a, const IngestedRun& b) {
        return std::tie(a.start_time, a.path) < std::tie(b.start_time, b.path);
    });
    const IngestedRun& first = runs.front();
    row.submitter = first.submitter;
    row.system = first.system;
    row.source = first.set_path;
    row.tool = first.tool;
    row.accelerator_count = first.accelerator_count;
    row.host_count = first.host_count;
    row.description = first.description;
    row.runs = std::move(runs);
    set_warm_up_aside(row);
    fill_metrics(row);
    return row;
}

double sort_value(const Row& row) {
    for (const char* key : {"MB_per_second", "samples_per_second", "save_GiB_per_second"}) {
        const Metric* metric = reporters::row(row.metrics, key);
        if (metric != nullptr && metric->value) return *metric->value;
    }
    return 0;
}

void rank_rows(Group& group) {
    std::stable_sort(group.rows.begin(), group.rows.end(),
                     [](const Row& a, const Row& b) { return sort_value(a) > sort_value(b); });
    std::uint32_t position = 0;
    for (Row& row : group.rows) {
        // Checkpoints have no bar: what was written counts.
        const bool checkpoint = group.kind == ingest::Kind::checkpoint;
        const Metric* deciding = reporters::row(row.metrics, checkpoint ? "save_GiB_per_second" : "au_margin_points");
        const bool reached = deciding != nullptr && deciding->value && *deciding->value >= 0;
        const bool valid = std::all_of(row.runs.begin(), row.runs.end(),
                                       [](const IngestedRun& run) { return run.invalid_reasons.empty(); });
        if (reached && valid) row.position = ++position;
    }
}

} // namespace

std::string Group::title() const {
    std::string text = workload.empty() ? "unknown workload" : workload;
    if (kind == ingest::Kind::checkpoint)
        text += " checkpoints";
    else
        text += " / " + (accelerator_model.empty() ? std::string("unknown accelerator") : accelerator_model);
    text += edition.empty() ? " / outside the rules' editions" : " / edition " + edition;
    text += division.empty() ? " / not a submission" : " / " + division;
    if (!variant.empty()) text += " (" + variant + ")";
    return text;
}

Comparison compare(ingest::Ingested ingested) {
    Comparison result;
    result.problems = std::move(ingested.problems);
    result.run_count = ingested.runs.size();
    using Runs = std::vector<IngestedRun>;
    // Rows in the order in which they were given, so that equal ones do not change places from call to call.
    std::map<decltype(group_key(IngestedRun())), std::map<decltype(row_key(IngestedRun())), Runs>> sorted;
    for (IngestedRun& run : ingested.runs) {
        auto& runs = sorted[group_key(run)][row_key(run)];
        runs.push_back(std::move(run));
    }
    for (auto& [key, rows] : sorted) {
        Group group;
        std::tie(group.kind, group.workload, group.accelerator_model, group.edition, group.division, group.variant) =
            key;
        for (auto& [ignored, runs] : rows) group.rows.push_back(make_row(std::move(runs)));
        fill_scaling(group);
        rank_rows(group);
        for (Row& row : group.rows) row.footnotes = suspicions_of(row);
        result.groups.push_back(std::move(group));
    }
    return result;
}

} // namespace feedbench::compare
