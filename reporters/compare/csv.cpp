// One row a result: what it is, every metric by its key, the rules that fired. Files that were not used are not in it.
#include <fmt/format.h>

#include "reporters/compare/formats.hpp"
#include "reporters/csv_field.hpp"

namespace feedbench::compare {
std::string render_csv(const Comparison& comparison, const reporters::RenderOptions&) {
    std::string out = "workload,variant,accelerator,edition,division,position,submitter,system,tool";
    for (const Column& column : columns()) out += fmt::format(",{}", column.key);
    out += ",footnotes,source\n";
    for (const Group& group : comparison.groups) {
        for (const Row& row : group.rows) {
            out += fmt::format("{},{},{},{},{},{},{},{},{}", reporters::csv_field(group.workload),
                               reporters::csv_field(group.variant), reporters::csv_field(group.accelerator_model),
                               reporters::csv_field(group.edition), reporters::csv_field(group.division),
                               row.position > 0 ? std::to_string(row.position) : "",
                               reporters::csv_field(row.submitter), reporters::csv_field(row.system),
                               row.tool == ingest::Tool::feedbench ? "feedbench" : "reference");
            for (const Column& column : columns()) {
                const Metric* metric = reporters::row(row.metrics, column.key);
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
