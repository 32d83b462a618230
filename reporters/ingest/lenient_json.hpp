// JSON as people publish it: read as it is, or repaired where only commas too many or NaN make it invalid.
//
// Thread: any. Owner: none. Units: bytes. Errors: storage (cannot be read), format (what was found, in which line).
// Source: published result trees; Python writes NaN and Infinity, editors leave commas before ] and }.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/types/error.hpp"

namespace feedbench::ingest {

struct LenientJson {
    nlohmann::json value;
    std::string repairs; // "a comma before } in line 57"; empty: valid as it stood
};

// The whole file; an error above `limit_bytes`, for what is read here is small by nature.
Expected<std::string> read_text(const std::filesystem::path& path,
                                std::uintmax_t limit_bytes = std::uintmax_t{64} << 20);
// Drops commas before ] and }, and writes null for NaN and Infinity outside of strings. Answers what it did.
std::string repair_json(std::string& text);
Expected<LenientJson> parse_json(std::string text, const std::string& path);
Expected<LenientJson> read_json(const std::filesystem::path& path);
// A YAML document as JSON values, so that both are looked into by the same code. Scalars stay strings.
Expected<nlohmann::json> read_yaml(const std::filesystem::path& path);

// A number, also where it was written as a string ("64"); nothing for text, null, NaN and infinity.
std::optional<double> number(const nlohmann::json& value);
std::optional<double> number_at(const nlohmann::json& object, const char* key);
// A string; empty where there is none.
std::string text_at(const nlohmann::json& object, const char* key);
// The member, or null: for chains over objects that may not be there.
const nlohmann::json& member(const nlohmann::json& object, const char* key);

} // namespace feedbench::ingest
