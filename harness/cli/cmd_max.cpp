// feedbench max: how many accelerators can this storage feed?
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "harness/cli/commands.hpp"
#include "harness/cli/measuring_job.hpp"
#include "harness/cli/progress_option.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/verdict/rule.hpp"
#include "workloads/max.hpp"

namespace feedbench::cli {

namespace {

struct State {
    WorkloadOptions options;
    std::optional<double> bar, settle_s;
    std::optional<std::uint32_t> limit, start;
    std::uint32_t accelerators = 0; // is refused: N is what is searched
    double probe_s = 5, ceiling_s = 2;
    std::string results_dir = "feedbench-results", progress = "auto";
    std::uint64_t seed = 0;
    bool confirm = true, virtual_time = false, allow_cached = false;
};

// The bar was missed with the smallest number already.
int judge(const RunResult& result) {
    for (const Metric& metric : result.metrics)
        if (metric.key == "max_accelerator_count") return metric.value && *metric.value > 0 ? 0 : 1;
    return 1;
}

Status check(const State& state, int rank_count) {
    if (state.accelerators > 0)
        return usage_error("max searches the number of accelerators itself: leave --accelerators out (--start says "
                           "where it begins, --limit where it ends)");
    if (state.bar && *state.bar == 0)
        return usage_error("--au 0: the bar is a fraction of 1, larger than 0 and at most 1 (0.9 for 90 %)");
    if (state.limit && *state.limit == 0) return usage_error("--limit 0: at least 1 accelerator is needed");
    if (state.start && *state.start == 0) return usage_error("--start 0: at least 1 accelerator is needed");
    if (state.limit && state.start && *state.start > *state.limit)
        return usage_error(fmt::format("--start {} is larger than --limit {}", *state.start, *state.limit));
    if (state.virtual_time && rank_count > 1)
        return usage_error("--virtual-time runs in one process; this job has " + std::to_string(rank_count) + " ranks");
    return {};
}

class MaxCommand {
  public:
    MaxCommand(Session& session, const State& state, const Workload& workload)
        : session_(session), state_(state), workload_(workload),
          job_(session, workload, "max", state.results_dir, state.progress) {}

    int execute() {
        auto reactor = session_.reactor(state_.virtual_time,
                                        !state_.virtual_time && workload_.reader.io_engine == IoEngine::uring);
        if (!reactor) return session_.fail(reactor.error());
        workloads::RunRequest& base = request_.base;
        base.workload = &workload_;
        base.communicator = &session_.communicator();
        base.reactor = *reactor;
        base.run_seed = agreed_run_seed(session_, state_.seed);
        base.signal = Session::signal_flag();
        base.time_origin_unix_ns = unix_time_ns() - static_cast<std::int64_t>((*reactor)->now_ns());
        base.ceiling_s = state_.ceiling_s;
        request_.bar = state_.bar.value_or(0);
        request_.limit = state_.limit.value_or(0);
        request_.start = state_.start.value_or(0);
        request_.probe_s = state_.probe_s;
        request_.settle_s = state_.settle_s;
        request_.confirm = state_.confirm;
        // What the configuration alone can tell is refused before a folder is made.
        auto plan = workloads::plan_max(request_);
        if (auto status = cluster::agree(session_.communicator(), plan ? Status{} : Status(plan.error())); !status)
            return session_.fail(status.error());
        if (state_.options.dry_run) {
            if (session_.is_first()) {
                print_effective(workload_);
                fmt::print("\n");
                print_rows(*plan);
            }
            return 0;
        }
        auto status = job_.open(base, fmt::format("how many accelerators, on {} ranks of {} hosts, data {}",
                                                  base.communicator->size(), base.communicator->hosts().size(),
                                                  config::data_location(workload_)));
        if (!status) return job_.abandon(status.error());
        Session::catch_signals();
        request_.on_trial = [this](const RunResult& so_far) { (void)job_.write_partial(so_far).has_value(); };
        auto result = workloads::run_max(request_);
        if (!result) return job_.abandon(result.error());
        return job_.finish(std::move(*result), {judge, [this](const RunResult& done) {
                                                    return state_.allow_cached && verdict::only_cached(done);
                                                }});
    }

  private:
    Session& session_;
    const State& state_;
    const Workload& workload_;
    workloads::MaxRequest request_;
    MeasuringJob job_;
};

} // namespace

std::function<int(Session&)> add_max(CLI::App& command) {
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command.add_option("--au", state->bar,
                       "The bar, a fraction in (0, 1]; default: the workload's metric.au, else 0.9");
    command.add_option("--limit", state->limit,
                       fmt::format("Try no more accelerators than this; default {}", workloads::kLimitOfAll));
    command.add_option("--start", state->start, "First number to try; default: guessed from a short run");
    command
        .add_option("--probe-seconds", state->probe_s,
                    "Length of a probe, at least ten steps; repeats near the bar are twice as long")
        ->capture_default_str();
    command.add_option("--settle-seconds", state->settle_s,
                       "Before a probe's figures count; default 2, or as long as a full queue can hide a storage that "
                       "is a little too slow");
    command.add_flag("--confirm,!--no-confirm", state->confirm,
                     "The last word has a run of full length (the workload's epochs); --no-confirm: probes alone");
    command
        .add_option("--ceiling-seconds", state->ceiling_s,
                    "How long the client's ceiling is measured before runs that decide; 0: not at all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--results-dir", state->results_dir, "Where results go")->capture_default_str();
    command.add_option("--seed", state->seed,
                       "Seed of shuffles, think times and jitter; default: another one in every run");
    add_stall_timeout(command, state->options.stall_timeout_s);
    add_progress_option(command, state->progress);
    command.add_flag("--virtual-time", state->virtual_time,
                     "Simulate: time jumps to the next event (null: and model: storage, one process)");
    command.add_flag("--allow-cached", state->allow_cached,
                     "A result whose bytes came from a cache does not exit 4; its verdict stays, and it stays invalid");
    command.add_option("-a,--accelerators", state->accelerators)->group(""); // understood, to be refused in a sentence
    command.footer("Example: mpirun -n 4 feedbench max unet3d_h100 --data-dir /mnt/x/unet3d --results-dir /home/me/r\n"
                   "         feedbench max unet3d_h100 --data-dir 'model:bandwidth=10GB' --virtual-time\n"
                   "Exit code 1: not even the smallest number of accelerators reached the bar.");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        session.set_stall_timeout(state->options.stall_timeout_s);
        if (auto status = check(*state, session.communicator().size()); !status) return session.fail(status.error());
        auto workload = session.load(state->options);
        if (!workload) return session.fail(workload.error());
        return MaxCommand(session, *state, *workload).execute();
    };
}

} // namespace feedbench::cli
