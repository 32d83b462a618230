#include "harness/config/assignments.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <yaml-cpp/yaml.h>

namespace feedbench::config {

namespace {

std::string place_of(const std::string& path, bool has_lines, int line) {
    return has_lines && line >= 0 ? path + ":" + std::to_string(line + 1) : path;
}

Error located(Error error, std::string place) {
    error.path = std::move(place);
    return error;
}

} // namespace

const Assignment* Assignments::find(std::string_view name) const {
    const auto found = by_key_.find(name);
    return found == by_key_.end() ? nullptr : &found->second;
}

bool Assignments::is_set(std::string_view name) const {
    const Assignment* assignment = find(name);
    return assignment != nullptr && !assignment->value.is_null;
}

Status Assignments::add_file(const std::string& path) {
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) return config_error("is a folder; expected a workload file", path);
    std::ifstream stream(path, std::ios::binary);
    std::stringstream text;
    if (stream) text << stream.rdbuf();
    if (!stream || text.str().empty()) {
        const bool exists = std::filesystem::exists(path, code);
        return config_error(!exists  ? "no such workload file"
                            : stream ? "the workload file is empty"
                                     : "the workload file cannot be read",
                            path);
    }
    return add_text(text.str(), path);
}

Status Assignments::add_text(const std::string& yaml, const std::string& path) {
    Source source{
        .path = path, .origin = std::filesystem::path(path).filename().string(), .has_lines = true, .seen = {}};
    try {
        return add_root(YAML::Load(yaml), source);
    } catch (const YAML::Exception& e) {
        return config_error("not valid YAML: " + e.msg, place_of(path, true, e.mark.line));
    }
}

Status Assignments::add_root(const YAML::Node& root, Source& source) {
    if (!root.IsMap())
        return config_error("holds " +
                                std::string(root.IsSequence() ? "a list"
                                            : root.IsNull()   ? "nothing"
                                                              : "plain text") +
                                "; expected sections such as dataset, reader and train",
                            place_of(source.path, source.has_lines, root.Mark().line));
    // Hydra's dumps hold the workload below a key of that name, beside settings of hydra itself.
    YAML::Node workload;
    int wrapped = 0;
    for (const auto& entry : root)
        if (entry.first.IsScalar() && entry.first.Scalar() == "workload") {
            workload.reset(entry.second);
            ++wrapped;
        }
    if (wrapped == 0) return add_mapping(root, "", source);
    for (const auto& entry : root) {
        const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        if (name == "hydra" || name == "defaults" || (name == "workload" && wrapped == 1)) continue;
        return config_error(name == "workload" ? "workload is said twice"
                                               : "unknown key " + name + " beside workload: everything lies below it",
                            place_of(source.path, source.has_lines, entry.first.Mark().line));
    }
    if (!workload.IsMap())
        return config_error("workload is not a mapping; expected sections such as dataset, reader and train below it",
                            place_of(source.path, source.has_lines, workload.Mark().line));
    return add_mapping(workload, "", source);
}

Status Assignments::add_mapping(const YAML::Node& node, const std::string& prefix, Source& source) {
    std::set<std::string> names;
    for (const auto& entry : node) {
        const std::string place = place_of(source.path, source.has_lines, entry.first.Mark().line);
        if (!entry.first.IsScalar())
            return config_error("a key is not plain text; expected names such as batch_size", place);
        std::string name = entry.first.Scalar();
        if (!names.insert(name).second) return config_error(prefix + name + " is said twice", place);
        if (prefix.empty()) name = canonical_section(name);
        if (auto status = add_entry(prefix + name, entry.first, entry.second, source); !status) return status;
    }
    return {};
}

Status Assignments::add_entry(const std::string& name, const YAML::Node& name_node, const YAML::Node& node,
                              Source& source) {
    const int line = name_node.Mark().line;
    const std::string place = place_of(source.path, source.has_lines, line);
    const bool section = is_section(name);
    // `model: unet3d`, an old spelling of model.name, is a key and a section at once: what stands there decides.
    if (section && (node.IsMap() || node.IsNull()))
        return node.IsNull() ? Status{} : add_mapping(node, name + ".", source);
    if (const Key* key = find_key(name)) return set(*key, node, line, source);
    if (section)
        return config_error(name + " is a section; expected keys below it, not " +
                                (node.IsSequence() ? "a list" : "'" + node.Scalar() + "'"),
                            place);
    const std::string nearest = nearest_key(name);
    return config_error(
        "unknown key " + name +
            (nearest.empty() ? "; docs/configuration.md lists every key" : "; did you mean " + nearest + "?"),
        place);
}

Status Assignments::set(const Key& spelled, const YAML::Node& node, int line, Source& source) {
    const Key& key = canonical(spelled);
    const std::string place = place_of(source.path, source.has_lines, line);
    const auto [seen, first] = source.seen.emplace(key.name, spelled.name);
    if (!first)
        return config_error(std::string(spelled.name) + " is said twice" +
                                (seen->second == spelled.name ? "" : ", also as " + seen->second),
                            place);
    auto value = parse_value(key, node);
    if (!value) return located(value.error(), place);
    if (key.effect == Effect::refused && !value->is_null && !value->text.empty())
        return config_error(std::string(key.name) + " is refused: " + std::string(key.why), place);
    // A distribution that replaces a time also replaces a deviation that was said before it.
    if (value->type == KeyType::time && node.IsMap())
        for (const Key& part : schema())
            if (part.part_of == key.name && !source.seen.contains(part.name)) by_key_.erase(part.name);
    by_key_[key.name] = {
        .value = std::move(*value), .origin = place_of(source.origin, source.has_lines, line), .place = place};
    return {};
}

// One entry of a map: the others stay as they were said.
Status Assignments::set_entry(const Key& key, const std::string& entry, const std::string& value,
                              const Source& source) {
    const std::string name = std::string(key.name) + "." + entry;
    if (is_secret(entry) && !entry.ends_with("_file")) // the name of a file with secrets is none
        return config_error("a command line is for everybody to see: say secrets in the environment or in a file",
                            name);
    Assignment& assignment = by_key_[key.name];
    assignment.value.type = KeyType::text_map;
    assignment.value.is_null = false;
    assignment.value.entries[entry] = value;
    assignment.origin = source.origin;
    assignment.place = source.path;
    return {};
}

Status Assignments::add_override(const std::string& text, const std::string& option) {
    const std::string shown = option.empty() ? text : option + " " + text;
    Source source{
        .path = shown, .origin = (option.empty() ? "++workload" : option) + " on the command line", .seen = {}};
    std::string_view rest = text;
    if (rest.starts_with("~"))
        return config_error("removing a key is not possible; set it to what it should be", shown);
    while (rest.starts_with("+")) rest.remove_prefix(1);
    const auto equals = rest.find('=');
    if (equals == std::string_view::npos || equals == 0) return config_error("expected section.key=value", shown);
    std::string name(rest.substr(0, equals)), value(rest.substr(equals + 1));
    if (name.starts_with("workload.")) name.erase(0, std::string_view("workload.").size());
    if (name.starts_with("hydra."))
        return config_error("settings of hydra do not exist here; --results-dir says where results go", shown);
    if (name.starts_with("data_reader.")) name.erase(0, std::string_view("data_").size());
    for (const Key& key : schema())
        if (key.type == KeyType::text_map && name.starts_with(std::string(key.name) + "."))
            return set_entry(key, name.substr(key.name.size() + 1), value, source);
    try {
        YAML::Node node;
        const Key* key = find_key(name);
        const KeyType type = key == nullptr ? KeyType::text_map : canonical(*key).type;
        // Text is taken as it stands, so that null:, a#b or C: need no second quotes on the command line.
        if ((type == KeyType::text || type == KeyType::choice) && !value.starts_with('"') && !value.starts_with('\'') &&
            value != "null")
            node = YAML::Node(value);
        else
            node = YAML::Load(value);
        return add_entry(name, YAML::Node(name), node, source);
    } catch (const YAML::Exception& e) {
        return config_error("the value is not valid YAML: " + e.msg, shown);
    }
}

} // namespace feedbench::config
