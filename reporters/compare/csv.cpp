// One row a result: what it is, every metric by its key, the rules that fired. Files that were not used are not in it.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/compare/formats.hpp"
#include "reporters/csv_field.hpp"

namespace feedbench::compare {
namespace {

// Of both kinds, each once.
std::vector<std::string_view> all_keys() {
    std::vector<std::string_view> keys;
    for (const ingest::Kind kind : {ingest::Kind::training, ingest::Kind::checkpoint})
        for (const Column& column : columns(kind))
            if (std::find(keys.begin(), keys.end(), column.key) == keys.end()) keys.push_back(column.key);
    return keys;
}

} // namespace

std::string render_csv(const Comparison& comparison, const reporters::RenderOptions&) {
    const std::vector<std::string_view> keys = all_keys();
    std::string out = "kind,workload,variant,accelerator,edition,division,position,submitter,system,tool";
    for (const std::string_view key : keys) out += fmt::format(",{}", key);
    out += ",footnotes,source\n";
    for (const Group& group : comparison.groups) {
        for (const Row& row : group.rows) {
            out += fmt::format(
                "{},{},{},{},{},{},{},{},{},{}", kind_name(group.kind), reporters::csv_field(group.workload),
                reporters::csv_field(group.variant), reporters::csv_field(group.accelerator_model),
                reporters::csv_field(group.edition), reporters::csv_field(group.division),
                row.position > 0 ? std::to_string(row.position) : "", reporters::csv_field(row.submitter),
                reporters::csv_field(row.system), row.tool == ingest::Tool::feedbench ? "feedbench" : "reference");
            for (const std::string_view key : keys) {
                const Metric* metric = reporters::row(row.metrics, key);
                out += ',';
                if (metric != nullptr && metric->value) out += fmt::format("{}", *metric->value); // reads back exactly
            }
            std::string rules;
            for (const Finding& finding : row.footnotes) rules += (rules.empty() ? "" : ";") + finding.rule;
            out += "," + reporters::csv_field(rules) + "," + reporters::csv_field(row.source) + "\n";
        }
    }
    return out;
}

} // namespace feedbench::compare
