// Results as a comment on a pull request: the verdict in words, the figures that matter, epochs folded away.
#include <cmath>
#include <fmt/format.h>

#include "reporters/console_text.hpp"
#include "reporters/markdown_text.hpp"
#include "reporters/report_formats.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"

namespace feedbench::reporters {

namespace {

// "1,234.5 MB/s", or why there is none.
std::string value(const std::vector<Metric>& rows, std::string_view key, int decimals, bool with_unit = true) {
    const Metric* metric = row(rows, key);
    if (metric == nullptr) return "-";
    if (!metric->value) return "none: " + markdown_plain(reason_words(metric->reason));
    if (metric->unit == "s") return duration_text(*metric->value);
    const std::string number = grouped(*metric->value, decimals);
    return with_unit && !metric->unit.empty() ? number + " " + metric->unit : number;
}

std::string au(const RunResult& r) {
    std::string out = value(r.metrics, "au_mean_percentage", 2);
    const Metric* metric = row(r.metrics, "au_mean_percentage");
    if (r.au_required <= 0) return out + " (no bar)";
    const bool known = metric != nullptr && metric->value;
    if (!known && r.status != "complete") return out + fmt::format(" (bar {:.0f} %, not judged)", 100 * r.au_required);
    const bool met = known && *metric->value >= 100 * r.au_required;
    // What is not valid must not look like a success.
    if (met && !r.valid)
        return out + fmt::format(" (bar {:.0f} %, not judged: the run is not valid)", 100 * r.au_required);
    return out + fmt::format(", **{}** (bar {:.0f} %)", met ? "pass" : "fail", 100 * r.au_required);
}

std::string verdict_lines(const RunResult& r) {
    std::string out = "**" + markdown_plain(verdict_or_status(r)) + "**";
    const std::string meaning = verdict_meaning(r.verdict);
    if (!meaning.empty()) out += ": " + meaning;
    out += "\n\n";
    for (const Error& error : r.errors) out += "> Error: " + markdown_plain(error.describe()) + "\n>\n";
    if (const Finding* finding = deciding_finding(r)) out += "> " + markdown_plain(finding->evidence) + "\n>\n";
    out += "> " + markdown_plain(validity_words(r)) + "\n\n";
    if (!r.explanation.empty()) out += markdown_plain(r.explanation) + "\n\n";
    return out;
}

std::string figures(const RunResult& r) {
    std::string out = "| | |\n|---|---|\n";
    const auto line = [&](const std::string& name, const std::string& text) {
        if (text != "-") out += fmt::format("| {} | {} |\n", name, text);
    };
    line("Accelerators fed at most", value(r.metrics, "max_accelerator_count", 0));
    line("AU", row(r.metrics, "au_mean_percentage") == nullptr ? "-" : au(r));
    line("Effective utilization", value(r.metrics, "effective_utilization_percentage", 2));
    const Metric* rate = row(r.metrics, "delivered_MB_per_second");
    line("Delivered",
         value(r.metrics, "delivered_MB_per_second", -1) +
             (rate != nullptr && rate->value ? " (" + value(r.metrics, "delivered_MiB_per_second", -1) + ")" : ""));
    line("Needed at 100 % AU", value(r.metrics, "needed_MB_per_second", -1));
    line("Samples", value(r.metrics, "samples_per_second_mean", -1));
    line("Batch wait, p99", value(r.metrics, "batch_wait_s_p99", -1));
    line("Client CPU", value(r.metrics, "cpu_s_per_GB_process", -1));
    line("Checkpoints written", value(r.metrics, "checkpoint_write_GiB_per_second", -1));
    line("Checkpoints read", value(r.metrics, "checkpoint_read_GiB_per_second", -1));
    line("Checkpoints", value(r.metrics, "checkpoint_GiB_per_second", -1));
    return out + "\n";
}

std::string epochs(const RunResult& r) {
    if (r.epochs.empty()) return {};
    std::string out = fmt::format("<details><summary>{}</summary>\n\n| epoch | AU % | effective % | samples/s | MB/s | "
                                  "MiB/s | wall s |\n|---|---:|---:|---:|---:|---:|---:|\n",
                                  count_text(r.epochs.size(), "epoch"));
    for (const EpochResult& e : r.epochs)
        out += fmt::format(
            "| {}{} | {} | {} | {} | {} | {} | {} |\n", e.index + 1, e.evaluation ? " eval" : "",
            value(e.metrics, "au_percentage", 2, false), value(e.metrics, "effective_utilization_percentage", 2, false),
            value(e.metrics, "samples_per_second", -1, false), value(e.metrics, "delivered_MB_per_second", -1, false),
            value(e.metrics, "delivered_MiB_per_second", -1, false), fmt::format("{:.2f}", e.end_s - e.start_s));
    return out + "\n</details>\n\n";
}

std::string one_run(const RunResult& r) {
    std::string out = "### " + markdown_plain(run_title(r)) + "\n\n" + verdict_lines(r) + figures(r);
    if (!r.scaling.empty()) {
        out += "| accelerators | AU % | MB/s | bar | run | verdict |\n|---:|---:|---:|---|---|---|\n";
        for (const ScalingPoint& p : r.scaling)
            out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", p.accelerator_count,
                               p.au_percentage ? fmt::format("{:.2f}", *p.au_percentage) : "none: too few steps",
                               grouped(p.MB_per_second), p.passed ? "pass" : "miss",
                               p.confirmed ? "full length" : "probe", markdown_plain(p.verdict));
        out += "\n";
    }
    if (!r.scaling_stop.empty()) out += "Stopped by " + markdown_plain(r.scaling_stop) + "\n\n";
    std::string others;
    for (const Finding& finding : r.findings)
        if (&finding != deciding_finding(r))
            others += fmt::format("* {} ({}): {}\n", markdown_plain(finding.verdict), markdown_plain(finding.rule),
                                  markdown_plain(finding.evidence));
    if (!others.empty()) out += others + "\n";
    return out + epochs(r);
}

std::string table_of(std::span<const ReportedRun> runs) {
    std::string out = "## " + count_text(runs.size(), "run") +
                      "\n\n| run | verdict | valid | AU % | bar % | effective % | MB/s | MiB/s | samples/s | p99 wait "
                      "|\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for (const ReportedRun& one : runs) {
        const RunResult& r = one.result;
        out += fmt::format("| {}, {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", markdown_plain(run_title(r)),
                           markdown_plain(r.run_id), markdown_plain(verdict_or_status(r)), r.valid ? "yes" : "**no**",
                           value(r.metrics, "au_mean_percentage", 2, false),
                           r.au_required > 0 ? fmt::format("{:.0f}", 100 * r.au_required) : "-",
                           value(r.metrics, "effective_utilization_percentage", 2, false),
                           value(r.metrics, "delivered_MB_per_second", -1, false),
                           value(r.metrics, "delivered_MiB_per_second", -1, false),
                           value(r.metrics, "samples_per_second_mean", -1, false),
                           value(r.metrics, "batch_wait_s_p99", -1, false));
    }
    return out + "\n";
}

} // namespace

std::string render_run_markdown(std::span<const ReportedRun> runs, std::span<const UnusedFile> unused) {
    std::string out;
    if (runs.size() > 1) {
        out = table_of(runs);
        for (const ReportedRun& one : runs)
            out += "<details><summary>" + markdown_plain(run_title(one.result) + ", " + one.result.run_id) +
                   "</summary>\n\n" + one_run(one.result) + "</details>\n\n";
    } else {
        for (const ReportedRun& one : runs) out += one_run(one.result);
    }
    for (const UnusedFile& one : unused)
        out += fmt::format("* not used: {}: {}\n", markdown_plain(one.path), markdown_plain(one.reason));
    if (!unused.empty()) out += "\n";
    return out + fmt::format("feedbench {}: MLPerf-Storage-style, not verified by MLCommons.\n", FEEDBENCH_VERSION);
}

} // namespace feedbench::reporters
