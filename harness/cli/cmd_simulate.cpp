// feedbench simulate: the same loop under the virtual clock, on storage that is a formula or was fitted to a result.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <unistd.h>

#include "harness/cli/accelerator_counts.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/progress_option.hpp"
#include "harness/cli/results_folder.hpp"
#include "harness/cli/simulation.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "reporters/console_text.hpp"
#include "reporters/registry.hpp"

namespace feedbench::cli {

namespace {

struct State {
    SimulationSettings settings;
    std::string accelerators = "1", fit, results_dir;
    bool fit_only = false;
};

double value_or_zero(const RunResult& result, std::string_view key) {
    const Metric* metric = reporters::row(result.metrics, key);
    return metric && metric->value ? *metric->value : 0;
}

double virtual_s(const RunResult& result) {
    if (!result.epochs.empty()) return result.epochs.back().end_s;
    if (result.checkpoints.empty()) return 0;
    return result.checkpoints.back().start_s + result.checkpoints.back().visible_s;
}

ScalingPoint point_of(const RunResult& result) {
    ScalingPoint point;
    point.accelerator_count = result.accelerator_count;
    point.au_percentage = workloads::au_of(result);
    point.MB_per_second = value_or_zero(result, "delivered_MB_per_second");
    if (result.kind == "checkpoint") {
        point.MB_per_second = value_or_zero(result, "checkpoint_write_MB_per_second");
        if (point.MB_per_second == 0) point.MB_per_second = value_or_zero(result, "checkpoint_read_MB_per_second");
        point.duration_s = virtual_s(result);
    }
    point.batch_wait_s_p99 = value_or_zero(result, "batch_wait_s_p99");
    for (const EpochResult& epoch : result.epochs) point.duration_s += epoch.end_s - epoch.start_s;
    point.verdict = result.verdict;
    point.passed = result.au_required > 0 && point.au_percentage && *point.au_percentage >= 100 * result.au_required;
    point.confirmed = true; // a run of full length
    return point;
}

void print_curve(const RunResult& last) {
    constexpr const char* kHead = "{:>12} {:>8} {:>12} {:>14} {:>12}  {}\n";
    fmt::print(fmt::runtime(kHead), "accelerators", "AU %", "MB/s", "p99 wait", "simulated s", "bar");
    for (const ScalingPoint& p : last.scaling)
        fmt::print(fmt::runtime(kHead), p.accelerator_count,
                   p.au_percentage ? fmt::format("{:.2f}", *p.au_percentage) : std::string("none"),
                   reporters::rate_text(p.MB_per_second), reporters::duration_text(p.batch_wait_s_p99),
                   fmt::format("{:.2f}", p.duration_s), last.au_required <= 0 ? "none" : (p.passed ? "pass" : "FAIL"));
}

class SimulateCommand {
  public:
    SimulateCommand(Session& session, State& state) : session_(session), state_(state) {}

    int execute() {
        if (session_.communicator().size() > 1)
            return session_.fail(usage_error("simulate runs in one process; this job has " +
                                             std::to_string(session_.communicator().size()) + " ranks"));
        auto counts = parse_accelerator_counts(state_.accelerators);
        if (!counts) return session_.fail(counts.error());
        if (auto status = choose_storage(); !status) return session_.fail(status.error());
        if (state_.fit_only) return 0;
        auto simulation = Simulation::make(session_, state_.settings);
        if (!simulation) return session_.fail(simulation.error());
        if (state_.settings.options.dry_run) return print_plan(*simulation, counts->front());
        return run_all(*simulation, *counts);
    }

  private:
    Status choose_storage() {
        std::string& uri = state_.settings.options.data_folder;
        if (state_.fit.empty()) {
            if (state_.fit_only) return usage_error("--fit-only prints the model of a result: give --fit RESULT");
            if (uri.empty())
                return usage_error("simulate needs --storage 'model:bandwidth=..,latency=..' or --fit RESULT");
            return check_simulated_storage(uri);
        }
        if (!uri.empty()) return usage_error("--fit takes the storage from a result: leave --storage out");
        auto measured = reporters::read_result(state_.fit);
        if (!measured) {
            Error error = measured.error();
            error.kind = ErrorKind::config; // the command line named a file that is none
            return error;
        }
        auto fit = workloads::fit_model(*measured, state_.fit);
        if (!fit) return fit.error();
        auto calibrated = calibrate(session_, state_.settings, *measured, *fit);
        if (!calibrated) return calibrated.error();
        uri = storage::model_uri(fit->parameters);
        fmt::print("fitted to {} ({} accelerators, {}):\n  {}\n", state_.fit, measured->accelerator_count,
                   measured->workload, uri);
        for (const workloads::FitNote& note : fit->notes) fmt::print("  {:<13} {}\n", note.parameter, note.text);
        fmt::print("  {:<13} {}\n\n", "check", *calibrated);
        return {};
    }

    int print_plan(Simulation& simulation, std::uint32_t accelerator_count) {
        auto rows = simulation.plan(accelerator_count);
        if (!rows) return session_.fail(rows.error());
        print_effective(simulation.workload());
        fmt::print("\n");
        print_rows(*rows);
        return 0;
    }

    int run_all(Simulation& simulation, const std::vector<std::uint32_t>& counts) {
        std::optional<ResultsFolder> folder;
        RunResult head = head_of(simulation);
        if (!state_.results_dir.empty()) {
            auto made = ResultsFolder::create(state_.results_dir, head);
            if (!made) return session_.fail(made.error());
            folder = std::move(*made);
        }
        Session::catch_signals();
        const std::uint64_t start_ns = engine::monotonic_ns();
        RunResult result;
        std::vector<ScalingPoint> scaling;
        for (const std::uint32_t count : counts) {
            auto one = simulation.run(count);
            if (!one) {
                if (folder) folder->discard();
                return session_.fail(one.error());
            }
            result = std::move(*one);
            if (result.status != "complete") break;
            if (counts.size() > 1) scaling.push_back(point_of(result));
        }
        result.scaling = std::move(scaling);
        result.command_line = head.command_line;
        result.start_time = head.start_time;
        result.end_time = iso_time_now();
        result.run_id = head.run_id;
        Status written;
        if (folder) {
            result.results_folder = folder->final_path().string();
            written = folder->write_text("config.yaml", config::effective_yaml(simulation.workload()));
            if (written) written = folder->finish(result);
        }
        print(result, seconds(engine::monotonic_ns() - start_ns));
        if (!written) return session_.fail(written.error());
        if (result.status == "interrupted") return exit_code(ErrorKind::interrupted);
        return result.errors.empty() ? 0 : session_.fail(result.errors.front());
    }

    RunResult head_of(const Simulation& simulation) const {
        RunResult head;
        head.feedbench_version = FEEDBENCH_VERSION;
        head.kind = simulation.workload().checkpoint_only() ? "checkpoint" : "training";
        head.workload = simulation.workload().name;
        head.model = simulation.workload().model.name;
        head.virtual_time = true;
        head.start_time = iso_time_now();
        head.command_line = session_.command_line();
        head.config = simulation.workload().values;
        head.invalid_reasons = {"the run did not end"};
        return head;
    }

    void print(const RunResult& result, double real_s) const {
        fmt::print(
            "SIMULATED, nothing was measured: {} s of virtual time in the last run, {:.1f} s of real time in all\n",
            fmt::format("{:.2f}", virtual_s(result)), real_s);
        if (result.scaling.size() > 1 && result.status == "complete") {
            fmt::print("{} on {}\n\n", result.workload, result.data_folder);
            print_curve(result);
            if (!result.results_folder.empty()) fmt::print("\nresults: {}\n", result.results_folder);
            return;
        }
        fmt::print("{}",
                   reporters::find_reporter("console")->render(result, {session_.on_terminal(STDOUT_FILENO), 100}));
    }

    Session& session_;
    State& state_;
};

} // namespace

std::function<int(Session&)> add_simulate(CLI::App& command) {
    auto state = std::make_shared<State>();
    add_workload_options(command, state->settings.options);
    command.add_option(
        "--storage", state->settings.options.data_folder,
        "The storage as a formula: 'model:bandwidth=5GB,latency=1ms,...' (feedbench list shows the keys)");
    command.add_option("--fit", state->fit,
                       "Take the model from the result.json of a measured run (or its folder), and print it");
    command.add_flag("--fit-only", state->fit_only, "Print the fitted model and stop");
    command
        .add_option("-a,--accelerators", state->accelerators,
                    "Accelerators: a number, a list (1,2,4,8), a range (1-8, 16-128:16); several make a curve")
        ->capture_default_str();
    command
        .add_option("--steps", state->settings.step_count,
                    "Steps an epoch: the dataset is as large as they need, whatever the workload says")
        ->check(CLI::Range(1U, 100'000'000U));
    command.add_flag("--coarse", state->settings.coarse,
                     "One event a sample instead of one a transfer: many times faster with large samples");
    command.add_option("--seed", state->settings.seed, "Seed of shuffles, think times and latencies")
        ->capture_default_str();
    command.add_option("--results-dir", state->results_dir, "Where a result goes; default: nowhere");
    add_progress_option(command, state->settings.progress, kProgressOfSimulations);
    command.footer("Example: feedbench simulate unet3d_h100 --storage 'model:bandwidth=10GB,latency=2ms' "
                   "-a 1,2,4,8,16 --steps 20 --coarse\n"
                   "         feedbench simulate unet3d_h100 --fit results/20261130_090000 -a 1-64:7\n"
                   "         feedbench simulate llama3_1t --storage 'model:bandwidth=100GB' -a 1024 --coarse "
                   "-p checkpoint.num_checkpoints_write=1 -p checkpoint.num_checkpoints_read=1");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->settings.options); !status)
            return session.fail(status.error());
        return SimulateCommand(session, *state).execute();
    };
}

} // namespace feedbench::cli
