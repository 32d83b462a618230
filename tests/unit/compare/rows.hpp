// Runs of our own making for the comparison's tests: unet3d on H100, edition 1.0, closed, unless a test says otherwise.
#pragma once

#include <string>
#include <vector>

#include "reporters/compare/comparison.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::compare::test {

inline ingest::IngestedRun run(int number, double au = 95, double rate = 80) {
    ingest::IngestedRun r;
    r.path = "/t/Acme/results/Sys/unet3d-h100/run" + std::to_string(number);
    r.set_path = "/t/Acme/results/Sys/unet3d-h100";
    r.submitter = "Acme";
    r.system = "Sys";
    r.workload = "unet3d";
    r.accelerator_model = "h100";
    r.edition = "1.0";
    r.division = "closed";
    r.accelerator_count = 4;
    r.host_count = 2;
    r.start_time = "2024-08-1" + std::to_string(number) + "T22:55:06";
    r.au_percentage = r.au_percentage_of_epochs = au;
    r.samples_per_second = rate;
    r.nominal_MB_per_second = rate * 146.600628;
    r.nominal_MiB_per_second = rate * 146600628 / 1048576;
    r.au_bar_percentage = 90;
    r.batch_size = 7;
    r.think_time_s = 0.323;
    r.record_length_bytes = 146600628;
    r.effective_utilization_percentage = 100 * rate * 0.323 / 28;
    r.dataset_GiB = 1911;
    r.host_memory_GiB = 256;
    r.sample_count = 14000;
    for (int e = 0; e < 5; ++e) r.epochs.push_back({au, rate, 180, 14000 / rate});
    return r;
}

inline std::vector<ingest::IngestedRun> five() { return {run(1), run(2), run(3), run(4), run(5)}; }

inline Comparison compared(std::vector<ingest::IngestedRun> runs) {
    ingest::Ingested all;
    all.runs = std::move(runs);
    return compare(std::move(all));
}

// The only row of the only group.
inline Row row_of(std::vector<ingest::IngestedRun> runs) { return compared(std::move(runs)).groups.at(0).rows.at(0); }

inline std::optional<double> value(const Row& row, std::string_view key) {
    const Metric* metric = reporters::row(row.metrics, key);
    return metric != nullptr ? metric->value : std::nullopt;
}

// The words of this footnote; empty: the row has none.
inline std::string footnote(const Row& row, std::string_view rule) {
    for (const Finding& finding : row.footnotes)
        if (finding.rule == rule) return finding.evidence;
    return {};
}

} // namespace feedbench::compare::test
