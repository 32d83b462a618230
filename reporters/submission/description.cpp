#include "reporters/submission/description.hpp"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/submission/findings.hpp"

namespace feedbench::submission {
namespace {

using nlohmann::json;
using enum FieldType;

constexpr std::array kFields{
    DescriptionField{"storage_system", "vendor_name", text, true, "", "whose system it is"},
    DescriptionField{"storage_system", "solution_name", text, true, "", "product and model"},
    DescriptionField{"storage_system", "access_type", choice, true, "Local|Remote Block|NAS|Proprietary|Object|Other",
                     "how clients reach it"},
    DescriptionField{"storage_system", "access_protocol", text, true, "", "NFSv4.2, NVMe/TCP, S3, Lustre, ..."},
    DescriptionField{"storage_system", "usable_capacity_GiB", number, true, "", "after protection"},
    DescriptionField{"storage_system", "raw_capacity_GiB", number, true, "", "sum of its drives"},
    DescriptionField{"storage_system", "max_power_watts", number, true, "", "nameplate, all parts of it together"},
    DescriptionField{"storage_system", "hardware", text, true, "", "nodes, drives, network ports: how many of what"},
    DescriptionField{"storage_system", "software", text, true, "", "release, and options that differ from the default"},
    DescriptionField{"shared_capabilities", "multi_host_support", flag, true, "", "false: local to one client"},
    DescriptionField{"shared_capabilities", "simultaneous_write_support", flag, true, "",
                     "several hosts may write at once, as configured"},
    DescriptionField{"shared_capabilities", "simultaneous_read_support", flag, true, "",
                     "several hosts may read at once, as configured"},
    DescriptionField{"shared_capabilities", "remapping_time_s", number, true, "",
                     "until another host can read what one wrote; 0 where it need not be remapped"},
    DescriptionField{"clients", "cpu_model", text, false, "", ""},
    DescriptionField{"clients", "cpu_count", number, false, "", "logical CPUs online"},
    DescriptionField{"clients", "memory_GiB", number, false, "", ""},
    DescriptionField{"clients", "kernel", text, false, "", ""},
    DescriptionField{"clients", "operating_system", text, false, "", ""},
    DescriptionField{"clients", "network_Gbit_per_second", number, false, "", "of the fastest interface"},
};

// Quoted, so that whatever a host says stays one text.
std::string quoted(const std::string& value) {
    return json(value).dump(-1, ' ', false, json::error_handler_t::replace);
}
std::string or_fill_in(const std::string& value) { return value.empty() ? std::string(kFillIn) : quoted(value); }

std::string person_line(const DescriptionField& field, std::string_view indent) {
    std::string line = fmt::format("{}{}: {}", indent, field.key, kFillIn);
    std::string why(field.help);
    if (field.type == choice) {
        std::string choices(field.choices);
        for (std::size_t at = 0; (at = choices.find('|', at)) != std::string::npos;) choices.replace(at, 1, ", ");
        why += (why.empty() ? "" : ": ") + ("one of " + choices);
    } else if (field.type == flag) {
        why += "; true or false";
    }
    return why.empty() ? line + "\n" : fmt::format("{:<48} # {}\n", line, why);
}

// nlohmann's find on objects only.
const json* member_of(const json& object, std::string_view key) {
    const json& found = ingest::member(object, std::string(key).c_str());
    return found.is_null() ? nullptr : &found;
}

std::string problem_of(const DescriptionField& field, const json* value, const std::string& where) {
    if (value == nullptr) return fmt::format("{} is missing", where);
    if (value->is_string() && value->get_ref<const std::string&>() == kFillIn)
        return fmt::format("{} waits to be filled in{}{}", where, field.help.empty() ? "" : ": ", field.help);
    const std::string shown = value->is_string() ? value->get<std::string>() : value->dump();
    switch (field.type) {
    case number:
        if (const auto n = ingest::number(*value); !n || *n < 0)
            return fmt::format("{} is '{}', not a number", where, shown);
        break;
    case flag:
        if (!value->is_boolean() && shown != "true" && shown != "false")
            return fmt::format("{} is '{}', not true or false", where, shown);
        break;
    case choice:
        if (("|" + std::string(field.choices) + "|").find("|" + shown + "|") == std::string::npos)
            return fmt::format("{} is '{}', not one of {}", where, shown, field.choices);
        break;
    case text:
        if (!value->is_string() || shown.empty()) return fmt::format("{} is not a text", where);
    }
    return {};
}

FieldType type_of(std::string_view key) {
    if (key == "feedbench_system" || key == "host_count") return number;
    for (const DescriptionField& field : kFields)
        if (field.key == key) return field.type;
    return text;
}

// YAML's scalars were read as text; only numbers and flags of the table become such: "7.1" may be a release.
json typed(const json& value, FieldType type) {
    if (value.is_object()) {
        json all = json::object();
        for (const auto& [key, item] : value.items()) all[key] = typed(item, type_of(key));
        return all;
    }
    if (value.is_array()) {
        json all = json::array();
        for (const json& item : value) all.push_back(typed(item, text));
        return all;
    }
    if (!value.is_string()) return value;
    const std::string& said = value.get_ref<const std::string&>();
    if (type == flag && (said == "true" || said == "false")) return said == "true";
    if (type != number) return value;
    const auto n = ingest::number(value);
    if (!n) return value;
    const auto whole = static_cast<std::int64_t>(*n);
    return static_cast<double>(whole) == *n ? json(whole) : json(*n);
}

} // namespace

std::span<const DescriptionField> description_fields() { return kFields; }

std::vector<ClientDescription> group_alike(std::vector<ClientDescription> hosts) {
    const auto alike = [](const ClientDescription& a, const ClientDescription& b) {
        // MemTotal differs by some pages between equal machines.
        return a.cpu_model == b.cpu_model && a.kernel == b.kernel && a.operating_system == b.operating_system &&
               a.cpu_count == b.cpu_count && a.memory_GiB < b.memory_GiB * 1.01 && b.memory_GiB < a.memory_GiB * 1.01 &&
               a.network_Gbit_per_second == b.network_Gbit_per_second;
    };
    std::vector<ClientDescription> groups;
    for (ClientDescription& host : hosts) {
        ClientDescription* group = nullptr;
        for (ClientDescription& one : groups)
            if (alike(one, host)) group = &one;
        if (group != nullptr)
            group->host_names.insert(group->host_names.end(), host.host_names.begin(), host.host_names.end());
        else
            groups.push_back(std::move(host));
    }
    return groups;
}

std::string description_yaml(const std::vector<ClientDescription>& clients, const DataPlace& data,
                             const std::string& name) {
    std::string out = fmt::format("# Description of a system under test. {}.\n"
                                  "# What feedbench could ask the hosts is there; every {} is for a person.\n"
                                  "feedbench_system: {}\nname: {}\n\nstorage_system:\n",
                                  kStatement, kFillIn, kDescriptionVersion, or_fill_in(name));
    for (const DescriptionField& field : kFields)
        if (field.section == "storage_system") out += person_line(field, "  ");
    out += "  shared_capabilities:\n";
    for (const DescriptionField& field : kFields)
        if (field.section == "shared_capabilities") out += person_line(field, "    ");
    out += "\nclients:\n";
    for (const ClientDescription& client : clients) {
        out += "  - host_names: [";
        for (std::size_t i = 0; i < client.host_names.size(); ++i)
            out += (i > 0 ? ", " : "") + quoted(client.host_names[i]);
        out += fmt::format("]\n    host_count: {}\n    cpu_model: {}\n    cpu_count: {}\n    memory_GiB: {:.2f}\n"
                           "    kernel: {}\n    operating_system: {}\n    network_interface: {}\n"
                           "    network_Gbit_per_second: {}\n",
                           client.host_names.size(), or_fill_in(client.cpu_model), client.cpu_count, client.memory_GiB,
                           or_fill_in(client.kernel), or_fill_in(client.operating_system),
                           client.network_interface.empty() ? "\"\"" : quoted(client.network_interface),
                           client.network_Gbit_per_second ? fmt::format("{:g}", *client.network_Gbit_per_second)
                                                          : std::string(kFillIn));
    }
    if (!data.path.empty())
        out += fmt::format("\n# As the first client sees it.\ndata:\n  path: {}\n  filesystem: {}\n  device: {}\n",
                           quoted(data.path), quoted(data.filesystem), quoted(data.device));
    return out + "\nnotes: \"\"\n";
}

bool is_ours(const json& description) { return description.is_object() && description.contains("feedbench_system"); }

std::vector<std::string> description_problems(const json& description) {
    std::vector<std::string> problems;
    const auto version = ingest::number_at(description, "feedbench_system");
    if (!version || *version != kDescriptionVersion)
        problems.push_back(fmt::format("feedbench_system is not {}", kDescriptionVersion));
    const auto look = [&](const DescriptionField& field, const json& object, const std::string& where) {
        const std::string problem = problem_of(field, member_of(object, field.key), where + std::string(field.key));
        if (!problem.empty()) problems.push_back(problem);
    };
    const DescriptionField name{"", "name", text, true, "", "of the system: as its folder is called"};
    look(name, description, "");
    const json& storage = ingest::member(description, "storage_system");
    const json& clients = ingest::member(description, "clients");
    for (const DescriptionField& field : kFields) {
        if (field.section == "storage_system") look(field, storage, "storage_system.");
        if (field.section == "shared_capabilities")
            look(field, ingest::member(storage, "shared_capabilities"), "storage_system.shared_capabilities.");
        if (field.section == "clients" && clients.is_array())
            for (std::size_t i = 0; i < clients.size(); ++i) look(field, clients[i], fmt::format("clients[{}].", i));
    }
    if (!clients.is_array() || clients.empty()) problems.push_back("clients is no list of hosts");
    return problems;
}

std::string description_json(const json& description) {
    return typed(description, text).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace feedbench::submission
