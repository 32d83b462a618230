#include "reporters/submission/parameters.hpp"

#include <array>
#include <fmt/format.h>

#include "harness/config/load_yaml.hpp"
#include "reporters/ingest/lenient_json.hpp"

namespace feedbench::submission {
namespace {

constexpr std::string_view kOurs = "feedbench's own: what the storage is asked for stays the same";
constexpr std::string_view kApart = "judged by a rule of its own";

constexpr std::array kRules{
    ParameterRule{"dataset.num_files_train", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"dataset.num_subfolders_train", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"dataset.data_folder", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"reader.read_threads", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"reader.computation_threads", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"reader.transfer_size", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"reader.prefetch_size", kBoth, kEveryEdition, "", 0, 2, ""},
    ParameterRule{"reader.odirect", kBoth, kEveryEdition, "unet3d", {}, {}, ""},
    ParameterRule{"checkpoint.checkpoint_folder", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"storage.storage_root", kBoth, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"storage.storage_type", kBoth, kEveryEdition, "", {}, {}, ""},
    // Where an object store is reached, and its prefetch window.
    ParameterRule{"storage.storage_options*", kBoth, k30, "", {}, {}, ""},
    ParameterRule{"framework", kOpen, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"dataset.format", kOpen, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"dataset.num_samples_per_file", kOpen, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"reader.data_loader", kOpen, kEveryEdition, "", {}, {}, ""},
    ParameterRule{"reader.queue_depth", kOpen, kEveryEdition, "", {}, {}, "of the native loader, which is OPEN only"},
    ParameterRule{"reader.io_engine", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"reader.io_threads", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"reader.verify", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"reader.drop_cache*", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"metric.instrumentation", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"checkpoint.leftovers", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"output.*", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"feedbench.*", kBoth, kEveryEdition, "", {}, {}, kOurs},
    ParameterRule{"workflow.*", kBoth, kEveryEdition, "", {}, {}, kApart},
    ParameterRule{"model.scale", kBoth, kEveryEdition, "", {}, {}, kApart},
    ParameterRule{"checkpoint.num_checkpoints_*", kBoth, k20 | k30, "", {}, {}, kApart},
    ParameterRule{"checkpoint.fsync", kBoth, k20 | k30, "", {}, {}, kApart},
    ParameterRule{"checkpoint.mode", kBoth, k20 | k30, "", {}, {}, kApart},
};

bool named_by(std::string_view key, std::string_view pattern) {
    if (!pattern.ends_with('*')) return key == pattern;
    return key.starts_with(pattern.substr(0, pattern.size() - 1));
}

} // namespace

std::span<const ParameterRule> parameter_rules() { return kRules; }

std::string objection(const ParameterChange& change, const EditionFacts& edition, unsigned division,
                      std::string_view model) {
    const ParameterRule* of_other_division = nullptr;
    for (const ParameterRule& rule : kRules) {
        if (!named_by(change.key, rule.key) || (rule.editions & edition.bit) == 0) continue;
        if (!rule.model.empty() && rule.model != model)
            return fmt::format("as published: only {} may change it", rule.model);
        if ((rule.divisions & division) == 0) {
            of_other_division = &rule;
            continue;
        }
        if (!rule.least) return {};
        const auto value = ingest::number(nlohmann::json(change.value));
        if (value && *value >= *rule.least && *value <= *rule.most) return {};
        return fmt::format("{:g} to {:g}", *rule.least, *rule.most);
    }
    const std::string published = change.published.empty() ? "as published" : change.published + ", as published";
    if (of_other_division != nullptr)
        return fmt::format("{}: only {} may change it", published, division_names(of_other_division->divisions));
    return fmt::format("{}: no division may change it in edition {}", published, edition.name);
}

Expected<const Workload*> PublishedProfiles::find(std::string_view model, std::string_view accelerator) {
    const std::string name = profile_name(model, accelerator);
    auto known = known_.find(name);
    if (known == known_.end()) known = known_.emplace(name, config::load_workload({.workload = name})).first;
    if (!known->second) return known->second.error();
    return &*known->second;
}

Expected<std::vector<ParameterChange>> PublishedProfiles::changes(const std::vector<ConfigValue>& values,
                                                                  std::string_view model,
                                                                  std::string_view accelerator) {
    const auto published = find(model, accelerator);
    if (!published) return published.error();
    std::map<std::string_view, std::string_view> as_published;
    for (const ConfigValue& value : (*published)->values) as_published[value.key] = value.value;
    std::vector<ParameterChange> changes;
    for (const ConfigValue& value : values) {
        const auto other = as_published.find(value.key);
        if (other != as_published.end() && other->second != value.value)
            changes.push_back({value.key, value.value, std::string(other->second)});
    }
    return changes;
}

} // namespace feedbench::submission
