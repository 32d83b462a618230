#include "harness/config/load_yaml.hpp"

#include "harness/config/assignments.hpp"
#include "harness/config/derive.hpp"
#include "harness/config/profiles.hpp"
#include "harness/config/schema.hpp"

#include <filesystem>
#include <yaml-cpp/yaml.h>

namespace feedbench::config {

namespace {

Expected<Value> default_of(const Key& key) {
    if (key.type == KeyType::text || key.type == KeyType::choice) {
        Value value;
        value.type = key.type;
        value.text = key.default_value;
        return value;
    }
    return parse_value(key, YAML::Load(std::string(key.default_value)));
}

Status set_all(Workload& workload, const Assignments& said) {
    for (const Key& key : schema()) {
        if (key.set == nullptr) continue;
        if (said.is_set(key.name)) {
            key.set(workload, said.find(key.name)->value);
        } else if (!key.default_value.empty()) {
            auto value = default_of(key);
            if (!value) return internal_error("default of " + std::string(key.name) + ": " + value.error().message);
            key.set(workload, *value);
        }
    }
    return {};
}

ConfigValue describe(const Key& key, const Workload& workload, const Assignments& said,
                     const ComputedOrigins& computed) {
    ConfigValue result{.key = std::string(key.name), .value = {}, .origin = "default", .effect = {}};
    const bool is_set = said.is_set(key.name);
    if (key.get != nullptr)
        result.value = key.get(workload);
    else if (is_set)
        result.value = yaml_text(said.find(key.name)->value);
    else
        result.value = key.default_value.empty() ? "null" : std::string(key.default_value);
    if (is_set) result.origin = said.find(key.name)->origin;
    if (const auto why = computed.find(result.key); why != computed.end()) result.origin = why->second;
    if (key.effect == Effect::none) result.effect = "accepted without effect: " + std::string(key.why);
    if (key.effect == Effect::refused) result.effect = "refused: " + std::string(key.why);
    return result;
}

Status add_overrides(Assignments& said, const LoadRequest& request) {
    for (const auto& text : request.dlio_overrides)
        if (auto status = said.add_override(text, ""); !status) return status;
    for (const auto& text : request.params)
        if (auto status = said.add_override(text, "-p"); !status) return status;
    return {};
}

Expected<Workload> finish(const Assignments& said, const std::string& path) {
    Workload workload;
    workload.source = path;
    if (auto status = set_all(workload, said); !status) return status.error();
    if (!said.is_set("feedbench.name")) workload.name = std::filesystem::path(path).stem().string();
    auto computed = derive(workload, said);
    if (!computed) return computed.error();
    if (!said.is_set("feedbench.name")) (*computed)["feedbench.name"] = "computed: name of the file";
    for (const Key& key : schema())
        if (key.alias_of.empty() && key.part_of.empty())
            workload.values.push_back(describe(key, workload, said, *computed));
    return workload;
}

std::string below(const std::string& root, const std::string& folder, bool is_object_store) {
    const auto colon = folder.find(':'), slash = folder.find('/');
    const bool is_uri = colon != std::string::npos && colon > 0 && (slash == std::string::npos || colon < slash);
    if (is_uri || folder.starts_with('/')) return folder;
    std::string base = root;
    while (base.size() > 1 && base.ends_with('/')) base.pop_back();
    if (is_object_store && base.find("://") == std::string::npos) return "s3://" + base + "/" + folder;
    if (base.empty() || base == ".") return folder;
    return (base == "/" ? "" : base) + "/" + folder;
}

} // namespace

Expected<Workload> load_workload(const LoadRequest& request) {
    auto path = find_workload(request.workload, request.search_dirs);
    if (!path) return path.error();
    Assignments said;
    if (auto status = said.add_file(*path); !status) return status.error();
    if (auto status = add_overrides(said, request); !status) return status.error();
    return finish(said, *path);
}

Expected<Workload> load_workload_text(const std::string& yaml, const std::string& path, const LoadRequest& overrides) {
    Assignments said;
    if (auto status = said.add_text(yaml, path); !status) return status.error();
    if (auto status = add_overrides(said, overrides); !status) return status.error();
    return finish(said, path);
}

std::string data_location(const Workload& w) {
    return below(w.storage.storage_root, w.dataset.data_folder, w.storage.storage_type == "s3");
}
std::string checkpoint_location(const Workload& w) {
    return below(w.storage.storage_root, w.checkpoint.checkpoint_folder, w.storage.storage_type == "s3");
}

} // namespace feedbench::config
