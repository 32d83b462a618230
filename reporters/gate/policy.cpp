#include "reporters/gate/policy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <yaml-cpp/yaml.h>

#include "harness/config/profiles.hpp"
#include "harness/config/schema.hpp"
#include "harness/config/value.hpp"
#include "reporters/gate/gate_run.hpp"

namespace feedbench::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefault = "default";

// Key, heading, better, tolerance, resolution, smallest difference, required.
const std::array kKnown{
    MetricRule{"delivered_MB_per_second", "MB/s", Better::higher, 0.02, 0.15, 0, true},
    MetricRule{"au_mean_percentage", "AU %", Better::higher, 0.02, 0.15, 0.5, true},
    MetricRule{"effective_utilization_percentage", "effective utilization %", Better::higher, 0.02, 0.15, 0.5, false},
    MetricRule{"samples_per_second_mean", "samples/s", Better::higher, 0.02, 0.15, 0, false},
    MetricRule{"sustained_MB_per_second_p5", "sustained MB/s p5", Better::higher, 0.05, 0.30, 0, false},
    MetricRule{"batch_wait_s_p99", "batch wait p99 s", Better::lower, 0.25, 1.0, 0.001, false},
    MetricRule{"sample_read_latency_s_p99", "sample read p99 s", Better::lower, 0.25, 1.0, 0.0001, false},
    MetricRule{"time_to_first_byte_s_p99", "first byte p99 s", Better::lower, 0.25, 1.0, 0.0001, false},
    MetricRule{"cpu_s_per_GB_process", "client CPU s/GB", Better::lower, 0.10, 0.50, 0.01, false},
    MetricRule{"cpu_s_per_GB_host", "host CPU s/GB", Better::lower, 0.10, 0.50, 0.01, false},
    MetricRule{"checkpoint_GiB_per_second", "checkpoint GiB/s", Better::higher, 0.05, 0.25, 0, false},
    MetricRule{"checkpoint_write_GiB_per_second", "checkpoint write GiB/s", Better::higher, 0.05, 0.25, 0, true},
    MetricRule{"checkpoint_read_GiB_per_second", "checkpoint read GiB/s", Better::higher, 0.05, 0.25, 0, true},
    MetricRule{"checkpoint_cost_au_points", "checkpoint cost, AU points", Better::lower, 0.25, 1.0, 0.5, false},
    MetricRule{"checkpoint_duration_s_mean", "checkpoint s", Better::lower, 0.05, 0.25, 0.001, false},
};

// Everything that a file may say goes through here; the first thing that is wrong ends the reading.
class Reader {
  public:
    Reader(std::string path, Policy& policy) : path_(std::move(path)), policy_(policy) {}
    Status status;

    void root(const YAML::Node& node) {
        mapping(node, "the policy",
                {{"description", [&](const YAML::Node& n) { text(n, "description", policy_.description); }},
                 {"confidence",
                  [&](const YAML::Node& n) {
                      number(n, "confidence", {0.5, 0.9999}, policy_.confidence);
                  }},
                 {"spread_factor",
                  [&](const YAML::Node& n) {
                      number(n, "spread_factor", {0, 100}, policy_.spread_factor);
                  }},
                 {"min_runs_baseline",
                  [&](const YAML::Node& n) {
                      count(n, "min_runs_baseline", {1, 1000}, policy_.min_runs_baseline);
                  }},
                 {"min_runs_candidate",
                  [&](const YAML::Node& n) {
                      count(n, "min_runs_candidate", {1, 1000}, policy_.min_runs_candidate);
                  }},
                 {"replicates",
                  [&](const YAML::Node& n) {
                      count(n, "replicates", {200, 1e6}, policy_.replicates);
                  }},
                 {"seed",
                  [&](const YAML::Node& n) {
                      count(n, "seed", {0, 1e15}, policy_.seed);
                  }},
                 {"allow_differences", [&](const YAML::Node& n) { differences(n); }},
                 {"metrics", [&](const YAML::Node& n) { metrics(n); }}});
        if (status && policy_.metrics.empty())
            wrong(node, "there are no metrics: a gate needs at least one under 'metrics'");
    }

  private:
    struct Range {
        double low, high;
    };
    using Fields = std::vector<std::pair<std::string, std::function<void(const YAML::Node&)>>>;

    void wrong(const YAML::Node& node, std::string message) {
        const int line = node.Mark().line;
        if (status) status = config_error(std::move(message), line < 0 ? path_ : fmt::format("{}:{}", path_, line + 1));
    }

    void mapping(const YAML::Node& node, const std::string& what, const Fields& fields) {
        if (!node.IsMap()) return wrong(node, what + " must be a mapping of keys to values");
        std::vector<std::string> names;
        for (const auto& field : fields) names.push_back(field.first);
        std::set<std::string> seen;
        for (const auto& entry : node) {
            const auto name = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
            const auto field =
                std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
            if (field == fields.end()) return unknown(entry.first, name, what, names);
            if (!seen.insert(name).second)
                return wrong(entry.first, fmt::format("{}: key '{}' is said twice", what, name));
            field->second(entry.second);
            if (!status) return;
        }
    }

    void unknown(const YAML::Node& node, const std::string& name, const std::string& what,
                 const std::vector<std::string>& names) {
        const std::string nearest = config::nearest_of(name, names);
        wrong(node, fmt::format("{}: unknown key '{}'; {}{}", what, name,
                                nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                                fmt::format("there are: {}", fmt::join(names, ", "))));
    }

    void text(const YAML::Node& node, const std::string& key, std::string& value) {
        if (!node.IsScalar()) return wrong(node, fmt::format("'{}' must be a text", key));
        value = node.Scalar();
    }
    void number(const YAML::Node& node, const std::string& key, Range range, double& value) {
        const auto found = node.IsScalar() ? config::parse_number(node.Scalar()) : std::nullopt;
        if (!found || *found < range.low || *found > range.high)
            return wrong(node, fmt::format("'{}' must be a number from {:g} to {:g}, found '{}'", key, range.low,
                                           range.high, node.IsScalar() ? node.Scalar() : "no number"));
        value = *found;
    }
    template <class Integer>
    void count(const YAML::Node& node, const std::string& key, Range range, Integer& value) {
        double found = 0;
        number(node, key, range, found);
        if (!status) return;
        if (found != std::floor(found))
            return wrong(node, fmt::format("'{}' must be a whole number, found '{}'", key, node.Scalar()));
        value = static_cast<Integer>(found);
    }

    void differences(const YAML::Node& node) {
        if (!node.IsSequence()) return wrong(node, "'allow_differences' must be a list of names");
        for (const YAML::Node& item : node) {
            const std::string name = item.IsScalar() ? item.Scalar() : "";
            const auto& keys = identity_keys();
            if (std::find(keys.begin(), keys.end(), name) == keys.end())
                return unknown(item, name, "allow_differences", keys);
            policy_.allow_differences.push_back(name);
        }
    }

    void metrics(const YAML::Node& node) {
        if (!node.IsMap()) return wrong(node, "'metrics' must be a mapping of rows of the result to their rules");
        for (const auto& entry : node) {
            metric(entry.first, entry.second);
            if (!status) return;
        }
    }

    void metric(const YAML::Node& name, const YAML::Node& node) {
        MetricRule rule;
        rule.key = name.IsScalar() ? name.Scalar() : "";
        std::vector<std::string> names;
        for (const MetricRule& known : kKnown) names.push_back(known.key);
        const auto known = std::find(names.begin(), names.end(), rule.key);
        if (known != names.end()) rule = kKnown[static_cast<std::size_t>(known - names.begin())];
        for (const MetricRule& one : policy_.metrics)
            if (one.key == rule.key) return wrong(name, fmt::format("metric '{}' is said twice", rule.key));
        bool directed = known != names.end();
        if (!node.IsNull())
            mapping(node, "metric " + rule.key,
                    {{"better", [&](const YAML::Node& n) { directed = better(n, rule.better); }},
                     {"heading", [&](const YAML::Node& n) { text(n, "heading", rule.heading); }},
                     {"tolerance",
                      [&](const YAML::Node& n) {
                          number(n, "tolerance", {0, 100}, rule.tolerance);
                      }},
                     {"resolution",
                      [&](const YAML::Node& n) {
                          number(n, "resolution", {0, 1000}, rule.resolution);
                      }},
                     {"min_difference",
                      [&](const YAML::Node& n) {
                          number(n, "min_difference", {0, 1e300}, rule.min_difference);
                      }},
                     {"required", [&](const YAML::Node& n) { flag(n, rule.required); }}});
        if (!status) return;
        // A row that this table does not know may be one of somebody's own; then its direction must be said.
        if (!directed) {
            const std::string nearest = config::nearest_of(rule.key, names);
            return wrong(
                name,
                fmt::format("metric '{}' is not known; {}a row of your own needs 'better: higher' or 'better: lower'",
                            rule.key, nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest)));
        }
        if (rule.resolution < rule.tolerance)
            return wrong(name, fmt::format("metric '{}': resolution {:g} is below its tolerance {:g}", rule.key,
                                           rule.resolution, rule.tolerance));
        if (rule.heading.empty()) rule.heading = rule.key;
        policy_.metrics.push_back(std::move(rule));
    }

    bool better(const YAML::Node& node, Better& value) {
        const std::string word = node.IsScalar() ? node.Scalar() : "";
        if (word != "higher" && word != "lower") {
            wrong(node, fmt::format("'better' must be higher or lower, found '{}'", word));
            return false;
        }
        value = word == "higher" ? Better::higher : Better::lower;
        return true;
    }
    void flag(const YAML::Node& node, bool& value) {
        const auto found = node.IsScalar() ? config::parse_boolean(node.Scalar()) : std::nullopt;
        if (!found) return wrong(node, "'required' must be true or false");
        value = *found;
    }

    std::string path_;
    Policy& policy_;
};

// Beside the folders of workload files.
std::vector<std::string> policy_dirs() {
    std::vector<std::string> dirs;
    for (const std::string& workloads : config::workload_dirs())
        dirs.push_back((fs::path(workloads).parent_path() / "gates").string());
    return dirs;
}

} // namespace

std::span<const MetricRule> known_metrics() { return kKnown; }

Policy built_in_policy() {
    Policy policy;
    policy.name = kDefault;
    policy.description = "rate, AU, waits, client CPU, checkpoints (built in)";
    constexpr std::array<std::string_view, 7> kKeys{
        "delivered_MB_per_second",       "au_mean_percentage",        "batch_wait_s_p99",
        "cpu_s_per_GB_process",          "checkpoint_GiB_per_second", "checkpoint_write_GiB_per_second",
        "checkpoint_read_GiB_per_second"};
    for (const MetricRule& rule : kKnown)
        if (std::find(kKeys.begin(), kKeys.end(), rule.key) != kKeys.end()) policy.metrics.push_back(rule);
    return policy;
}

Expected<Policy> load_policy_text(const std::string& yaml, const std::string& path) {
    Policy policy;
    policy.name = fs::path(path).stem().string();
    YAML::Node root;
    try {
        root = YAML::Load(yaml);
    } catch (const YAML::Exception& e) {
        return config_error("not valid YAML: " + e.msg, fmt::format("{}:{}", path, e.mark.line + 1));
    }
    if (root.IsNull()) return config_error("the policy is empty", path);
    Reader reader(path, policy);
    reader.root(root);
    if (!reader.status) return reader.status.error();
    return policy;
}

Expected<Policy> load_policy(const std::string& name_or_path) {
    // A name is looked for where the workloads' neighbours lie; whatever looks like a path is one.
    auto path = config::find_workload(name_or_path, policy_dirs());
    if (!path && name_or_path == kDefault) return built_in_policy(); // a binary far from its configs
    if (!path) {
        const auto names = policy_names();
        const std::string nearest = config::nearest_of(name_or_path, names);
        return config_error(fmt::format("there is no such policy; {}there are: {}, or a path to a YAML file",
                                        nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                                        fmt::join(names, ", ")),
                            name_or_path);
    }
    std::error_code code;
    if (fs::is_directory(*path, code)) return config_error("a folder; a policy is a YAML file", *path);
    std::ifstream file(*path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || file.bad()) return storage_error("read", *path, errno);
    return load_policy_text(text.str(), *path);
}

std::vector<std::string> policy_names() {
    const auto dirs = policy_dirs();
    // No folders would mean those of workloads.
    std::vector<std::string> names = dirs.empty() ? std::vector<std::string>{} : config::workload_names(dirs);
    if (std::find(names.begin(), names.end(), kDefault) == names.end()) names.insert(names.begin(), kDefault);
    return names;
}

} // namespace feedbench::gate
