#include "reporters/gate/comparable.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace feedbench::gate {
namespace {

constexpr std::size_t kShown = 4; // values or runs that a sentence lists

// "4", or "4 (3 runs), 8 (1 run)" where the runs of a side differ.
std::string values_text(const std::map<std::string, std::size_t>& values) {
    std::string text;
    for (const auto& [value, count] : values) {
        const std::string shown = value.empty() ? "nothing" : value;
        text += text.empty() ? "" : ", ";
        text += values.size() == 1 ? shown : fmt::format("{} ({} run{})", shown, count, count == 1 ? "" : "s");
    }
    return text;
}

std::map<std::string, std::size_t> values_of(const std::vector<GateRun>& runs, const std::string& key, bool identity) {
    std::map<std::string, std::size_t> values;
    for (const GateRun& run : runs) ++values[fact(identity ? run.identity : run.surroundings, key)];
    return values;
}

// What the two sides do not have in common, or nothing.
std::vector<Difference> differences(const std::vector<GateRun>& baseline, const std::vector<GateRun>& candidate,
                                    const std::vector<std::string>& keys, bool identity) {
    std::vector<Difference> found;
    for (const std::string& key : keys) {
        const auto b = values_of(baseline, key, identity), c = values_of(candidate, key, identity);
        if (b.size() == 1 && c.size() == 1 && b.begin()->first == c.begin()->first) continue;
        const std::string of_b = values_text(b), of_c = values_text(c);
        found.push_back({key, of_b, of_c, fmt::format("{}: baseline {}, candidate {}", key, of_b, of_c)});
    }
    return found;
}

void add_invalid(const std::vector<GateRun>& runs, const std::string& side, std::vector<Difference>& found) {
    std::size_t more = 0;
    for (const GateRun& run : runs) {
        if (run.valid) continue;
        if (found.size() >= kShown) {
            ++more;
            continue;
        }
        const std::string why = fmt::format("{}", fmt::join(run.reasons, "; "));
        found.push_back({"valid", side == "baseline" ? "no: " + why : "", side == "candidate" ? "no: " + why : "",
                         fmt::format("the {}'s {} is not valid: {}", side, run.path, why)});
    }
    if (more > 0)
        found.push_back({"valid", "", "", fmt::format("and {} more runs of the {} that are not valid", more, side)});
}

std::vector<std::string> surrounding_keys(const std::vector<GateRun>& runs) {
    std::vector<std::string> keys;
    for (const GateRun& run : runs)
        for (const Fact& one : run.surroundings)
            if (std::find(keys.begin(), keys.end(), one.key) == keys.end()) keys.push_back(one.key);
    return keys;
}

} // namespace

Comparability compare_runs(const std::vector<GateRun>& baseline, const std::vector<GateRun>& candidate,
                           const std::vector<std::string>& allowed) {
    Comparability result;
    for (Difference& one : differences(baseline, candidate, identity_keys(), true)) {
        const bool may = std::find(allowed.begin(), allowed.end(), one.key) != allowed.end();
        (may ? result.allowed : result.forbidding).push_back(std::move(one));
    }
    add_invalid(baseline, "baseline", result.forbidding);
    add_invalid(candidate, "candidate", result.forbidding);
    auto keys = surrounding_keys(baseline);
    for (const std::string& key : surrounding_keys(candidate))
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    result.surroundings = differences(baseline, candidate, keys, false);
    return result;
}

std::string describe(const GateRun& run) {
    const std::string accelerators = fact(run.identity, "accelerator_count"), hosts = fact(run.identity, "host_count");
    const std::string model = fact(run.identity, "accelerator_model");
    if (fact(run.identity, "kind") == "checkpoint")
        return fmt::format("checkpoints of {}, {} rank{} on {} host{}, {}", fact(run.identity, "workload"),
                           fact(run.identity, "checkpoint_ranks"),
                           fact(run.identity, "checkpoint_ranks") == "1" ? "" : "s", hosts, hosts == "1" ? "" : "s",
                           fact(run.identity, "backend"));
    return fmt::format("{}, {} accelerator{}{} on {} host{}, {}, {} by {} loader", fact(run.identity, "workload"),
                       accelerators, accelerators == "1" ? "" : "s", model.empty() ? "" : " (" + model + ")", hosts,
                       hosts == "1" ? "" : "s", fact(run.identity, "backend"), fact(run.identity, "format"),
                       fact(run.identity, "data_loader"));
}

} // namespace feedbench::gate
