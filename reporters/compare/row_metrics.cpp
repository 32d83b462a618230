#include "reporters/compare/row_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "reporters/compare/row_builder.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::compare {
namespace {

using ingest::IngestedRun;

constexpr std::array kColumns{
    Column{"accelerator_count", "acc.", "emulated accelerators", 0, true},
    Column{"host_count", "hosts", "client hosts", 0, true},
    Column{"run_count", "runs", "runs that count", 0, true},
    Column{"au_percentage", "AU %", "accelerator utilization: mean over runs", 2, true},
    Column{"au_margin_points", "margin", "AU above the bar of the workload, in points", 4, true},
    Column{"au_margin_points_worst_run", "worst", "the same of the run with the lowest AU", 4, true},
    Column{"samples_per_second", "samples/s", "mean over runs", -1, true},
    Column{"MB_per_second", "MB/s", "samples/s times the nominal record length", -1, true},
    Column{"MiB_per_second", "MiB/s", "the same; published keys call it MB", -1, true},
    Column{"MB_per_second_per_host", "MB/s/host", "MB/s divided by client hosts", -1, true},
    Column{"MB_per_second_per_accelerator", "MB/s/acc.", "MB/s divided by accelerators", -1, true},
    Column{"effective_utilization_percentage", "eff. %",
           "rate as a share of what the accelerators could take; the first step included", 2, true},
    Column{"whole_epoch_utilization_percentage", "epoch %", "the same over whole epochs, nothing excluded", 2, true},
    Column{"run_spread_percentage", "spread %", "population standard deviation of samples/s over runs / mean", 3, true},
    Column{"later_over_first_epoch", "later/1st", "samples/s of the later epochs / of the first", 3, true},
    Column{"dataset_GiB", "data GiB", "dataset", 1, false},
    Column{"host_memory_GiB", "mem. GiB", "memory of all client hosts together", 1, false},
    Column{"dataset_over_memory", "data/mem", "dataset / memory of all client hosts", 2, true},
    Column{"scaling_per_host_percentage", "scal. host %", "MB/s per host as a share of that of the smallest size", 1,
           true},
    Column{"scaling_per_accelerator_percentage", "scal. acc. %",
           "MB/s per accelerator as a share of that of the smallest size", 1, true},
    Column{"watts", "W", "power as the system description declares it", 0, true},
    Column{"MB_per_second_per_watt", "MB/s/W", "MB/s divided by declared power", 2, false},
    Column{"usable_capacity_GiB", "usable GiB", "usable capacity as the system description declares it", 0, true},
    Column{"raw_capacity_GiB", "raw GiB", "raw capacity as the system description declares it", 0, false},
    Column{"rack_units", "RU", "rack units as the system description declares them", 0, true},
};

Maybe spread_percentage(const std::vector<IngestedRun>& runs, Maybe mean) {
    if (runs.size() < 2 || !mean || *mean <= 0) return {};
    double sum = 0;
    for (const IngestedRun& run : runs) sum += std::pow(run.samples_per_second.value_or(*mean) - *mean, 2);
    return 100 * std::sqrt(sum / static_cast<double>(runs.size())) / *mean;
}

Maybe later_over_first(const IngestedRun& run) {
    if (run.epochs.size() < 2 || !run.epochs.front().samples_per_second) return {};
    double sum = 0;
    for (std::size_t i = 1; i < run.epochs.size(); ++i) {
        if (!run.epochs[i].samples_per_second) return {};
        sum += *run.epochs[i].samples_per_second;
    }
    return divided(sum / static_cast<double>(run.epochs.size() - 1), run.epochs.front().samples_per_second);
}

void fill_utilization(Row& row) {
    const auto au = mean_over(row.runs, &IngestedRun::au_percentage);
    const Maybe bar = row.runs.front().au_bar_percentage;
    Maybe worst;
    for (const IngestedRun& run : row.runs)
        if (run.au_percentage && (!worst || *run.au_percentage < *worst)) worst = run.au_percentage;
    add(row, "au_percentage", "%", au, "a run has no AU", "mean_over_runs");
    const std::string why = bar ? "a run has no AU" : "the workload has no bar";
    add(row, "au_margin_points", "points", au && bar ? Maybe(*au - *bar) : Maybe(), why, "au_minus_bar");
    add(row, "au_margin_points_worst_run", "points", au && bar ? Maybe(*worst - *bar) : Maybe(), why, "au_minus_bar");
}

} // namespace

std::span<const Column> columns(ingest::Kind kind) {
    return kind == ingest::Kind::checkpoint ? checkpoint_columns() : std::span<const Column>(kColumns);
}

void fill_metrics(Row& row) {
    if (row.runs.front().kind == ingest::Kind::checkpoint) return fill_checkpoint_metrics(row);
    const auto& runs = row.runs;
    const double accelerators = row.accelerator_count;
    const Maybe hosts = row.host_count > 0 ? Maybe(row.host_count) : Maybe();
    add(row, "accelerator_count", "", accelerators, "", "as_read");
    add(row, "host_count", "", hosts, "num_hosts is missing", "as_read");
    add(row, "run_count", "", static_cast<double>(runs.size()), "", "as_read");
    fill_utilization(row);
    const auto rate = mean_over(runs, &IngestedRun::samples_per_second);
    const auto MB = mean_over(runs, &IngestedRun::nominal_MB_per_second);
    const std::string no_record = "the record length is not known";
    add(row, "samples_per_second", "samples/s", rate, "a run has no rate", "mean_over_runs");
    add(row, "MB_per_second", "MB/s", MB, no_record, "samples_times_record_length");
    add(row, "MiB_per_second", "MiB/s", mean_over(runs, &IngestedRun::nominal_MiB_per_second), no_record,
        "samples_times_record_length");
    add(row, "MB_per_second_per_host", "MB/s", divided(MB, hosts), MB ? "num_hosts is missing" : no_record,
        "over_hosts");
    add(row, "MB_per_second_per_accelerator", "MB/s", divided(MB, accelerators), no_record, "over_accelerators");
    add(row, "effective_utilization_percentage", "%", mean_over(runs, &IngestedRun::effective_utilization_percentage),
        "batch size or think time is not known", "rate_over_ideal");
    add(row, "whole_epoch_utilization_percentage", "%",
        mean_over(runs, &IngestedRun::whole_epoch_utilization_percentage), "the epochs' times are not there",
        "think_over_wall");
    add(row, "run_spread_percentage", "%", spread_percentage(runs, rate), "only one run", "population_stdev_over_mean");
    add(row, "later_over_first_epoch", "", mean_over(runs, later_over_first), "only one epoch, or one without a rate",
        "later_over_first");
    const auto dataset = mean_over(runs, &IngestedRun::dataset_GiB),
               memory = mean_over(runs, &IngestedRun::host_memory_GiB);
    add(row, "dataset_GiB", "GiB", dataset, "the size of the dataset is not said", "samples_times_record_length");
    add(row, "host_memory_GiB", "GiB", memory, "the hosts' memory is not said", "sum_over_hosts");
    add(row, "dataset_over_memory", "", divided(dataset, memory), "dataset or memory is not known", "over_memory");
    const std::string undeclared = row.description.path.empty() ? "no system description" : "not declared as a number";
    add(row, "watts", "W", row.description.watts, undeclared, "as_declared");
    add(row, "MB_per_second_per_watt", "MB/s/W", divided(MB, row.description.watts), undeclared, "over_watts");
    add_description(row);
}

void fill_scaling(Group& group) {
    if (group.kind == ingest::Kind::checkpoint) return; // the number of ranks belongs to the model
    const auto value = [](const Row& row, std::string_view key) {
        const Metric* metric = reporters::row(row.metrics, key);
        return metric != nullptr ? metric->value : Maybe();
    };
    const auto same = [](const Row& a, const Row& b, bool by_system) {
        return a.submitter == b.submitter && a.tool == b.tool && (!by_system || a.system == b.system);
    };
    struct Efficiency {
        Maybe per_host, per_accelerator;
    };
    std::vector<Efficiency> efficiencies;
    for (const Row& row : group.rows) {
        const Row* base = nullptr;
        for (const bool by_system : {true, false}) {
            // What was measured outside a submission has no submitter that two sizes could share.
            if (base != nullptr || (!by_system && row.submitter.empty())) break;
            const Row* smallest = nullptr;
            bool sizes = false;
            for (const Row& other : group.rows) {
                if (!same(row, other, by_system)) continue;
                sizes = sizes || other.accelerator_count != row.accelerator_count;
                if (smallest == nullptr || other.accelerator_count < smallest->accelerator_count) smallest = &other;
            }
            if (sizes) base = smallest;
        }
        Efficiency one;
        if (base != nullptr) {
            const auto of = [&](std::string_view key) -> Maybe {
                const Maybe share = divided(value(row, key), value(*base, key));
                return share ? Maybe(100 * *share) : Maybe();
            };
            one = {of("MB_per_second_per_host"), of("MB_per_second_per_accelerator")};
        }
        efficiencies.push_back(one);
    }
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
        const std::string why = "only one size";
        add(group.rows[i], "scaling_per_host_percentage", "%", efficiencies[i].per_host, why, "over_smallest_size");
        add(group.rows[i], "scaling_per_accelerator_percentage", "%", efficiencies[i].per_accelerator, why,
            "over_smallest_size");
    }
}

} // namespace feedbench::compare
