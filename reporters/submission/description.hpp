// The description of a system: what hosts say by themselves, what a person must fill in, and how it is checked.
//
// Thread: any (pure functions, constant table). Owner: none. Units: in the keys. Errors: none; a description that is
// not whole gives sentences. Source: system descriptions of editions 1.0 (JSON) and 3.0 (YAML); 3.0 rule 4.7.4
// (shared_capabilities). JSON Schema: reporters/schema/system.schema.json; a test holds the table below against it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedbench::submission {

inline constexpr std::string_view kFillIn = "FILL IN"; // a value that only a person knows
inline constexpr int kDescriptionVersion = 1;

enum class FieldType : std::uint8_t { text, number, flag, choice };

struct DescriptionField {
    std::string_view section, key; // section: "storage_system", "shared_capabilities" (inside it), "clients" (of each)
    FieldType type;
    bool by_person; // feedbench cannot know it
    std::string_view choices, help;
};
std::span<const DescriptionField> description_fields();

// One kind of client host: hosts that are alike are described once.
struct ClientDescription {
    std::vector<std::string> host_names;
    std::string cpu_model, kernel, operating_system;
    std::uint32_t cpu_count = 0;
    double memory_GiB = 0;
    std::string network_interface; // the fastest; empty: the host does not say
    std::optional<double> network_Gbit_per_second;
};
struct DataPlace { // as the first client sees it
    std::string path, filesystem, device;
};

// Hosts that are alike come together. The YAML text of a description, with comments for whoever fills it in.
std::vector<ClientDescription> group_alike(std::vector<ClientDescription> hosts);
std::string description_yaml(const std::vector<ClientDescription>& clients, const DataPlace& data,
                             const std::string& name);

// Whether it is one of ours (others are only read).
bool is_ours(const nlohmann::json& description);
// What is wrong or missing, a sentence each; empty: whole.
std::vector<std::string> description_problems(const nlohmann::json& description);
// The same with numbers and flags as JSON has them, for edition 1.0's .json.
std::string description_json(const nlohmann::json& description);

} // namespace feedbench::submission
