#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cli/commands.hpp"
#include "harness/cli/results_folder.hpp"
#include "harness/cli/run_observer.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "harness/verdict/rule.hpp"
#include "reporters/registry.hpp"
#include "storage/registry.hpp"

namespace feedbench::cli {

namespace {

struct State {
    WorkloadOptions options;
    std::uint32_t accelerators = 0;
    std::string results_dir = "feedbench-results";
    std::uint64_t seed = 0;
    double require_au = -1; // < 0: no bar asked for; 0: the workload's own
    bool virtual_time = false, no_steps = false, allow_cached = false;
};

// The seed of a run must differ from run to run; the same on every rank.
std::uint64_t run_seed(Session& session, std::uint64_t asked) {
    std::string text;
    if (session.is_first())
        text = std::to_string(
            asked ? asked : mix64(static_cast<std::uint64_t>(unix_time_ns()) ^ (std::uint64_t(getpid()) << 40)));
    return std::stoull(session.communicator().broadcast(text));
}

// Results on the storage under test disturb it, and the rules forbid it: a warning (an error in a submission, later).
void warn_of_shared_filesystem(const Workload& workload, const ResultsFolder& folder, RunResult& result) {
    const auto uri = storage::parse_uri(config::data_location(workload));
    if (!uri) return;
    const std::string& data = uri->root; // empty, and no path, where the storage is not a filesystem
    struct stat data_stat {
    }, results_stat{};
    if (::stat(data.c_str(), &data_stat) != 0 || ::stat(folder.path().c_str(), &results_stat) != 0) return;
    if (data_stat.st_dev == results_stat.st_dev)
        result.findings.push_back(
            {"results_on_storage_under_test", "warning",
             "results and data lie on the same filesystem (" + data + "): give another --results-dir"});
}

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
        : session_(session), state_(state), workload_(workload), kind_(kind) {}

    int execute() {
        auto reactor = session_.reactor(state_.virtual_time,
                                        !state_.virtual_time && workload_.reader.io_engine == IoEngine::uring);
        if (!reactor) return session_.fail(reactor.error());
        if (state_.require_au == 0 && !workload_.metric.au_is_set)
            return session_.fail(usage_error("--require-au without a value takes the workload's bar, and " +
                                             workload_.name + " has none (metric.au): give a fraction"));
        request_.workload = &workload_;
        request_.communicator = &session_.communicator();
        request_.reactor = *reactor;
        request_.accelerator_count =
            state_.accelerators ? state_.accelerators : static_cast<std::uint32_t>(session_.communicator().size());
        request_.run_seed = run_seed(session_, state_.seed);
        request_.signal = Session::signal_flag();
        request_.time_origin_unix_ns = unix_time_ns() - static_cast<std::int64_t>((*reactor)->now_ns());
        if (state_.options.dry_run) return print_dry_run(session_, workload_, kind_, request_);
        // What the configuration alone can tell is refused before a folder is made.
        auto plan = kind_.plan(request_);
        if (auto status = cluster::agree(session_.communicator(), plan ? Status{} : Status(plan.error())); !status)
            return session_.fail(status.error());
        if (auto status = open_results(); !status) return abandon(status.error());
        Session::catch_signals();
        auto result = kind_.run(request_);
        return result ? report(std::move(*result)) : abandon(result.error());
    }

  private:
    Status open_results() {
        const cluster::Doing doing(session_.communicator().life(),
                                   "making the results folder in " + state_.results_dir);
        Status status;
        std::string steps;
        if (session_.is_first()) {
            head_.feedbench_version = FEEDBENCH_VERSION;
            head_.kind = kind_.name;
            head_.workload = workload_.name;
            head_.model = workload_.model.name;
            head_.start_time = iso_time_now();
            head_.command_line = session_.command_line();
            head_.config = workload_.values;
            head_.invalid_reasons = {"the run did not end"};
            auto folder = ResultsFolder::create(state_.results_dir, head_);
            if (!folder)
                status = folder.error();
            else {
                folder_ = std::move(*folder);
                request_.run_id = folder_->run_id();
                status = folder_->write_text("config.yaml", config::effective_yaml(workload_));
                warn_of_shared_filesystem(workload_, *folder_, head_);
                watcher_.emplace(session_.on_terminal(STDERR_FILENO), *folder_, head_);
                request_.observer = &*watcher_;
                if (!state_.no_steps) steps = (folder_->path() / "steps.h5").string();
                announce();
            }
        }
        if (status = cluster::agree(session_.communicator(), status); !status) return status;
        request_.steps_path = session_.communicator().broadcast(steps);
        return {};
    }

    void announce() {
        watcher_->on_message(fmt::format("{}: {} accelerators on {} ranks of {} hosts, data {}", workload_.name,
                                         request_.accelerator_count, session_.communicator().size(),
                                         session_.communicator().hosts().size(), config::data_location(workload_)));
        for (const ConfigValue& value : workload_.values)
            if (!value.effect.empty() && value.origin != "default")
                watcher_->on_message(fmt::format("{} ({}): {}", value.key, value.origin, value.effect));
        for (const Finding& finding : head_.findings) watcher_->on_message("warning: " + finding.evidence);
    }

    // Nothing could be measured: no result is left behind.
    int abandon(const Error& error) {
        if (watcher_) watcher_->finish();
        watcher_.reset();
        if (folder_) folder_->discard();
        return session_.fail(error);
    }

    int report(RunResult result) {
        const cluster::Doing doing(session_.communicator().life(),
                                   "writing the results in " + state_.results_dir);
        int code = 0;
        if (session_.is_first()) code = write_and_print(result);
        const std::string shared = session_.communicator().broadcast(std::to_string(code));
        return std::stoi(shared);
    }

    int write_and_print(RunResult& result) {
        result.command_line = head_.command_line;
        result.start_time = head_.start_time;
        result.end_time = iso_time_now();
        result.run_id = head_.run_id;
        result.results_folder = folder_->final_path().string();
        result.findings.insert(result.findings.begin(), head_.findings.begin(), head_.findings.end());
        watcher_->on_message("run " + result.status);
        watcher_->finish();
        watcher_.reset();
        const Status written = folder_->finish(result);
        fmt::print("{}",
                   reporters::find_reporter("console")->render(result, {session_.on_terminal(STDOUT_FILENO), 100}));
        if (!written) return session_.fail(written.error());
        if (result.status == "interrupted") {
            fmt::print(stderr, "feedbench: interrupted; the partial result is marked so\n");
            return exit_code(ErrorKind::interrupted);
        }
        if (!result.errors.empty()) return session_.fail(result.errors.front());
        if (!result.valid) {
            for (const std::string& reason : result.invalid_reasons)
                fmt::print(stderr, "feedbench: not valid: {}\n", reason);
            if (!state_.allow_cached || !verdict::only_cached(result)) return exit_code(ErrorKind::invalid);
        }
        return judge(state_, result);
    }

    Session& session_;
    const State& state_;
    const Workload& workload_;
    const workloads::WorkloadKind& kind_;
    workloads::RunRequest request_;
    RunResult head_; // what is known before the run
    std::optional<ResultsFolder> folder_;
    std::optional<RunWatcher> watcher_;
};

} // namespace

std::function<int(Session&)> add_run(CLI::App& command) {
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command.add_option("-a,--accelerators", state->accelerators, "Accelerators in all; default: one a rank")
        ->check(CLI::PositiveNumber);
    command.add_option("--results-dir", state->results_dir, "Where results go")->capture_default_str();
    command.add_option("--seed", state->seed,
                       "Seed of shuffles, think times and jitter; default: another one in every run");
    add_stall_timeout(command, state->options.stall_timeout_s);
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
        "         feedbench run unet3d_h100 --accelerators 8 --data-dir null: --virtual-time");
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
