#include "reporters/ingest/system_description.hpp"

#include <algorithm>
#include <cctype>

#include "reporters/ingest/lenient_json.hpp"

namespace feedbench::ingest {
namespace {

using nlohmann::json;

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// The first member of this name at any depth, the shallow ones of each object first; nullptr: none.
const json* find_key(const json& value, std::string_view key) {
    if (value.is_object()) {
        for (const auto& [name, item] : value.items())
            if (lower(name) == key) return &item;
    }
    if (value.is_structured())
        for (const auto& item : value)
            if (const json* found = find_key(item, key)) return found;
    return nullptr;
}

std::optional<double> number_of(const json& value, std::string_view key) {
    const json* found = find_key(value, key);
    if (found == nullptr) return {};
    const auto result = number(*found);
    return result && *result > 0 ? result : std::nullopt;
}

bool is_power(const std::string& name) {
    return name.find("watt") != std::string::npos || name == "max_power_consumption" || name == "nameplate_power";
}

// Sum of what is declared; an object that says how many there are of it counts so often.
void add_power(const json& value, double count, double& watts, bool& any) {
    if (value.is_object()) {
        double here = count;
        for (const char* key :
             {"count_of_this_type", "node_count", "quantity", "device_count", "number_of_appliances", "count"})
            if (const auto many = number_at(value, key); many && *many >= 1) {
                here = count * *many;
                break;
            }
        for (const auto& [name, item] : value.items()) {
            const auto power = number(item);
            if (power && *power > 0 && is_power(lower(name))) {
                watts += here * *power;
                any = true;
            } else if (item.is_structured()) {
                add_power(item, here, watts, any);
            }
        }
    } else if (value.is_array()) {
        for (const json& item : value) add_power(item, count, watts, any);
    }
}

std::string text_of(const json& value, std::string_view key) {
    const json* found = find_key(value, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

} // namespace

std::optional<SystemDescription> read_system_description(const std::filesystem::path& path,
                                                         std::vector<Problem>& problems) {
    json content;
    if (lower(path.extension().string()) == ".json") {
        auto file = read_json(path);
        if (!file) {
            problems.push_back({path.string(), file.error().message, "a system description in JSON"});
            return {};
        }
        if (!file->repairs.empty())
            problems.push_back(
                {path.string(), "not valid JSON: " + file->repairs, "valid JSON; read after a repair", true});
        content = std::move(file->value);
    } else {
        auto file = read_yaml(path);
        if (!file) {
            problems.push_back({path.string(), file.error().message, "a system description in YAML"});
            return {};
        }
        content = std::move(*file);
    }
    if (!content.is_object()) {
        problems.push_back({path.string(), "the top level is not an object", "a system description"});
        return {};
    }
    if (content.contains("$schema") && content.contains("properties")) {
        problems.push_back({path.string(), "a JSON schema, not a system", "nothing: it is not needed", true});
        return {};
    }
    SystemDescription result;
    result.path = path.string();
    // The storage system's own part first: a client's drives have a capacity too.
    const json& storage = member(content, "storage_system");
    const json& from = storage.is_object() ? storage : content;
    result.vendor = text_of(from, "vendor_name");
    result.solution = text_of(from, "solution_name");
    result.usable_capacity_GiB = number_of(from, "usable_capacity_gib");
    result.raw_capacity_GiB = number_of(from, "raw_capacity_gib");
    double watts = 0;
    bool any = false;
    add_power(content, 1, watts, any);
    if (any) result.watts = watts;
    return result;
}

} // namespace feedbench::ingest
