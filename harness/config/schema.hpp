// Every key that a workload file may have: one row a key, from which parser, config.yaml, --dry-run and docs are made.
//
// Thread: const tables, any thread. Owner: the program. Units: in the row. Errors: none; rows are constants.
// Source: DLIO's configuration documentation and its configuration loader; keys of our own are marked "ours" in their
// sentence. To add a key: a field in harness/types/workload.hpp and one row in the schema_<section>.cpp it belongs to.
#pragma once

#include "harness/config/value.hpp"
#include "harness/types/workload.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace feedbench::config {

enum class Effect : std::uint8_t {
    honoured,
    none,    // accepted without effect, because ... (`why`)
    refused, // would change what is measured into something that is not offered here (`why`)
};

struct Key {
    std::string_view name; // dotted: "reader.batch_size"
    KeyType type = KeyType::text;
    std::string_view unit;          // "bytes", "s", "samples", ...; sizes in bytes take a suffix
    std::string_view default_value; // as YAML would write it; empty: not set
    Limits limits;
    std::string_view choices;    // "a|b|c", offered
    std::string_view also_known; // DLIO's other choices: accepted here, refused by the room that would have to do it
    Effect effect = Effect::honoured;
    std::string_view why;      // for none and refused
    std::string_view help;     // one sentence
    std::string_view alias_of; // another spelling of that key
    std::string_view part_of;  // sets a piece of that key's value and is written there
    bool nullable = false;     // null is allowed and means not set
    // Puts the value in its place; nullptr for keys without effect that have no place.
    void (*set)(Workload&, const Value&) = nullptr;
    // The value in its place as YAML; nullptr as above.
    std::string (*get)(const Workload&) = nullptr;
};

// All rows in the order of the sections; aliases are rows too.
const std::vector<Key>& schema();
// nullptr when there is none.
const Key* find_key(std::string_view name);
// The row that the spelling stands for: the alias' target, or the row itself.
const Key& canonical(const Key& key);
// True for "reader", "model.parallelism", ...: something that holds keys.
bool is_section(std::string_view name);
// The section that DLIO also spells otherwise ("data_reader" -> "reader"), or the name itself.
std::string_view canonical_section(std::string_view name);
// "an integer of at least 1", for messages and docs.
std::string expectation(const Key& key);
// What a user probably meant: "computation_time" for a neighbour in the same section, the dotted name for a key
// elsewhere; empty when nothing is near.
std::string nearest_key(std::string_view unknown);
// The nearest of the candidates, or empty when none is near enough to be a slip of the fingers.
std::string nearest_of(std::string_view word, const std::vector<std::string>& candidates);

// The whole reference of keys, which is docs/configuration.md.
std::string schema_markdown();

} // namespace feedbench::config
