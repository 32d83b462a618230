// What a workload file and the overrides say, key by key: parsed, checked against the schema, with the place of each.
//
// Thread: one, at start-up. Owner: load_workload. Units: those of the keys.
// Errors: every one names its place ("unet3d_h100.yaml:31" or the override as typed) in Error::path.
// Source: DLIO's file layout, bare or below `workload:` (as hydra dumps it); hydra's override spellings ++k=v, +k=v,
// k=v.
#pragma once

#include "harness/config/schema.hpp"

#include <map>
#include <string>
#include <string_view>

namespace YAML {
class Node;
}

namespace feedbench::config {

struct Assignment {
    Value value;
    std::string origin; // "unet3d_h100.yaml:31", "-p on the command line"
    std::string place;  // the same with the whole path or the whole override, for errors
};

class Assignments {
  public:
    // All of a file. A key said twice, in whatever spelling, is refused.
    Status add_file(const std::string& path);
    Status add_text(const std::string& yaml, const std::string& path); // as add_file, of a text that was read already
    // "section.key=value" or "++workload.section.key=value"; a later one replaces an earlier one and the file.
    Status add_override(const std::string& text, const std::string& option);

    // nullptr: not said. `name` is the canonical one.
    const Assignment* find(std::string_view name) const;
    bool is_set(std::string_view name) const; // said, and not null

  private:
    struct Source {
        std::string path;   // of the file, or the override as typed
        std::string origin; // without the line
        bool has_lines = false;
        std::map<std::string_view, std::string> seen; // canonical key -> spelling, to find what is said twice
    };
    Status add_root(const YAML::Node& root, Source& source);
    Status add_mapping(const YAML::Node& node, const std::string& prefix, Source& source);
    Status add_entry(const std::string& name, const YAML::Node& name_node, const YAML::Node& node, Source& source);
    Status set(const Key& key, const YAML::Node& node, int line, Source& source);
    Status set_entry(const Key& key, const std::string& entry, const std::string& value, const Source& source);

    std::map<std::string_view, Assignment> by_key_;
};

} // namespace feedbench::config
