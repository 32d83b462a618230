// What a reader looks up: findings, what is not known, every row, how it was run and with which configuration.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>

#include "reporters/console_text.hpp"
#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/html/text.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

std::string fact_text(const Finding& finding) {
    std::string out;
    for (const Metric& fact : finding.facts) {
        const std::string value = fact.value ? grouped(*fact.value) : "not known, " + reason_words(fact.reason);
        out += fmt::format("{}{} = {}{}", out.empty() ? "" : "; ", fact.key, value,
                           fact.value && !fact.unit.empty() ? " " + fact.unit : "");
    }
    return out;
}

std::string tone_of(const Finding& finding) {
    const std::string tone = verdict_tone(finding.verdict);
    if (tone != "plain") return tone;
    return finding.verdict == "warning" ? "warn" : "";
}

// What YAML or the command line changed comes before what is as it always is.
bool is_default(const ConfigValue& value) { return value.origin == "default" || value.origin.starts_with("computed"); }

std::string config_table(const RunPart& part, bool defaults) {
    html::Table table;
    table.id = part.prefix + (defaults ? "default-table" : "config-table");
    table.filterable = true;
    table.columns = {{"Key", "", false}, {"Value", "", false}, {"Origin", "", false}};
    for (const ConfigValue& value : part.result.config)
        if (is_default(value) == defaults)
            table.rows.push_back(
                {{.text = value.key}, {.text = value.value, .reason = value.effect}, {.text = value.origin}});
    return table.rows.empty() ? "" : html::table(table);
}

} // namespace

std::string finding_section(const RunPart& part) {
    const RunResult& r = part.result;
    if (r.findings.empty() && r.errors.empty()) return {};
    html::Table table;
    table.id = part.prefix + "finding-table";
    table.sortable = false;
    table.columns = {{"Finding", "", false}, {"Rule", "", false}, {"Evidence", "", false}, {"Numbers", "", false}};
    for (const Error& error : r.errors)
        table.rows.push_back(
            {{.text = "error", .tone = "bad"}, {.text = error.operation}, {.text = error.describe()}, {}});
    constexpr std::size_t kMostRows = 500; // a warning of every host in every epoch is one warning
    for (const Finding& finding : std::span(r.findings).first(std::min(kMostRows, r.findings.size())))
        table.rows.push_back({{.text = finding.verdict, .tone = tone_of(finding)},
                              {.text = finding.rule},
                              {.text = finding.evidence, .tone = "words"},
                              {.text = fact_text(finding), .tone = "words soft"}});
    std::string more;
    if (r.findings.size() > kMostRows)
        more = html::paragraph(
            fmt::format("The first {} of {} findings; result.json has all.", kMostRows, r.findings.size()), "soft");
    return html::section(part.prefix + "findings", "Findings", html::table(table) + more);
}

std::string unknown_section(const RunPart& part) {
    const RunResult& r = part.result;
    html::Table table;
    table.id = part.prefix + "unknown-table";
    table.columns = {{"Figure", "", false}, {"Why there is none", "", false}, {"Where", "", false}};
    const auto take = [&](const std::vector<Metric>& rows, const std::string& where) {
        for (const Metric& metric : rows)
            if (!metric.value)
                table.rows.push_back({{.text = metric.key}, {.text = reason_words(metric.reason)}, {.text = where}});
    };
    take(r.metrics, "run");
    // The same row without a value in several epochs is one line.
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> in_epochs;
    for (const EpochResult& e : r.epochs)
        for (const Metric& metric : e.metrics)
            if (!metric.value)
                in_epochs[{metric.key, metric.reason}].push_back(
                    fmt::format("{}{}", e.index + 1, e.evaluation ? " eval" : ""));
    for (const auto& [what, where] : in_epochs)
        table.rows.push_back({{.text = what.first},
                              {.text = reason_words(what.second)},
                              {.text = where.size() == r.epochs.size() && where.size() > 1
                                           ? "every epoch"
                                           : "epoch " + fmt::format("{}", fmt::join(where, ", "))}});
    if (r.ceilings.empty() && !r.ceiling_reason.empty())
        table.rows.push_back({{.text = "client ceiling"}, {.text = r.ceiling_reason}, {.text = "run"}});
    if (table.rows.empty()) return {};
    return html::section(part.prefix + "unknown", "What is not known", html::table(table));
}

std::string figure_section(const RunPart& part) {
    if (part.result.metrics.empty()) return {};
    html::Table table;
    table.id = part.prefix + "figure-table";
    table.filterable = true;
    table.columns = {{"Key", "", false}, {"Value", ""}, {"Unit", "", false}, {"Formula", "", false}};
    for (const Metric& metric : part.result.metrics)
        table.rows.push_back(
            {{.text = metric.key}, metric_cell(&metric), {.text = metric.unit}, {.text = metric.formula}});
    return html::section(part.prefix + "figures", "Every figure",
                         html::details(fmt::format("{}, with their formulas", count_text(table.rows.size(), "row")),
                                       html::table(table)));
}

std::string setup_section(const RunPart& part) {
    const RunResult& r = part.result;
    const auto number = [](double value) { return value > 0 ? grouped(value, 0) : std::string(); };
    std::string body = html::name_list({
        {"Workload", r.workload},
        {"Data", data_location(r)},
        {"Reading",
         fmt::format("{}{}", r.odirect ? "O_DIRECT" : "buffered", r.io_engine.empty() ? "" : ", " + r.io_engine)},
        {"Dataset", r.num_files_train == 0
                        ? ""
                        : fmt::format("{} {} × {}, {} each", count_text(r.num_files_train, "file"), r.format,
                                      count_text(r.num_samples_per_file, "sample"), bytes_text(r.record_length_bytes))},
        {"Loader",
         r.data_loader.empty() ? "" : r.data_loader + (r.framework.empty() ? "" : " (framework " + r.framework + ")")},
        {"Batch", number(r.batch_size)},
        {"Think time", r.think_time_mean_s > 0 ? page_duration(r.think_time_mean_s) + " a batch" : ""},
        {"Epochs", number(r.epoch_count)},
        {"Ranks", number(r.rank_count)},
        {"Time", r.virtual_time ? "virtual: a simulation, nothing was measured" : ""},
        {"Started", r.start_time},
        {"Ended", r.end_time},
        {"Seed", std::to_string(r.run_seed)},
        {"Rules", r.edition.empty() ? "" : "edition " + r.edition},
        {"Version", "feedbench " + r.feedbench_version},
        {"Results", r.results_folder},
    });
    if (!r.command_line.empty()) body += "<pre>" + html::escape(r.command_line) + "</pre>\n";
    if (!r.config.empty()) {
        body += "<h3>Configuration that was given</h3>\n" + config_table(part, false);
        const std::string defaults = config_table(part, true);
        if (!defaults.empty()) body += html::details("Everything else, as it is by default", defaults);
    }
    return html::section(part.prefix + "setup", "How it was run", body);
}

} // namespace feedbench::reporters
