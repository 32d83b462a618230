// The folder of baselines: <root>/<system>/<workload>/<YYYYMMDD_HHMMSS>.json, newest last.
//
// Thread: main thread, rank 0 only. Owner: the commands gate and baseline. Units: none. Errors: config for names that
// are none (with the nearest known one), storage for the filesystem's. Source: docs/gate.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reporters/gate/baseline.hpp"

namespace feedbench::cli {

inline constexpr const char* kDefaultBaselines = "results/baselines";

struct BaselineEntry {
    std::string system, workload, id;
    std::filesystem::path path;
    std::string name() const { return system + "/" + workload + "/" + id; }
};

// All of them, by system, workload and age (oldest first). A root that is not there has none.
Expected<std::vector<BaselineEntry>> list_baselines(const std::string& root);

// "system", "system/workload" or "system/workload/id": the newest that fits. `workload` is used where the name has
// none.
Expected<BaselineEntry> find_baseline(const std::string& root, const std::string& name, const std::string& workload);

// Writes it under `id`, or under <id>-2 and so on where that is taken.
Expected<BaselineEntry> write_baseline(const std::string& root, const gate::Baseline& baseline, const std::string& id);

// A name that can be a folder: letters, digits, dot, dash and underscore.
Status check_system_name(const std::string& name);

} // namespace feedbench::cli
