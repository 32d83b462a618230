// The binary: one table of commands, one place where errors become exit codes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "harness/cli/commands.hpp"

namespace feedbench::cli {

namespace {

constexpr std::array kCommands{
    Command{"list", add_list,
            "What this build has: workload profiles, formats, loaders, storage backends, workload kinds"},
    Command{"show", add_show, "A workload: effective configuration, plan, sizes; nothing is run"},
    Command{"datasize", add_datasize, "How many files the rules ask for, given accelerators and host memory"},
    Command{"datagen", add_datagen,
            "Generate the dataset of a workload (mpirun spreads it over ranks; can be interrupted and resumed)"},
    Command{"adopt", add_adopt, "Take over a dataset that another tool wrote: look at it and write its manifest"},
    Command{"probe", add_probe, "What the client can do at most, its hosts' limits, and what lies below a data folder"},
    Command{"run", add_run, "Run the workload and measure AU and MB/s"},
    Command{"report", add_report, "Results as a page with plots, as Markdown or as CSV"},
    Command{"compare", add_compare,
            "Results side by side: feedbench's, MLPerf Storage result trees, DLIO output folders"},
    Command{"gate", add_gate, "Has it become slower? Runs against a baseline: pass, regressed, or cannot be said"},
    Command{"baseline", add_baseline, "Keep, show and prune what the gate holds later runs against"},
    Command{"submit", add_submit, "The tree of a submission: make it, fill it, check it by the rules, pack it"},
    Command{"system", add_system, "Describe the system under test for a submission, as far as its hosts can say"},
    Command{"max", add_max, "How many accelerators can this storage feed: the largest number that reaches the AU bar"},
    Command{"simulate", add_simulate,
            "Run the workload in virtual time on storage that is a formula, or was fitted to a result"},
};

// CLI11 says only that some command is required.
bool is_unknown_command(const std::string& word) {
    return !word.starts_with('-') &&
           std::none_of(kCommands.begin(), kCommands.end(), [&](const Command& one) { return one.name == word; });
}

int run(Session& session) {
    if (session.arguments().size() > 1 && is_unknown_command(session.arguments()[1])) {
        std::string names;
        for (const Command& command : kCommands) names += (names.empty() ? "" : ", ") + std::string(command.name);
        return session.fail(usage_error("there is no command '" + session.arguments()[1] + "': there are " + names));
    }
    CLI::App app(
        "feedbench: does this storage keep the accelerators fed?\n"
        "Generates training datasets, emulates accelerators that think between batches, and measures accelerator "
        "utilization (AU) and sustained MB/s.",
        "feedbench");
    app.set_version_flag("--version", "feedbench " FEEDBENCH_VERSION);
    app.footer(
        "Example: feedbench datagen unet3d_mini --data-dir /mnt/x && feedbench run unet3d_mini --data-dir /mnt/x\n"
        "Results are MLPerf-Storage-style, not verified by MLCommons.");
    app.require_subcommand(1);
    std::function<int(Session&)> chosen;
    std::array<std::function<int(Session&)>, kCommands.size()> bodies;
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        CLI::App* command = app.add_subcommand(std::string(kCommands[i].name), std::string(kCommands[i].summary));
        bodies[i] = kCommands[i].add(*command);
        command->callback([&chosen, &body = bodies[i]] { chosen = body; });
    }
    std::vector<std::string> arguments(session.arguments().rbegin(), session.arguments().rend() - 1);
    try {
        app.parse(arguments);
    } catch (const CLI::Success& shown) { // --help, --version
        if (session.is_first()) app.exit(shown);
        return 0;
    } catch (const CLI::ParseError& error) {
        return session.fail(usage_error(std::string(error.what()) + " (feedbench --help shows what there is)"));
    }
    return chosen(session);
}

} // namespace

} // namespace feedbench::cli

int main(int argc, char** argv) {
    feedbench::cli::Session session(&argc, &argv);
    return feedbench::cli::run(session);
}
