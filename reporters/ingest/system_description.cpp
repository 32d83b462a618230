#include "reporters/ingest/system_description.hpp"

#include <algorithm>
#include <cctype>

#include "harness/types/units.hpp"
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

// Edition 3.0: groups of alike nodes and switches, each with its power supplies. Those that must run to carry the load
// count, at their nameplate; spare ones draw no more.
double supplies_watts(const json& power) {
    std::vector<double> each;
    const json& configured = member(power, "psus_configured");
    if (configured.is_array())
        for (const json& supply : configured)
            if (const auto watts = number_at(supply, "nameplate_power_watts"))
                each.insert(
                    each.end(),
                    static_cast<std::size_t>(std::clamp(number_at(supply, "unit_count").value_or(1), 1.0, 1000.0)),
                    *watts);
    std::sort(each.rbegin(), each.rend());
    const double active = number_at(power, "min_psus_active").value_or(static_cast<double>(each.size()));
    double watts = 0;
    for (std::size_t i = 0; i < each.size() && static_cast<double>(i) < active; ++i) watts += each[i];
    return watts;
}

double drives_GB(const json& node) {
    double GB = 0;
    const json& drives = member(node, "drives");
    if (drives.is_array())
        for (const json& drive : drives)
            GB += number_at(drive, "capacity_in_GB").value_or(0) * number_at(drive, "unit_count").value_or(1);
    return GB;
}

// Clients are not the storage; where they hold it (storage_location: local) their drives are its capacity.
void take_edition_3(const json& system, SystemDescription& result) {
    double watts = 0, GB = 0;
    for (const char* key : {"product_nodes", "product_switches", "rack_power_supplies", "clients"}) {
        const json& groups = member(system, key);
        if (!groups.is_array()) continue;
        const bool clients = std::string_view(key) == "clients";
        if (clients &&
            (GB > 0 || text_at(member(member(system, "solution"), "architecture"), "storage_location") != "local"))
            continue;
        for (const json& group : groups) {
            const double many = number_at(group, "quantity").value_or(number_at(group, "unit_count").value_or(1));
            const json& power = member(member(group, "chassis"), "power");
            const json& own = power.is_object() ? power : member(group, "power");
            if (!clients) watts += many * supplies_watts(own.is_object() ? own : group);
            GB += many * drives_GB(group);
        }
    }
    if (watts > 0) result.watts = watts;
    if (GB > 0) result.raw_capacity_GiB = to_GiB(GB * 1e9);
    const auto units = number_at(system, "total_rack_units");
    if (units && *units > 0) result.rack_units = units;
    const json& solution = member(system, "solution");
    result.solution = text_at(solution, "submission_name");
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
    if (const json& system = member(content, "system_under_test"); system.is_object()) {
        take_edition_3(system, result);
        return result;
    }
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
