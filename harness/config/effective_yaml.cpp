// config.yaml: the whole effective configuration, with the origin of each value as a comment.
#include "harness/config/load_yaml.hpp"
#include "harness/config/schema.hpp"

#include <algorithm>
#include <map>

namespace feedbench::config {

namespace {

std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= name.size();) {
        const auto dot = std::min(name.find('.', begin), name.size());
        parts.emplace_back(name.substr(begin, dot - begin));
        begin = dot + 1;
    }
    return parts;
}

} // namespace

std::string effective_yaml(const Workload& workload) {
    std::map<std::string_view, const ConfigValue*> known;
    for (const auto& value : workload.values) known.emplace(value.key, &value);
    std::string text = "# Effective configuration of the workload " + workload.name + ", from " + workload.source +
                       ".\n# After each value: where it comes from.\n";
    std::vector<std::string> open; // sections that the last line lies in
    for (const Key& key : schema()) {
        if (!key.alias_of.empty() || !key.part_of.empty()) continue;
        const auto found = known.find(key.name);
        const ConfigValue* value = found == known.end() ? nullptr : found->second;
        if (key.effect != Effect::honoured && (value == nullptr || value->origin == "default"))
            continue; // says nothing to anybody
        const std::string shown = key.get != nullptr ? key.get(workload)
                                  : value != nullptr ? value->value
                                                     : std::string("null");
        if (shown == "null" && !key.nullable) continue;
        const auto parts = parts_of(key.name);
        std::size_t depth = 0;
        while (depth + 1 < parts.size() && depth < open.size() && open[depth] == parts[depth]) ++depth;
        open.resize(depth);
        for (; depth + 1 < parts.size(); ++depth) {
            text += std::string(2 * depth, ' ') + parts[depth] + ":\n";
            open.push_back(parts[depth]);
        }
        text += std::string(2 * depth, ' ') + parts.back() + ": " + shown;
        if (value != nullptr) text += "  # " + value->origin + (value->effect.empty() ? "" : "; " + value->effect);
        text += '\n';
        if (key.type == KeyType::text_map)
            for (const auto& [option, content] : workload.storage.storage_options)
                if (is_secret(option)) text += std::string(2 * depth, ' ') + "# " + option + " is not written down\n";
    }
    return text;
}

} // namespace feedbench::config
