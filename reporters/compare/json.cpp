// Everything of the comparison, with every run and epoch: for other programs and for pages made from it.
#include <nlohmann/json.hpp>

#include "reporters/compare/formats.hpp"

namespace feedbench::compare {
namespace {

using Json = nlohmann::ordered_json;

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json side_json(const ingest::CheckpointSide& side) {
    return {{"checkpoint_count", maybe(side.checkpoint_count)},
            {"GiB_per_second", maybe(side.GiB_per_second)},
            {"GiB_per_second_mean_of_rates", maybe(side.GiB_per_second_mean_of_rates)},
            {"duration_s", maybe(side.duration_s)}};
}

Json run_json(const ingest::IngestedRun& run, bool counts) {
    Json json;
    json["path"] = run.path;
    json["counts"] = counts;
    json["start"] = run.start_time;
    json["au_percentage"] = maybe(run.au_percentage);
    json["samples_per_second"] = maybe(run.samples_per_second);
    json["MB_per_second"] = maybe(run.nominal_MB_per_second);
    json["MiB_per_second"] = maybe(run.nominal_MiB_per_second);
    json["effective_utilization_percentage"] = maybe(run.effective_utilization_percentage);
    if (run.checkpoint)
        json["checkpoint"] = {{"save", side_json(run.checkpoint->save)},
                              {"load", side_json(run.checkpoint->load)},
                              {"size_GiB", maybe(run.checkpoint->size_GiB)}};
    if (run.ranks) {
        json["ranks"] = {{"rank_count", run.ranks->rank_count},
                         {"au_percentage", maybe(run.ranks->au_percentage)},
                         {"samples_per_second", maybe(run.ranks->samples_per_second)},
                         {"effective_utilization_percentage", maybe(run.ranks->effective_utilization_percentage)},
                         {"think_time_s", maybe(run.ranks->think_time_s)}};
    }
    Json epochs = Json::array();
    for (const auto& epoch : run.epochs)
        epochs.push_back({{"au_percentage", maybe(epoch.au_percentage)},
                          {"samples_per_second", maybe(epoch.samples_per_second)},
                          {"wall_s", maybe(epoch.wall_s)},
                          {"block_s", maybe(epoch.block_s)}});
    json["epochs"] = std::move(epochs);
    json["notes"] = run.notes;
    return json;
}

Json row_json(const Row& row) {
    Json json;
    json["position"] = row.position > 0 ? Json(row.position) : Json(nullptr);
    json["submitter"] = row.submitter;
    json["system"] = row.system;
    json["tool"] = row.tool == ingest::Tool::feedbench ? "feedbench" : "reference";
    json["source"] = row.source;
    json["vendor"] = row.description.vendor;
    json["solution"] = row.description.solution;
    json["system_description"] = row.description.path;
    Json metrics = Json::array();
    for (const Metric& metric : row.metrics)
        metrics.push_back({{"key", metric.key},
                           {"unit", metric.unit},
                           {"value", maybe(metric.value)},
                           {"reason", metric.reason},
                           {"formula", metric.formula}});
    json["metrics"] = std::move(metrics);
    Json footnotes = Json::array();
    for (const Finding& finding : row.footnotes)
        footnotes.push_back({{"rule", finding.rule}, {"verdict", finding.verdict}, {"evidence", finding.evidence}});
    json["footnotes"] = std::move(footnotes);
    Json runs = Json::array();
    for (const auto& run : row.warm_up) runs.push_back(run_json(run, false));
    for (const auto& run : row.runs) runs.push_back(run_json(run, true));
    json["runs"] = std::move(runs);
    return json;
}

} // namespace

std::string render_json(const Comparison& comparison, const reporters::RenderOptions&) {
    Json json;
    json["comparison_schema_version"] = kComparisonSchemaVersion;
    json["feedbench_version"] = FEEDBENCH_VERSION;
    json["run_count"] = comparison.run_count;
    Json groups = Json::array();
    for (const Group& group : comparison.groups) {
        Json one;
        one["kind"] = kind_name(group.kind);
        one["workload"] = group.workload;
        one["variant"] = group.variant;
        one["accelerator_model"] = group.accelerator_model;
        one["edition"] = group.edition;
        one["division"] = group.division;
        Json rows = Json::array();
        for (const Row& row : group.rows) rows.push_back(row_json(row));
        one["rows"] = std::move(rows);
        groups.push_back(std::move(one));
    }
    json["groups"] = std::move(groups);
    Json problems = Json::array();
    for (const ingest::Problem& problem : comparison.problems)
        problems.push_back(
            {{"path", problem.path}, {"found", problem.found}, {"expected", problem.expected}, {"used", problem.used}});
    json["problems"] = std::move(problems);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace feedbench::compare
