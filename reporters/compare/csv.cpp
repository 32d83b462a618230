// One row a result: what it is, every metric by its key, the rules that fired. Files that were not used are not in it.
#include <fmt/format.h>

#include "reporters/compare/formats.hpp"

namespace feedbench::compare {
namespace {

// RFC 4180: quoted where needed, quotes doubled.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

} // namespace

std::string render_csv(const Comparison& comparison, const reporters::RenderOptions&) {
    std::string out = "workload,variant,accelerator,edition,division,position,submitter,system,tool";
    for (const Column& column : columns()) out += fmt::format(",{}", column.key);
    out += ",footnotes,source\n";
    for (const Group& group : comparison.groups) {
        for (const Row& row : group.rows) {
            out += fmt::format("{},{},{},{},{},{},{},{},{}", field(group.workload), field(group.variant),
                               field(group.accelerator_model), field(group.edition), field(group.division),
                               row.position > 0 ? std::to_string(row.position) : "", field(row.submitter),
                               field(row.system), row.tool == ingest::Tool::feedbench ? "feedbench" : "reference");
            for (const Column& column : columns()) {
                const Metric* metric = reporters::row(row.metrics, column.key);
                out += ',';
                if (metric != nullptr && metric->value) out += fmt::format("{}", *metric->value); // reads back exactly
            }
            std::string rules;
            for (const Finding& finding : row.footnotes) rules += (rules.empty() ? "" : ";") + finding.rule;
            out += "," + field(rules) + "," + field(row.source) + "\n";
        }
    }
    return out;
}

} // namespace feedbench::compare
