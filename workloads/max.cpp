#include "workloads/max.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>

#include "harness/metrics/aggregate.hpp"
#include "harness/types/units.hpp"
#include "workloads/max_search.hpp"
#include "workloads/max_words.hpp"
#include "workloads/short_run.hpp"
#include "workloads/training.hpp"

namespace feedbench::workloads {

namespace {

// A scout thinks so much shorter: it asks for as much as so many accelerators would.
constexpr double kScoutHaste = 64;

std::optional<double> figure(const RunResult& result, std::string_view key) {
    const Metric* metric = metrics::find_metric(result.metrics, key);
    return metric ? metric->value : std::nullopt;
}

// A run of full length as people see it: its progress, and a line an epoch. The epochs are not the result's yet: there
// may be another such run.
class FullRunObserver final : public RunObserver {
  public:
    FullRunObserver(RunObserver* shown, std::uint32_t count) : shown_(shown), count_(count) {}
    void on_progress(const Progress& progress) override { shown_->on_progress(progress); }
    void on_slice(const Slice& slice) override { shown_->on_slice(slice); }
    void on_message(std::string_view message) override { shown_->on_message(message); }
    void on_epoch(const EpochResult& epoch) override {
        const Metric* au = metrics::find_metric(epoch.metrics, "au_percentage");
        shown_->on_message(fmt::format(
            "{} accelerators, {} {}: AU {}, {} steps", count_, epoch.evaluation ? "evaluation after epoch" : "epoch",
            epoch.index + 1, au && au->value ? fmt::format("{:.2f} %", *au->value) : "none", epoch.step_count));
    }

  private:
    RunObserver* shown_;
    std::uint32_t count_;
};

class MaxRun {
  public:
    MaxRun(const MaxRequest& request, const MaxPlan& plan)
        : request_(request), plan_(plan),
          search_({plan.bar_percentage, plan.unit, plan.limit, request.start, 1, request.confirm}),
          first_ns_(request.base.reactor->now_ns()) {}

    Expected<RunResult> run();

  private:
    bool is_first() const { return request_.base.communicator->rank() == 0; }
    Trial agreed_trial();
    Expected<RunResult> make(const Trial& trial);
    void show_before(const Trial& trial);
    void note(const Trial& trial, RunResult result);
    const ScalingPoint* point(std::uint32_t count) const;
    void find_ceiling(StopFacts& facts) const;
    RunResult conclude(const std::string& status);

    const MaxRequest& request_;
    const MaxPlan& plan_;
    MaxSearch search_; // rank 0's is the one that counts
    std::uint64_t first_ns_;
    std::uint32_t trial_count_ = 0;
    std::map<std::uint32_t, std::vector<ScalingPoint>> points_; // rank 0: the trials at N
    std::map<std::uint32_t, RunResult> results_;                // rank 0: the last of them
    std::optional<RunResult> scout_;
    std::optional<Error> error_;
};

// Rank 0 decides, all hear of it.
Trial MaxRun::agreed_trial() {
    const Trial mine = search_.next();
    const std::string text = request_.base.communicator->broadcast(
        fmt::format("{} {} {}", static_cast<unsigned>(mine.kind), mine.accelerator_count, mine.length_factor));
    unsigned kind = 0, count = 0, factor = 0;
    std::sscanf(text.c_str(), "%u %u %u", &kind, &count, &factor);
    return {static_cast<TrialKind>(kind), count, factor};
}

Expected<RunResult> MaxRun::make(const Trial& trial) {
    RunRequest one = request_.base;
    one.steps_path.clear();
    one.limit = {};
    one.accelerator_count = trial.accelerator_count;
    if (trial.kind == TrialKind::confirm) {
        FullRunObserver observer(request_.base.observer, trial.accelerator_count);
        one.observer = request_.base.observer ? &observer : nullptr;
        return run_training(one);
    }
    ShortRun how;
    how.accelerator_count = trial.accelerator_count;
    how.seconds = plan_.probe_s * trial.length_factor;
    how.settle_s = plan_.settle_s;
    // A repeat is what an answer rests on: whose limit it was must be told.
    if (trial.length_factor > 1) how.ceiling_s = request_.base.ceiling_s;
    if (trial.kind == TrialKind::scout) {
        how.think_s = plan_.think_s / kScoutHaste;
        how.settle_s = std::min(plan_.settle_s, 2.0); // shorter steps: the queue is sooner used up
    }
    return run_short(one, how);
}

void MaxRun::show_before(const Trial& trial) {
    RunObserver* observer = request_.base.observer;
    if (!observer) return;
    const double probes = search_.probes_left(), samples = static_cast<double>(plan_.sample_count);
    const std::uint32_t count = std::max(trial.accelerator_count, search_.found());
    const double full_s = request_.base.workload->train.epochs * samples / plan_.batch_size / count * plan_.think_s;
    const std::string phase =
        trial.kind == TrialKind::confirm ? fmt::format("run of full length with {} accelerators", count)
        : trial.kind == TrialKind::scout ? "first guess"
                                         : fmt::format("probe with {} accelerators", trial.accelerator_count);
    Progress progress;
    progress.phase = phase;
    progress.done = trial_count_;
    progress.total = trial_count_ + search_.probes_left() + (request_.confirm ? 1 : 0);
    progress.unit = "trials";
    progress.elapsed_s = seconds(request_.base.reactor->now_ns() - first_ns_);
    progress.eta_s =
        probes * (plan_.probe_s + plan_.settle_s) + (request_.confirm ? full_s / (plan_.bar_percentage / 100) : 0);
    observer->on_progress(progress);
}

void MaxRun::note(const Trial& trial, RunResult result) {
    const std::optional<double> au = figure(result, "au_mean_percentage");
    const std::optional<double> delivered = figure(result, "delivered_MB_per_second");
    ++trial_count_;
    if (trial.kind == TrialKind::scout) {
        // What was delivered, over what one accelerator needs that thinks as the workload says.
        const std::optional<double> needed = figure(result, "needed_MB_per_second");
        const double asked = trial.accelerator_count * kScoutHaste;
        const double fed = delivered && needed && *needed > 0 ? *delivered / *needed * asked : 0;
        const bool by_demand = !au || *au >= plan_.bar_percentage;
        if (request_.base.observer)
            request_.base.observer->on_message(fmt::format("first guess: {:.1f} MB/s would feed {:.0f} accelerators{}",
                                                           delivered.value_or(0), fed, by_demand ? " or more" : ""));
        scout_ = std::move(result);
        search_.give({au, fed, by_demand});
        return;
    }
    ScalingPoint point;
    point.accelerator_count = trial.accelerator_count;
    point.au_percentage = au;
    point.MB_per_second = delivered.value_or(0);
    point.batch_wait_s_p99 = figure(result, "batch_wait_s_p99").value_or(0);
    for (const EpochResult& epoch : result.epochs)
        if (!epoch.evaluation) point.duration_s += epoch.end_s - epoch.start_s;
    point.verdict = result.verdict;
    point.passed = au && *au >= plan_.bar_percentage;
    point.confirmed = trial.kind == TrialKind::confirm;
    if (request_.base.observer)
        request_.base.observer->on_message(fmt::format(
            "{} accelerators{}: AU {}, {:.1f} MB/s, p99 batch wait {:.1f} ms{}: {}", point.accelerator_count,
            point.confirmed ? ", full length" : "", au ? fmt::format("{:.2f} %", *au) : "none", point.MB_per_second,
            1e3 * point.batch_wait_s_p99, point.verdict.empty() ? "" : ", " + point.verdict,
            point.passed ? "reaches the bar" : "misses the bar"));
    points_[trial.accelerator_count].push_back(std::move(point));
    results_.insert_or_assign(trial.accelerator_count, std::move(result));
    search_.give({au});
}

// The one that counts at this N: of full length if there was one, else the probe in the middle.
const ScalingPoint* MaxRun::point(std::uint32_t count) const {
    const auto found = points_.find(count);
    if (found == points_.end()) return nullptr;
    std::vector<const ScalingPoint*> probes;
    for (const ScalingPoint& one : found->second) {
        if (one.confirmed) return &one;
        probes.push_back(&one);
    }
    std::stable_sort(probes.begin(), probes.end(), [](const ScalingPoint* a, const ScalingPoint* b) {
        return a->au_percentage.value_or(0) < b->au_percentage.value_or(0);
    });
    // Of two, the one on the side that was decided; both are, or the search still asks.
    return probes[probes.size() / 2];
}

// Of the run that missed the bar, or of the one beside it: the client does not change between them.
void MaxRun::find_ceiling(StopFacts& facts) const {
    facts.ceiling_reason = "no run measured it";
    for (const std::uint32_t count : {search_.missed(), search_.found()}) {
        const auto run = results_.find(count);
        if (run == results_.end()) continue;
        if (!run->second.ceiling_reason.empty()) facts.ceiling_reason = run->second.ceiling_reason;
        double sum = 0;
        for (const HostCeiling& host : run->second.ceilings) sum += host.MB_per_second;
        if (sum <= 0) continue;
        facts.ceiling_MB_per_second = sum;
        return;
    }
}

RunResult MaxRun::conclude(const std::string& status) {
    const std::uint32_t found = search_.found(), missed = search_.missed();
    RunResult result;
    if (const auto best = results_.find(found > 0 ? found : missed); best != results_.end())
        result = best->second;
    else if (!results_.empty())
        result = results_.begin()->second;
    else if (scout_)
        result = *scout_;
    result.kind = "max";
    result.au_required = plan_.bar_percentage / 100;
    for (const auto& [count, trials] : points_) {
        result.scaling.push_back(*point(count));
        result.scaling.back().passed = search_.passed(count);
    }
    StopFacts facts;
    facts.stop = search_.stop();
    facts.plan = &plan_;
    facts.found = found;
    facts.missed = missed > 0 ? point(missed) : nullptr;
    facts.missed_passed_probe = missed > 0 && search_.overruled(missed);
    facts.virtual_time = request_.base.reactor->clock().is_virtual();
    if (status != "complete") facts.broken = status;
    facts.null_storage = result.backend == "null";
    find_ceiling(facts);
    result.scaling_stop = stop_words(facts);

    Metric answer{"max_accelerator_count", "accelerators", static_cast<double>(found), "", "largest_that_passed"};
    if (status != "complete") answer.value.reset(), answer.reason = "search_" + status;
    result.metrics.push_back(std::move(answer));
    if (plan_.bar_is_default)
        result.findings.push_back(
            {"max_bar", "note", "the bar is 90 % AU: neither --au nor the workload's metric.au says another", {}});
    if (status == "complete" && found > 0 && !point(found)->confirmed)
        result.findings.push_back({"max_not_confirmed",
                                   "warning",
                                   fmt::format("{} accelerators passed short probes only: no run of full length "
                                               "confirmed it, and what stands below is the probe's",
                                               found),
                                   {}});
    if (status != "complete") {
        result.status = status;
        result.valid = false;
        result.invalid_reasons.push_back("search " + status);
        if (error_ && error_->kind != ErrorKind::interrupted) result.errors = {*error_};
    }
    return result;
}

Expected<RunResult> MaxRun::run() {
    std::string status = "complete";
    for (Trial trial = agreed_trial(); trial.kind != TrialKind::done; trial = agreed_trial()) {
        if (is_first()) show_before(trial);
        auto result = make(trial);
        if (!result)
            error_ = result.error();
        else if (result->status != "complete")
            error_ = result->errors.empty() ? Error{.kind = ErrorKind::interrupted,
                                                    .message = "interrupted",
                                                    .operation = {},
                                                    .path = {},
                                                    .host = {}}
                                            : result->errors.front();
        if (error_) { // the same on every rank
            status = error_->kind == ErrorKind::interrupted ? "interrupted" : "failed";
            break;
        }
        if (!is_first()) continue;
        note(trial, std::move(*result));
        if (request_.on_trial && !points_.empty()) {
            RunResult so_far = conclude("incomplete");
            request_.on_trial(so_far);
        }
    }
    const bool nothing = request_.base.communicator->broadcast(points_.empty() ? "nothing" : "some") == "nothing";
    if (error_ && nothing) return *error_;
    if (is_first()) return conclude(status);
    RunResult other;
    other.kind = "max";
    other.status = status;
    if (error_) other.errors = {*error_};
    return other;
}

} // namespace

Expected<RunResult> run_max(const MaxRequest& request) {
    auto plan = make_max_plan(request);
    if (!plan) return plan.error();
    return MaxRun(request, *plan).run();
}

} // namespace feedbench::workloads
