#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/core.h>
#include <fmt/format.h>

#include "harness/cli/commands.hpp"
#include "harness/cli/output_file.hpp"
#include "reporters/compare/formats.hpp"
#include "reporters/ingest/ingest.hpp"

namespace feedbench::cli {

namespace {

struct State {
    std::vector<std::string> inputs;
    std::string format = "console", out;
    unsigned width = 160;
};

int run_compare(const State& state, Session& session) {
    if (!session.is_first()) return 0;
    const std::vector<std::filesystem::path> inputs(state.inputs.begin(), state.inputs.end());
    const compare::Comparison comparison = compare::compare(ingest::ingest(inputs));
    reporters::RenderOptions options;
    options.width = state.width;
    options.colour = state.out.empty() && session.on_terminal(1);
    const std::string text = compare::find_format(state.format)->render(comparison, options);
    if (Status status = write_output(state.out.empty() ? "-" : state.out, text); !status)
        return session.fail(status.error());
    if (!comparison.groups.empty()) return 0;
    // The formats for programs hold the reasons in their own way or not at all.
    if (state.format != "console" || !state.out.empty())
        for (const ingest::Problem& problem : comparison.problems)
            fmt::print(stderr, "feedbench: {}: {}; right is: {}\n", problem.path, problem.found, problem.expected);
    return session.fail(
        usage_error("nothing to compare: none of what was given holds a usable training or checkpoint result"));
}

} // namespace

std::function<int(Session&)> add_compare(CLI::App& command) {
    auto state = std::make_shared<State>();
    command
        .add_option("result", state->inputs,
                    "Results in any mix: result.json of feedbench or its folder, an MLPerf Storage result tree "
                    "(editions 1.0 to 3.0) or a part of one, a DLIO output folder")
        ->required();
    std::vector<std::string> names;
    for (const compare::Format& format : compare::formats()) names.emplace_back(format.name);
    command.add_option("--format", state->format, fmt::format("{} (default console)", fmt::join(names, ", ")))
        ->check(CLI::IsMember(names));
    command.add_option("-o,--out", state->out, "Write to this file instead of the console");
    command.add_option("--width", state->width, "Width of the console tables in characters (default 160)")
        ->check(CLI::Range(60u, 10000u));
    command.footer(
        "Each argument is a result of its own, or a tree of them; runs that lie together in it are averaged.\n"
        "Like is compared with like: workload, accelerator, edition and division never share a ranking.\n"
        "Exit code 2 where nothing could be used; docs/compare.md explains every column and footnote.\n"
        "Example: feedbench compare feedbench-results ../storage_results_v1.0 --format markdown -o compare.md");
    return [state](Session& session) { return run_compare(*state, session); };
}

} // namespace feedbench::cli
