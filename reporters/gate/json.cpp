// Everything of a gate's report, for other programs: reporters/schema/gate.schema.json.
#include <nlohmann/json.hpp>

#include "reporters/gate/formats.hpp"

namespace feedbench::gate {
namespace {

using Json = nlohmann::ordered_json;

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json differences(const std::vector<Difference>& list) {
    Json json = Json::array();
    for (const Difference& one : list)
        json.push_back(
            {{"key", one.key}, {"baseline", one.baseline}, {"candidate", one.candidate}, {"words", one.words}});
    return json;
}

Json side(const std::string& name, const std::vector<GateRun>& runs) {
    Json list = Json::array();
    for (const GateRun& run : runs)
        list.push_back({{"path", run.path},
                        {"run_id", run.run_id},
                        {"start_time", run.start_time},
                        {"feedbench_version", run.feedbench_version},
                        {"valid", run.valid},
                        {"invalid_reasons", run.reasons}});
    return {{"name", name}, {"runs", std::move(list)}};
}

Json metric_json(const MetricAnswer& m) {
    Json json;
    json["key"] = m.rule.key;
    json["unit"] = m.unit;
    json["better"] = m.rule.better == Better::higher ? "higher" : "lower";
    json["required"] = m.rule.required;
    json["outcome"] = outcome_text(m.outcome);
    json["applies"] = m.applies;
    json["baseline_median"] = maybe(m.baseline);
    json["candidate_median"] = maybe(m.candidate);
    json["baseline_runs"] = m.baseline_runs;
    json["candidate_runs"] = m.candidate_runs;
    json["worse_fraction"] = maybe(m.worse);
    json["worse_fraction_low"] = maybe(m.worse_low);
    json["worse_fraction_high"] = maybe(m.worse_high);
    json["worse_fraction_low_within_runs"] = maybe(m.within_low);
    json["worse_fraction_high_within_runs"] = maybe(m.within_high);
    json["limit_fraction"] = m.limit;
    json["tolerance_fraction"] = m.rule.tolerance;
    json["floor_fraction"] = maybe(m.floor);
    json["baseline_spread_fraction"] = maybe(m.baseline_spread);
    json["resolution_fraction"] = m.rule.resolution;
    json["min_difference"] = m.rule.min_difference;
    json["parts"] = m.parts;
    json["words"] = m.words;
    return json;
}

} // namespace

std::string render_json(const GateReport& report, const reporters::RenderOptions&) {
    Json json;
    json["gate_schema_version"] = kGateSchemaVersion;
    json["feedbench_version"] = FEEDBENCH_VERSION;
    json["answer"] = answer_text(report.answer);
    json["exit_code"] = exit_code_of(report.answer);
    json["reason"] = report.reason;
    json["policy"] = {{"name", report.policy.name},
                      {"confidence", report.policy.confidence},
                      {"spread_factor", report.policy.spread_factor},
                      {"min_runs_baseline", report.policy.min_runs_baseline},
                      {"min_runs_candidate", report.policy.min_runs_candidate},
                      {"replicates", report.policy.replicates},
                      {"seed", report.policy.seed},
                      {"allow_differences", report.policy.allow_differences}};
    json["metric_confidence"] = report.metrics.empty() ? Json(nullptr) : Json(report.metric_confidence);
    json["baseline"] = side(report.baseline_name, report.baseline);
    json["candidate"] = side(report.candidate_name, report.candidate);
    json["differences"] = differences(report.comparability.forbidding);
    json["allowed_differences"] = differences(report.comparability.allowed);
    json["surroundings"] = differences(report.comparability.surroundings);
    Json metrics = Json::array();
    for (const MetricAnswer& m : report.metrics) metrics.push_back(metric_json(m));
    json["metrics"] = std::move(metrics);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace feedbench::gate
