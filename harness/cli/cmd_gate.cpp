// feedbench gate: has this storage become slower than its baseline? Exit code 0, 1 or 4.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "harness/cli/baselines.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/gate_inputs.hpp"
#include "harness/cli/output_file.hpp"
#include "reporters/gate/formats.hpp"

namespace feedbench::cli {

namespace {

struct State {
    std::vector<std::string> baseline, candidate;
    std::string policy = "default", format = "console", out = "-", baselines_dir = kDefaultBaselines;
    std::string junit, json, markdown;
    bool no_steps = false;
};

// What is no file or folder is the name of a baseline; the candidate says which workload is meant.
Expected<std::vector<std::string>> resolve(const State& state, const gate::GateRun& candidate) {
    std::vector<std::string> paths;
    for (const std::string& one : state.baseline) {
        std::error_code ignored;
        if (std::filesystem::exists(one, ignored)) {
            paths.push_back(one);
            continue;
        }
        auto entry = find_baseline(state.baselines_dir, one, gate::workload_key(candidate));
        if (!entry) return entry.error();
        paths.push_back(entry->path.string());
    }
    return paths;
}

Status write_all(const State& state, const gate::GateReport& report, const Session& session) {
    struct Output {
        std::string_view format;
        const std::string& path;
    };
    for (const Output& one : {Output{"junit", state.junit}, Output{"json", state.json},
                              Output{"markdown", state.markdown}, Output{state.format, state.out}}) {
        if (one.path.empty()) continue;
        const reporters::RenderOptions options{one.path == "-" && session.on_terminal(1), 100};
        if (Status status = write_output(one.path, gate::find_format(one.format)->render(report, options)); !status)
            return status;
    }
    return {};
}

int run_gate(const State& state, Session& session) {
    if (!session.is_first()) return 0;
    auto policy = gate::load_policy(state.policy);
    if (!policy) return session.fail(policy.error());
    auto candidate = read_gate_inputs(state.candidate, !state.no_steps);
    if (!candidate) return session.fail(candidate.error());
    auto paths = resolve(state, candidate->runs.front());
    if (!paths) return session.fail(paths.error());
    auto baseline = read_gate_inputs(*paths, !state.no_steps);
    if (!baseline) return session.fail(baseline.error());
    for (const auto* side : {&*baseline, &*candidate})
        for (const std::string& warning : side->warnings) fmt::print(stderr, "feedbench: warning: {}\n", warning);
    gate::GateReport report = gate::judge(std::move(baseline->runs), std::move(candidate->runs), *policy);
    report.baseline_name = fmt::format("{}", fmt::join(*paths, ", "));
    report.candidate_name = fmt::format("{}", fmt::join(state.candidate, ", "));
    if (Status status = write_all(state, report, session); !status) return session.fail(status.error());
    return gate::exit_code_of(report.answer);
}

std::string policies_text() {
    std::string text;
    for (const std::string& name : gate::policy_names()) {
        const auto policy = gate::load_policy(name);
        text += fmt::format("  {:<12} {}\n", name, policy ? policy->description : policy.error().describe());
    }
    return text;
}

} // namespace

std::function<int(Session&)> add_gate(CLI::App& command) {
    auto state = std::make_shared<State>();
    command
        .add_option(
            "--baseline", state->baseline,
            "What was before: result.json, folders of runs, the file of a baseline, or a baseline by name: SYSTEM, "
            "SYSTEM/WORKLOAD or SYSTEM/WORKLOAD/ID")
        ->required();
    command
        .add_option("--candidate", state->candidate, "What is now: result.json or folders of runs, at least one run")
        ->required();
    command.add_option("--policy", state->policy,
                       "Metrics, tolerances, how sure: a name from below or a YAML file (default: default)");
    std::vector<std::string> names;
    for (const gate::Format& format : gate::formats()) names.emplace_back(format.name);
    command.add_option("--format", state->format, fmt::format("{} (default console)", fmt::join(names, ", ")))
        ->check(CLI::IsMember(names));
    command.add_option("-o,--out", state->out, "Write it to this file instead of the console");
    command.add_option("--junit", state->junit, "Also write JUnit XML to this file");
    command.add_option("--json", state->json, "Also write JSON to this file");
    command.add_option("--markdown", state->markdown, "Also write Markdown to this file");
    command.add_option("--baselines-dir", state->baselines_dir, "Where baselines lie that are given by name")
        ->capture_default_str();
    command.add_flag("--no-steps", state->no_steps,
                     "Leave steps.h5 beside the results alone; slices and epochs are used instead");
    command.footer([] {
        return "Policies (configs/gates):\n" + policies_text() +
               "Exit code 0: pass; 1: regressed; 4: not comparable, or not enough data; 2: wrong usage or input. "
               "docs/gate.md\n"
               "Example: feedbench gate --baseline lab-nas --candidate feedbench-results --junit gate.xml --markdown "
               "gate.md";
    });
    return [state](Session& session) { return run_gate(*state, session); };
}

} // namespace feedbench::cli
