#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "harness/cli/ceiling_option.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/measuring_job.hpp"
#include "harness/cli/progress_option.hpp"
#include "harness/cli/submission_option.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "harness/verdict/rule.hpp"

namespace feedbench::cli {

namespace {

struct State {
    WorkloadOptions options;
    std::uint32_t accelerators = 0;
    std::string results_dir = "feedbench-results", progress = "auto";
    std::uint64_t seed = 0;
    SubmissionOption submission;
    double ceiling_s = 2;
    double require_au = -1; // < 0: no bar asked for; 0: the workload's own
    bool virtual_time = false, no_steps = false, allow_cached = false;
};

// 1 only where a bar was asked for.
int judge(const State& state, const RunResult& result) {
    if (state.require_au < 0 || result.status != "complete") return 0;
    const double required = 100 * (state.require_au > 0 ? state.require_au : result.au_required);
    for (const Metric& metric : result.metrics)
        if (metric.key == "au_mean_percentage") {
            if (metric.value && *metric.value >= required) return 0;
            fmt::print(stderr, "feedbench: AU {} does not meet the required {:.2f} %\n",
                       metric.value ? fmt::format("{:.2f} %", *metric.value) : "(" + metric.reason + ")", required);
            return 1;
        }
    return 1;
}

int print_dry_run(Session& session, const Workload& workload, const workloads::WorkloadKind& kind,
                  const workloads::RunRequest& request) {
    auto rows = kind.plan(request);
    if (!rows) return session.fail(rows.error());
    if (session.is_first()) {
        print_effective(workload);
        fmt::print("\n");
        print_rows(*rows);
    }
    return 0;
}

class RunCommand {
  public:
    RunCommand(Session& session, const State& state, const Workload& workload, const workloads::WorkloadKind& kind)
        : session_(session), state_(state), workload_(workload), kind_(kind),
          submission_(session, workload, state.submission, state.results_dir),
          job_(session, workload, kind.name, state.results_dir, state.progress) {}

    int execute() {
        auto reactor = session_.reactor(state_.virtual_time,
                                        !state_.virtual_time && workload_.reader.io_engine == IoEngine::uring);
        if (!reactor) return session_.fail(reactor.error());
        if (!state_.options.data_folder.empty() && workload_.checkpoint_only())
            return session_.fail(
                usage_error("--data-dir is a dataset's folder, and " + workload_.name +
                            " reads none: give -p checkpoint.checkpoint_folder=" + state_.options.data_folder));
        if (state_.require_au >= 0 && workload_.checkpoint_only())
            return session_.fail(usage_error("--require-au asks for accelerators that train, and " + workload_.name +
                                             " only writes and reads checkpoints"));
        if (state_.require_au == 0 && !workload_.metric.au_is_set)
            return session_.fail(usage_error("--require-au without a value takes the workload's bar, and " +
                                             workload_.name + " has none (metric.au): give a fraction"));
        request_.workload = &workload_;
        request_.communicator = &session_.communicator();
        request_.reactor = *reactor;
        request_.accelerator_count =
            state_.accelerators ? state_.accelerators : static_cast<std::uint32_t>(session_.communicator().size());
        request_.run_seed = agreed_run_seed(session_, state_.seed);
        request_.ceiling_s = agreed_ceiling_s(session_, state_.ceiling_s);
        request_.signal = Session::signal_flag();
        request_.time_origin_unix_ns = unix_time_ns() - static_cast<std::int64_t>((*reactor)->now_ns());
        const Status allowed = submission_.look_ahead(request_.accelerator_count, state_.virtual_time);
        if (state_.options.dry_run) {
            const int code = print_dry_run(session_, workload_, kind_, request_);
            if (session_.is_first() && !submission_.text().empty()) fmt::print("\n{}", submission_.text());
            return allowed ? code : session_.fail(allowed.error());
        }
        if (!allowed) return session_.fail(allowed.error());
        // What the configuration alone can tell is refused before a folder is made.
        auto plan = kind_.plan(request_);
        if (auto status = cluster::agree(session_.communicator(), plan ? Status{} : Status(plan.error())); !status)
            return session_.fail(status.error());
        if (auto status = open_results(); !status) return job_.abandon(status.error());
        Session::catch_signals();
        auto result = kind_.run(request_);
        if (!result) return job_.abandon(result.error());
        if (session_.is_first()) submission_.judge(*result);
        return job_.finish(std::move(*result), {[this](const RunResult& done) { return judge(state_, done); },
                                                [this](const RunResult& done) {
                                                    return state_.allow_cached && verdict::only_cached(done);
                                                }});
    }

  private:
    Status open_results() {
        const cluster::Communicator& communicator = session_.communicator();
        const bool checkpoints = workload_.checkpoint_only();
        auto status =
            job_.open(request_, fmt::format("{} {} on {} ranks of {} hosts, {} {}", request_.accelerator_count,
                                            checkpoints ? "checkpoint ranks" : "accelerators", communicator.size(),
                                            communicator.hosts().size(), checkpoints ? "checkpoints in" : "data",
                                            checkpoints ? config::checkpoint_location(workload_)
                                                        : config::data_location(workload_)));
        if (!status) return status;
        std::string steps;
        if (session_.is_first() && !state_.no_steps) steps = (job_.folder() / "steps.h5").string();
        request_.steps_path = session_.communicator().broadcast(steps);
        return {};
    }

    Session& session_;
    const State& state_;
    const Workload& workload_;
    const workloads::WorkloadKind& kind_;
    workloads::RunRequest request_;
    SubmissionJudge submission_;
    MeasuringJob job_;
};

} // namespace

std::function<int(Session&)> add_run(CLI::App& command) {
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command
        .add_option("-a,--accelerators", state->accelerators,
                    "Accelerators in all (checkpoint workloads: ranks that write); default: one a rank")
        ->check(CLI::PositiveNumber);
    command.add_option("--results-dir", state->results_dir, "Where results go")->capture_default_str();
    command.add_option("--seed", state->seed,
                       "Seed of shuffles, think times and jitter; default: another one in every run");
    add_ceiling_option(command, state->ceiling_s);
    add_stall_timeout(command, state->options.stall_timeout_s);
    add_progress_option(command, state->progress);
    add_submission_option(command, state->submission);
    command
        .add_option("--require-au", state->require_au,
                    "Exit 1 when the mean AU is below this fraction (without a value: the workload's)")
        ->expected(0, 1)
        ->default_str("0")
        ->check(CLI::Range(0.0, 1.0));
    command.add_flag("--virtual-time", state->virtual_time,
                     "Simulate: time jumps to the next event (null: and model: storage, one process)");
    command.add_flag("--allow-cached", state->allow_cached,
                     "A run whose bytes came from a cache does not exit 4; its verdict stays, and it stays invalid");
    command.add_flag("--no-steps", state->no_steps, "Write no steps.h5");
    command.footer(
        "Example: mpirun -n 4 feedbench run unet3d_h100 --data-dir /mnt/x/unet3d --results-dir /home/me/results\n"
        "         feedbench run unet3d_h100 --accelerators 8 --data-dir null: --virtual-time\n"
        "         mpirun -n 8 feedbench run llama3_8b -p checkpoint.checkpoint_folder=/mnt/x/ckpt");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        session.set_stall_timeout(state->options.stall_timeout_s);
        if (state->virtual_time && session.communicator().size() > 1)
            return session.fail(usage_error("--virtual-time runs in one process; this job has " +
                                            std::to_string(session.communicator().size()) + " ranks"));
        auto workload = session.load(state->options);
        if (!workload) return session.fail(workload.error());
        auto kind = workloads::find_kind(*workload);
        if (!kind) return session.fail(kind.error());
        return RunCommand(session, *state, *workload, **kind).execute();
    };
}

} // namespace feedbench::cli
