// feedbench baseline add|show|prune: what `feedbench gate` holds later runs against.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "harness/cli/baselines.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/gate_inputs.hpp"
#include "reporters/gate/comparable.hpp"
#include "reporters/gate/gate.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::cli {

namespace {

struct State {
    std::string dir = kDefaultBaselines;
    std::vector<std::string> results;
    std::string system, note, by, name;
    bool allow_invalid = false, no_steps = false, dry_run = false;
    unsigned keep = 0;
};

std::string whoami() {
    const passwd* user = getpwuid(geteuid());
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    return fmt::format("{}@{}", user != nullptr ? user->pw_name : std::to_string(geteuid()).c_str(),
                       host[0] != '\0' ? host : "unknown");
}

Status check_runs(const State& state, const std::vector<gate::GateRun>& runs) {
    for (const gate::GateRun& run : runs)
        if (!run.valid && !state.allow_invalid) {
            Error error =
                config_error(fmt::format("not a valid result ({}): no baseline is made of it without --allow-invalid",
                                         fmt::join(run.reasons, "; ")),
                             run.path);
            error.kind = ErrorKind::invalid;
            return error;
        }
    // Against themselves: what differs among them would differ from every candidate.
    for (const gate::Difference& one : gate::compare_runs(runs, runs, {}).forbidding)
        if (one.key != "valid")
            return usage_error(
                fmt::format("the results differ in {} ({}): runs of one baseline are repetitions of one thing", one.key,
                            one.baseline));
    return {};
}

int add(const State& state, Session& session) {
    auto inputs = read_gate_inputs(state.results, !state.no_steps);
    if (!inputs) return session.fail(inputs.error());
    if (Status status = check_runs(state, inputs->runs); !status) return session.fail(status.error());
    for (const std::string& warning : inputs->warnings) fmt::print(stderr, "feedbench: warning: {}\n", warning);
    gate::Baseline baseline;
    baseline.system = state.system.empty() ? gate::fact(inputs->runs.front().surroundings, "host") : state.system;
    if (Status status = check_system_name(baseline.system); !status) return session.fail(status.error());
    baseline.made_by = state.by.empty() ? whoami() : state.by;
    baseline.made_at = iso_time_now();
    baseline.note = state.note;
    baseline.runs = std::move(inputs->runs);
    auto entry = write_baseline(state.dir, baseline, run_stamp_now());
    if (!entry) return session.fail(entry.error());
    fmt::print("{}: {} run{} in {}\n", entry->name(), baseline.runs.size(), baseline.runs.size() == 1 ? "" : "s",
               entry->path.string());
    if (baseline.runs.size() < 3)
        fmt::print(
            "note: with fewer than 3 runs a gate cannot tell a change from the difference between any two runs\n");
    return 0;
}

std::string figure(const gate::Baseline& baseline, std::string_view key) {
    std::vector<double> values;
    for (const gate::GateRun& run : baseline.runs)
        if (const Metric* metric = reporters::row(run.figures, key); metric != nullptr && metric->value)
            values.push_back(*metric->value);
    if (values.empty()) return "-";
    std::sort(values.begin(), values.end());
    return gate::figure_text(values[values.size() / 2]);
}

Expected<gate::Baseline> read(const BaselineEntry& entry) {
    auto text = read_whole_file(entry.path);
    if (!text) return text.error();
    return gate::baseline_from_json(*text, entry.path.string());
}

void print_one(const BaselineEntry& entry, const gate::Baseline& baseline) {
    fmt::print("{}\n  made      {} by {}\n  what      {}\n", entry.name(), baseline.made_at, baseline.made_by,
               gate::describe(baseline.runs.front()));
    if (!baseline.note.empty()) fmt::print("  note      {}\n", baseline.note);
    for (const gate::GateRun& run : baseline.runs) {
        fmt::print("  run       {}  {}{}\n            {}\n", run.start_time, run.path,
                   run.valid ? "" : fmt::format("  NOT VALID: {}", fmt::join(run.reasons, "; ")), run.command_line);
        for (const gate::MetricRule& rule : gate::known_metrics())
            if (const Metric* metric = reporters::row(run.figures, rule.key); metric != nullptr && metric->value)
                fmt::print("            {:<26} {}\n", rule.heading, gate::figure_text(*metric->value));
    }
}

int show(const State& state, Session& session) {
    if (!state.name.empty() && state.name.find('/') != std::string::npos) {
        auto entry = find_baseline(state.dir, state.name, "");
        if (!entry) return session.fail(entry.error());
        auto baseline = read(*entry);
        if (!baseline) return session.fail(baseline.error());
        print_one(*entry, *baseline);
        return 0;
    }
    auto entries = list_baselines(state.dir);
    if (!entries) return session.fail(entries.error());
    constexpr const char* kRow = "{:<16} {:<26} {:<18} {:>5} {:>10} {:>8}  {:<28} {}\n";
    bool any = false;
    for (const BaselineEntry& entry : *entries) {
        if (!state.name.empty() && entry.system != state.name) continue;
        auto baseline = read(entry);
        if (!baseline) return session.fail(baseline.error());
        if (!any) fmt::print(fmt::runtime(kRow), "system", "workload", "id", "runs", "MB/s", "AU %", "made", "by");
        any = true;
        fmt::print(fmt::runtime(kRow), entry.system, entry.workload, entry.id, baseline->runs.size(),
                   figure(*baseline, "delivered_MB_per_second"), figure(*baseline, "au_mean_percentage"),
                   baseline->made_at.substr(0, 19), baseline->made_by);
    }
    if (any) return 0;
    if (!state.name.empty()) return session.fail(find_baseline(state.dir, state.name, "").error());
    fmt::print("no baselines in {}\n", state.dir);
    return 0;
}

int prune(const State& state, Session& session) {
    auto entries = list_baselines(state.dir);
    if (!entries) return session.fail(entries.error());
    unsigned removed = 0, kept = 0, newer = 0;
    for (std::size_t i = entries->size(); i-- > 0;) { // newest first
        const BaselineEntry& entry = (*entries)[i];
        const bool same = i + 1 < entries->size() && (*entries)[i + 1].system == entry.system &&
                          (*entries)[i + 1].workload == entry.workload;
        newer = same ? newer + 1 : 0;
        if (newer < state.keep || (!state.system.empty() && entry.system != state.system)) {
            ++kept;
            continue;
        }
        std::error_code code;
        if (!state.dry_run && !std::filesystem::remove(entry.path, code) && code)
            return session.fail(storage_error("remove", entry.path.string(), code.value()));
        fmt::print("{} {}\n", state.dry_run ? "would remove" : "removed", entry.name());
        ++removed;
    }
    fmt::print("{} {}, {} kept\n", removed, state.dry_run ? "would go" : "removed", kept);
    return 0;
}

} // namespace

std::function<int(Session&)> add_baseline(CLI::App& command) {
    auto state = std::make_shared<State>();
    auto chosen = std::make_shared<int (*)(const State&, Session&)>(nullptr);
    command.require_subcommand(1);
    CLI::App* of_add =
        command.add_subcommand("add", "Keep results as a baseline: repetitions of one run, five are good");
    of_add->add_option("result", state->results, "result.json, or folders of runs")->required();
    of_add->add_option("--system", state->system,
                       "Name of the storage that was measured (default: the first host's name)");
    of_add->add_option("--note", state->note, "Free text that is kept with it");
    of_add->add_option("--by", state->by, "Who made it (default: user@host)");
    of_add->add_flag("--allow-invalid", state->allow_invalid, "Keep results that are not valid, too");
    of_add->add_flag("--no-steps", state->no_steps, "Leave steps.h5 beside the results alone");
    of_add->callback([chosen] { *chosen = add; });
    CLI::App* of_show = command.add_subcommand("show", "The baselines there are, or one with its runs");
    of_show->add_option("name", state->name, "SYSTEM, SYSTEM/WORKLOAD or SYSTEM/WORKLOAD/ID");
    of_show->callback([chosen] { *chosen = show; });
    CLI::App* of_prune = command.add_subcommand("prune", "Remove all but the newest of each system and workload");
    of_prune->add_option("--keep", state->keep, "How many stay")->required()->check(CLI::Range(1U, 1000000U));
    of_prune->add_option("--system", state->system, "Only of this system");
    of_prune->add_flag("--dry-run", state->dry_run, "Only say what would go");
    of_prune->callback([chosen] { *chosen = prune; });
    for (CLI::App* one : {of_add, of_show, of_prune})
        one->add_option("--baselines-dir", state->dir, "The folder of baselines")->capture_default_str();
    command.footer("Example: feedbench baseline add feedbench-results/training/unet3d/run --system lab-nas --note "
                   "'before the upgrade'\n"
                   "         feedbench baseline show lab-nas && feedbench baseline prune --keep 3");
    return [state, chosen](Session& session) { return session.is_first() ? (*chosen)(*state, session) : 0; };
}

} // namespace feedbench::cli
