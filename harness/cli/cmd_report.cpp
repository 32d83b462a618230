// feedbench report: results that exist, as a page, as Markdown or as CSV.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <fmt/format.h>

#include "harness/cli/commands.hpp"
#include "harness/cli/output_file.hpp"
#include "reporters/ingest/find_results.hpp"
#include "reporters/read_result.hpp"
#include "reporters/report_formats.hpp"

namespace feedbench::cli {

namespace {

namespace fs = std::filesystem;

struct State {
    std::vector<std::string> inputs;
    std::string format = "html", out;
};

struct Results {
    std::vector<reporters::ReportedRun> runs;
    std::vector<reporters::UnusedFile> unused; // found below a folder; what was named itself must be readable
    std::vector<fs::path> seen;                // the same file is shown once
};

// A file that was named, or the folder that holds it.
Status take(Results& results, const fs::path& path) {
    std::error_code ignored;
    const fs::path file = fs::weakly_canonical(fs::is_directory(path, ignored) ? path / "result.json" : path, ignored);
    if (std::find(results.seen.begin(), results.seen.end(), file) != results.seen.end()) return {};
    results.seen.push_back(file);
    auto result = reporters::read_result(path);
    if (!result) return result.error();
    results.runs.push_back({path.string(), std::move(*result)});
    return {};
}

Status take_all(Results& results, const std::string& input) {
    std::error_code ignored;
    if (!fs::exists(input, ignored)) return usage_error(input + ": there is no such file or folder");
    if (!fs::is_directory(input, ignored) || fs::exists(fs::path(input) / "result.json", ignored)) {
        Status status = take(results, input);
        if (!status && status.error().kind == ErrorKind::format) // the caller's choice of file, not the storage's fault
            return usage_error(status.error().describe() +
                               " (expected a result.json of feedbench; feedbench compare reads other tools' files)");
        return status;
    }
    const std::size_t before = results.runs.size() + results.unused.size();
    const ingest::FoundResults found = ingest::find_results(input);
    for (const ingest::Problem& problem : found.problems)
        if (!problem.used) results.unused.push_back({problem.path, problem.found});
    for (const ingest::RunFolder& run : found.runs)
        if (!run.result.empty())
            if (Status status = take(results, run.result); !status)
                results.unused.push_back({run.result.string(), status.error().message});
    if (results.runs.size() + results.unused.size() == before)
        return usage_error(input + ": no result.json of feedbench lies in it or below it");
    return {};
}

// Beside the one result; of several: in the folder that was given, or here.
std::string default_path(const State& state, const Results& results) {
    std::error_code ignored;
    if (results.runs.size() == 1) {
        const fs::path source = results.runs[0].source;
        return ((fs::is_directory(source, ignored) ? source : source.parent_path()) / "report.html").string();
    }
    const bool one_folder = state.inputs.size() == 1 && fs::is_directory(state.inputs[0], ignored);
    return (one_folder ? fs::path(state.inputs[0]) / "report.html" : fs::path("report.html")).string();
}

int run_report(const State& state, Session& session) {
    if (!session.is_first()) return 0;
    Results results;
    for (const std::string& input : state.inputs)
        if (Status status = take_all(results, input); !status) return session.fail(status.error());
    for (const reporters::UnusedFile& one : results.unused)
        fmt::print(stderr, "feedbench: not used: {}: {}\n", one.path, one.reason);
    if (results.runs.empty())
        return session.fail(usage_error("nothing to report: no result that was found can be read"));
    const reporters::ReportFormat& format = *reporters::find_report_format(state.format);
    std::string path = state.out;
    if (path.empty()) path = format.is_page ? default_path(state, results) : "-";
    if (Status status = write_output(path, format.render(results.runs, results.unused)); !status)
        return session.fail(status.error());
    if (path != "-") fmt::print("{}\n", path);
    return 0;
}

} // namespace

std::function<int(Session&)> add_report(CLI::App& command) {
    auto state = std::make_shared<State>();
    command
        .add_option(
            "result", state->inputs,
            "Results of feedbench: result.json, the folder that holds it, or a folder with many of them below it")
        ->required();
    std::vector<std::string> names, help;
    for (const reporters::ReportFormat& format : reporters::report_formats()) {
        names.emplace_back(format.name);
        help.push_back(fmt::format("{} ({})", format.name, format.help));
    }
    command.add_option("--format", state->format, fmt::format("{}; default html", fmt::join(help, ", ")))
        ->check(CLI::IsMember(names));
    command.add_option("-o,--out", state->out,
                       "Write to this file; - is standard output. Default: html report.html beside the result, others "
                       "standard output");
    command.footer(
        "One result is one page; several are one page with an overview and a list to choose from. The page is complete "
        "in\n"
        "itself: it can be mailed, and loads nothing. Every run writes its own report.html into its results folder.\n"
        "Exit code 2 where a result cannot be read; docs/report.md explains the page.\n"
        "Example: feedbench report feedbench-results/training/unet3d/run/20261130_101514\n"
        "         feedbench report feedbench-results -o all.html\n"
        "         feedbench report result.json --format markdown");
    return [state](Session& session) { return run_report(*state, session); };
}

} // namespace feedbench::cli
