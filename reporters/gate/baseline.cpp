#include "reporters/gate/baseline.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace feedbench::gate {
namespace {

using Json = nlohmann::ordered_json;

Json facts_json(const std::vector<Fact>& facts) {
    Json json = Json::object();
    for (const Fact& one : facts) json[one.key] = one.value;
    return json;
}

// A few parts on a line of their own would be many lines: pairs of numbers, side by side.
Json parts_json(const std::vector<Parts>& parts) {
    Json json = Json::array();
    for (const Parts& one : parts) {
        Json above = Json::array(), below = Json::array();
        for (const Part& part : one.parts) {
            above.push_back(part.above);
            below.push_back(part.below);
        }
        json.push_back(
            {{"key", one.key}, {"source", one.source}, {"above", std::move(above)}, {"below", std::move(below)}});
    }
    return json;
}

Json run_json(const GateRun& run) {
    Json figures = Json::array();
    for (const Metric& one : run.figures)
        figures.push_back({{"key", one.key},
                           {"unit", one.unit},
                           {"value", one.value ? Json(*one.value) : Json(nullptr)},
                           {"reason", one.reason},
                           {"formula", one.formula}});
    return {{"path", run.path},
            {"run_id", run.run_id},
            {"start_time", run.start_time},
            {"feedbench_version", run.feedbench_version},
            {"command_line", run.command_line},
            {"valid", run.valid},
            {"invalid_reasons", run.reasons},
            {"identity", facts_json(run.identity)},
            {"surroundings", facts_json(run.surroundings)},
            {"figures", std::move(figures)},
            {"parts", parts_json(run.parts)}};
}

// nlohmann's at() and get() throw; this is the one place that turns it into an Error.
std::vector<Fact> facts_of(const Json& json) {
    std::vector<Fact> facts;
    for (const auto& [key, value] : json.items()) facts.push_back({key, value.get<std::string>()});
    return facts;
}

GateRun run_of(const Json& json) {
    GateRun run;
    run.path = json.at("path").get<std::string>();
    run.run_id = json.at("run_id").get<std::string>();
    run.start_time = json.at("start_time").get<std::string>();
    run.feedbench_version = json.at("feedbench_version").get<std::string>();
    run.command_line = json.at("command_line").get<std::string>();
    run.valid = json.at("valid").get<bool>();
    run.reasons = json.at("invalid_reasons").get<std::vector<std::string>>();
    run.identity = facts_of(json.at("identity"));
    run.surroundings = facts_of(json.at("surroundings"));
    for (const Json& one : json.at("figures")) {
        Metric metric{one.at("key").get<std::string>(), one.at("unit").get<std::string>(), std::nullopt,
                      one.at("reason").get<std::string>(), one.at("formula").get<std::string>()};
        if (!one.at("value").is_null()) metric.value = one.at("value").get<double>();
        run.figures.push_back(std::move(metric));
    }
    for (const Json& one : json.at("parts")) {
        Parts parts{one.at("key").get<std::string>(), one.at("source").get<std::string>(), {}};
        const Json &above = one.at("above"), &below = one.at("below");
        for (std::size_t i = 0; i < above.size(); ++i)
            parts.parts.push_back({above.at(i).get<double>(), below.at(i).get<double>()});
        run.parts.push_back(std::move(parts));
    }
    return run;
}

} // namespace

std::string workload_key(const GateRun& run) {
    std::string key = fact(run.identity, "workload");
    for (char& c : key)
        if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20) c = '_';
    if (key.empty() || key.starts_with('.')) key = "workload" + key;
    const bool checkpoints = fact(run.identity, "kind") == "checkpoint";
    key += checkpoints ? fmt::format("-{}ranks", fact(run.identity, "checkpoint_ranks"))
                       : fmt::format("-{}acc", fact(run.identity, "accelerator_count"));
    const std::string hosts = fact(run.identity, "host_count");
    return hosts == "1" ? key : fmt::format("{}-{}hosts", key, hosts);
}

std::string to_json(const Baseline& baseline) {
    Json json;
    json["baseline_schema_version"] = kBaselineSchemaVersion;
    json["system"] = baseline.system;
    json["workload"] = workload_key(baseline.runs.front());
    json["made_by"] = baseline.made_by;
    json["made_at"] = baseline.made_at;
    json["note"] = baseline.note;
    // A run a line: a fifth of the size, and a difference between two files that shows which runs are new.
    std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
    text.resize(text.size() - 2); // the last line's end and the brace
    text += ",\n \"runs\": [";
    for (const GateRun& run : baseline.runs)
        text += (&run == &baseline.runs.front() ? "\n  " : ",\n  ") +
                run_json(run).dump(-1, ' ', false, Json::error_handler_t::replace);
    return text + "\n ]\n}\n";
}

bool is_baseline(std::string_view text) {
    return text.substr(0, 200).find("\"baseline_schema_version\"") != std::string_view::npos;
}

Expected<Baseline> baseline_from_json(std::string_view text, const std::string& path) {
    try {
        const Json json = Json::parse(text);
        const int version = json.at("baseline_schema_version").get<int>();
        if (version != kBaselineSchemaVersion)
            return format_error(path, fmt::format("baseline_schema_version is {}, this binary reads {}", version,
                                                  kBaselineSchemaVersion));
        Baseline baseline;
        baseline.system = json.at("system").get<std::string>();
        baseline.made_by = json.at("made_by").get<std::string>();
        baseline.made_at = json.at("made_at").get<std::string>();
        baseline.note = json.at("note").get<std::string>();
        for (const Json& run : json.at("runs")) baseline.runs.push_back(run_of(run));
        if (baseline.runs.empty()) return format_error(path, "the baseline has no runs");
        return baseline;
    } catch (const Json::exception& e) {
        return format_error(path, "not a baseline that feedbench wrote: " + std::string(e.what()));
    }
}

} // namespace feedbench::gate
