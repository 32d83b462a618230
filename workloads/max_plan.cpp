// What a search will do, from the configuration alone.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "harness/config/load_yaml.hpp"
#include "harness/loader/models.hpp"
#include "workloads/max.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::uint64_t kLeastSteps = 2;   // an epoch: AU leaves out the first
constexpr double kLeastProbeSteps = 10;    // that a probe measures, whatever it takes
constexpr double kLeastSettle_s = 2;       // caches of devices, page tables, TCP windows
constexpr double kMostSettleSteps = 100;   // for a bar that leaves hardly anything to lose
constexpr double kMostProbe_s = 24 * 3600; // more is a slip of the keyboard

// The smallest number that divides evenly over the hosts and over the ranks of each.
std::uint32_t placement_unit(const cluster::Communicator& communicator) {
    std::uint64_t per_host = 1;
    for (const auto& host : communicator.hosts()) per_host = std::lcm(per_host, std::uint64_t{host.ranks.size()});
    return static_cast<std::uint32_t>(per_host * communicator.hosts().size());
}

// Batches that an accelerator's loader holds when it is full. Storage that is too slow is not noticed before they are
// used up.
std::uint32_t queue_batches(const ReaderSection& reader) {
    if (reader.data_loader == "pytorch") return reader.read_threads * loader::pytorch_batches_per_worker(reader);
    return reader.prefetch_size + 1;
}

// The largest N up to `most` whose epochs have enough steps for a figure; 0: none.
Expected<std::uint32_t> fed_by_data(const RunRequest& request, TrainingPlan& plan, std::uint32_t unit,
                                    std::uint32_t most) {
    std::uint32_t low = 0, high = most / unit + 1; // in units
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        plan.placement.total = middle * unit;
        auto epoch = make_epoch_plan(request, plan, plan.train, 0);
        (epoch && (*epoch)->step_count() >= kLeastSteps ? low : high) = middle;
    }
    return low * unit;
}

Status check(const MaxRequest& request, double bar) {
    const Workload& workload = *request.base.workload;
    if (!workload.workflow.train)
        return config_error("max searches with training runs, and this workload does not train (workflow.train is "
                            "false)",
                            workload.source);
    if (!(bar > 0 && bar <= 1))
        return usage_error(fmt::format("--au {:.6g}: the bar is a fraction of 1, larger than 0 and at most 1 "
                                       "(0.9 for 90 %)",
                                       bar));
    if (!(request.probe_s > 0 && request.probe_s <= kMostProbe_s))
        return usage_error(fmt::format("--probe-seconds {:.6g}: more than 0 and at most {:.0f} seconds are possible",
                                       request.probe_s, kMostProbe_s));
    if (request.settle_s && !(*request.settle_s >= 0 && *request.settle_s <= kMostProbe_s))
        return usage_error(
            fmt::format("--settle-seconds {:.6g}: 0 to {:.0f} seconds are possible", *request.settle_s, kMostProbe_s));
    if (workload.train.computation_time.mean_s <= 0)
        return config_error("without think time there is no AU, and any number of accelerators takes what it gets: "
                            "max needs a time larger than 0",
                            "train.computation_time");
    if (workload.train.total_training_steps >= 0 &&
        workload.train.total_training_steps < static_cast<std::int64_t>(kLeastSteps))
        return config_error(fmt::format("{} step in all gives no AU (the first is left out): at least {} are needed",
                                        workload.train.total_training_steps, kLeastSteps),
                            "train.total_training_steps");
    return {};
}

} // namespace

Expected<MaxPlan> make_max_plan(const MaxRequest& request) {
    const Workload& workload = *request.base.workload;
    MaxPlan plan;
    const double bar = request.bar != 0 ? request.bar : workload.metric.au_is_set ? workload.metric.au : 0.9;
    plan.bar_percentage = 100 * bar;
    plan.bar_is_default = request.bar == 0 && !workload.metric.au_is_set;
    if (auto status = check(request, bar); !status) return status.error();
    plan.unit = placement_unit(*request.base.communicator);
    if (request.limit > 0 && request.limit < plan.unit)
        return usage_error(fmt::format("--limit {}: fewer than the {} accelerators that this job starts with (they "
                                       "divide evenly over {} hosts and {} ranks)",
                                       request.limit, plan.unit, request.base.communicator->hosts().size(),
                                       request.base.communicator->size()));
    const std::uint32_t most = request.limit > 0 ? request.limit : kLimitOfAll;
    plan.limit = most / plan.unit * plan.unit;
    plan.limit_of = request.limit > 0 ? MaxPlan::LimitOf::asked : MaxPlan::LimitOf::all;
    if (plan.limit == 0)
        return usage_error(fmt::format("{} ranks are more than the {} accelerators that max tries at most",
                                       request.base.communicator->size(), kLimitOfAll));

    RunRequest smallest = request.base;
    smallest.accelerator_count = plan.unit;
    auto training = make_training_plan(smallest, request.base.made);
    if (!training) return training.error();
    auto fed = fed_by_data(smallest, *training, plan.unit, plan.limit);
    if (!fed) return fed.error();
    if (*fed == 0)
        return config_error(fmt::format("{} accelerators make fewer than {} steps an epoch of it, and AU leaves out "
                                        "the first: generate more files",
                                        plan.unit, kLeastSteps),
                            "dataset.num_files_train");
    if (*fed < plan.limit) plan.limit = *fed, plan.limit_of = MaxPlan::LimitOf::data;
    plan.sample_count = training->train.used_file_count * training->train.samples_per_file;
    plan.batch_size = training->train.batch_size;

    plan.think_s = workload.train.computation_time.mean_s;
    plan.probe_s = std::max(request.probe_s, kLeastProbeSteps * plan.think_s);
    plan.queue_batches = queue_batches(workload.reader);
    // At the bar, storage that is a little too slow loses (1 - bar) of a batch a step: so long does a full queue hide
    // it.
    const double steps = std::min(plan.queue_batches / std::max(1 - bar, 1e-9), kMostSettleSteps);
    plan.settle_s = request.settle_s.value_or(std::max(kLeastSettle_s, steps * plan.think_s));
    return plan;
}

Expected<std::vector<PlanRow>> plan_max(const MaxRequest& request) {
    auto plan = make_max_plan(request);
    if (!plan) return plan.error();
    const auto row = [](const char* group, const char* name, std::string value) {
        return PlanRow{group, name, std::move(value)};
    };
    const char* of[] = {"--limit", "the dataset: more would make fewer than 2 steps an epoch", "feedbench's own"};
    return std::vector<PlanRow>{
        row("search", "bar",
            fmt::format("AU >= {:.6g} %{}", plan->bar_percentage,
                        plan->bar_is_default ? " (neither --au nor the workload's metric.au says another)" : "")),
        row("search", "step", fmt::format("{} accelerators", plan->unit)),
        row("search", "first N",
            request.start > 0 ? fmt::format("{} (--start)", request.start)
                              : "guessed from a probe in which a few accelerators hardly think"),
        row("search", "largest N", fmt::format("{} ({})", plan->limit, of[static_cast<std::size_t>(plan->limit_of)])),
        row("search", "a probe", fmt::format("{:.6g} s, after {:.6g} s of settling", plan->probe_s, plan->settle_s)),
        row("search", "run of full length",
            request.confirm ? fmt::format("{} epochs, at the N that was found", request.base.workload->train.epochs)
                            : "none (--no-confirm)"),
        row("storage", "data", config::data_location(*request.base.workload)),
        row("storage", "samples", std::to_string(plan->sample_count)),
    };
}

} // namespace feedbench::workloads
