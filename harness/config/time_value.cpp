// Times: a number of seconds, or DLIO's mapping of a distribution.
#include "harness/config/schema.hpp"
#include "harness/config/value.hpp"

#include <algorithm>
#include <cmath>
#include <yaml-cpp/yaml.h>

namespace feedbench::config {

namespace {

using Kind = TimeDistribution::Kind;
using Parameters = std::map<std::string, double, std::less<>>;

struct KindRow {
    std::string_view name;
    Kind kind;
    std::string_view own; // the parameters that DLIO documents
};
constexpr KindRow kKinds[] = {{"normal", Kind::normal, "mean and stdev"},
                              {"uniform", Kind::uniform, "min and max"},
                              {"gamma", Kind::gamma, "shape and scale"},
                              {"exponential", Kind::exponential, "scale"},
                              {"poisson", Kind::poisson, "lam"}};

std::optional<double> get(const Parameters& parameters, std::string_view name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

Expected<Parameters> read_parameters(std::string_view key, const YAML::Node& node, std::string& type) {
    Parameters parameters;
    const std::vector<std::string> known{"mean", "stdev", "type", "min", "max", "shape", "scale", "lam"};
    for (const auto& entry : node) {
        const std::string name = entry.first.Scalar(), full = std::string(key) + "." + name;
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            const std::string nearest = nearest_of(name, known);
            return config_error("unknown parameter " + full + "; " +
                                (nearest.empty() ? "a distribution has mean, stdev, type, min, max, shape, scale, lam"
                                                 : "did you mean " + nearest + "?"));
        }
        const std::string text = entry.second.IsScalar() ? entry.second.Scalar() : "";
        if (name == "type") {
            if (!type.empty()) return config_error(full + " is set twice");
            type = text.empty() ? "?" : text;
            continue;
        }
        const auto number = parse_number(text);
        if (!number || *number < 0) {
            const std::string found = entry.second.IsScalar() ? "'" + text + "'"
                                      : entry.second.IsNull() ? "empty"
                                                              : "not a number";
            return config_error(full + " is " + found + "; expected a number of at least 0");
        }
        if (!parameters.emplace(name, *number).second) return config_error(full + " is set twice");
    }
    return parameters;
}

// Fills the distribution from DLIO's parameters, or from mean (and stdev) where only these are given.
// False: the parameters do not make one.
bool fill(TimeDistribution& d, const Parameters& p) {
    const auto mean = get(p, "mean"), stdev = get(p, "stdev"), min = get(p, "min"), max = get(p, "max"),
               shape = get(p, "shape"), scale = get(p, "scale"), lam = get(p, "lam");
    const bool only_moments = p.size() == 2u && mean && stdev;
    switch (d.kind) {
    case Kind::constant:
        d.mean_s = *mean;
        return p.size() == 1;
    case Kind::normal:
        if (!mean || p.size() != (stdev ? 2u : 1u)) return false;
        d.mean_s = *mean;
        d.stdev_s = stdev.value_or(0);
        return true;
    case Kind::uniform:
        if (only_moments) {
            const double half = std::sqrt(3.0) * *stdev;
            d.min_s = *mean - half;
            d.max_s = *mean + half;
        } else {
            if (p.size() != 2 || !min || !max) return false;
            d.min_s = *min;
            d.max_s = *max;
        }
        d.mean_s = (d.min_s + d.max_s) / 2;
        d.stdev_s = (d.max_s - d.min_s) / std::sqrt(12.0);
        return d.min_s >= 0 && d.max_s >= d.min_s;
    case Kind::gamma:
        if (only_moments && *mean > 0 && *stdev > 0) {
            d.shape = *mean * *mean / (*stdev * *stdev);
            d.scale_s = *stdev * *stdev / *mean;
        } else {
            if (p.size() != 2 || !shape || !scale) return false;
            d.shape = *shape;
            d.scale_s = *scale;
        }
        d.mean_s = d.shape * d.scale_s;
        d.stdev_s = std::sqrt(d.shape) * d.scale_s;
        return d.shape > 0;
    case Kind::exponential:
        if (p.size() != 1 || (!scale && !mean)) return false;
        d.mean_s = d.stdev_s = d.scale_s = scale ? *scale : *mean;
        return true;
    case Kind::poisson:
        if (p.size() != 1 || (!lam && !mean)) return false;
        d.mean_s = lam ? *lam : *mean;
        d.stdev_s = std::sqrt(d.mean_s);
        return true;
    }
    return false;
}

} // namespace

Expected<TimeDistribution> parse_time(std::string_view key, const YAML::Node& node) {
    TimeDistribution d;
    const std::string who(key);
    const std::string wanted =
        "expected seconds of at least 0, or a mapping such as {mean: 0.3, stdev: 0.1, type: normal}";
    if (node.IsScalar()) {
        const auto number = parse_number(node.Scalar());
        if (!number || *number < 0) return config_error(who + " is '" + node.Scalar() + "'; " + wanted);
        d.mean_s = *number;
        return d;
    }
    if (!node.IsMap()) return config_error(who + " is " + (node.IsSequence() ? "a list" : "empty") + "; " + wanted);

    std::string type;
    auto parameters = read_parameters(key, node, type);
    if (!parameters) return parameters.error();
    if (parameters->empty() && type.empty()) return d; // DLIO: an empty mapping takes no time
    std::string own = "mean, or mean and stdev, where type is not given";
    if (type.empty()) {
        // DLIO without a type: normal where a stdev is given, else the mean itself.
        if (!parameters->contains("mean")) return config_error(who + " has no mean; expected " + own);
        d.kind = parameters->contains("stdev") ? Kind::normal : Kind::constant;
    } else {
        const KindRow* row = nullptr;
        for (const auto& candidate : kKinds)
            if (candidate.name == type) row = &candidate;
        if (row == nullptr)
            return config_error(who + ".type is '" + type +
                                "'; expected one of normal, uniform, gamma, exponential, poisson");
        d.kind = row->kind;
        own = std::string(row->own) + " for type " + type;
    }
    if (!fill(d, *parameters)) {
        std::string given;
        for (const auto& [name, number] : *parameters)
            given += (given.empty() ? "" : ", ") + name + " " + yaml_text(number);
        return config_error(who + " has " + (given.empty() ? "no parameters" : given) + "; expected " + own +
                            (d.kind == Kind::uniform ? ", 0 <= min <= max"
                             : d.kind == Kind::gamma ? ", shape above 0"
                                                     : ""));
    }
    return d;
}

std::string yaml_text(const TimeDistribution& d) {
    const auto n = [](double value) { return yaml_text(value); };
    switch (d.kind) {
    case Kind::constant:
        return n(d.mean_s);
    case Kind::normal:
        return "{mean: " + n(d.mean_s) + ", stdev: " + n(d.stdev_s) + ", type: normal}";
    case Kind::uniform:
        return "{min: " + n(d.min_s) + ", max: " + n(d.max_s) + ", type: uniform}";
    case Kind::gamma:
        return "{shape: " + n(d.shape) + ", scale: " + n(d.scale_s) + ", type: gamma}";
    case Kind::exponential:
        return "{scale: " + n(d.scale_s) + ", type: exponential}";
    case Kind::poisson:
        return "{lam: " + n(d.mean_s) + ", type: poisson}";
    }
    return "0";
}

} // namespace feedbench::config
