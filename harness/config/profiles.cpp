#include "harness/config/profiles.hpp"

#include "harness/config/schema.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace feedbench::config {

namespace fs = std::filesystem;

namespace {

bool is_yaml(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

} // namespace

std::vector<std::string> workload_dirs() {
    std::vector<fs::path> candidates;
    if (const char* configured = std::getenv("FEEDBENCH_CONFIGS"); configured != nullptr && *configured != '\0') {
        candidates.push_back(fs::path(configured) / "workloads");
        candidates.emplace_back(configured);
    }
    std::error_code code;
    if (const fs::path binary = fs::read_symlink("/proc/self/exe", code).parent_path(); !code) {
        candidates.push_back(binary / "../../configs/workloads");
        candidates.push_back(binary / "../share/feedbench/configs/workloads");
    }
    // This file is harness/config/profiles.cpp of the tree that the binary was built from.
    candidates.push_back(fs::path(__FILE__).parent_path().parent_path().parent_path() / "configs/workloads");
    std::vector<std::string> result;
    for (const auto& candidate : candidates) {
        if (!fs::is_directory(candidate, code)) continue;
        const std::string dir = fs::weakly_canonical(candidate, code).string();
        if (std::find(result.begin(), result.end(), dir) == result.end()) result.push_back(dir);
    }
    return result;
}

std::vector<std::string> workload_names(const std::vector<std::string>& dirs) {
    std::set<std::string> names;
    for (const auto& dir : dirs.empty() ? workload_dirs() : dirs) {
        std::error_code code;
        for (fs::directory_iterator entry(dir, code), end; !code && entry != end; entry.increment(code))
            if (is_yaml(entry->path()) && entry->is_regular_file(code)) names.insert(entry->path().stem().string());
    }
    return {names.begin(), names.end()};
}

Expected<std::string> find_workload(const std::string& name, const std::vector<std::string>& dirs) {
    if (name.empty())
        return usage_error("no workload given; expected a name such as unet3d_h100 or a path to a YAML file");
    std::error_code code;
    const bool is_path = name.find('/') != std::string::npos || is_yaml(name);
    if (is_path) {
        if (!fs::exists(name, code)) return config_error("no such workload file", name);
        return name;
    }
    for (const auto& dir : dirs.empty() ? workload_dirs() : dirs)
        for (const char* ending : {".yaml", ".yml"})
            if (const fs::path path = fs::path(dir) / (name + ending); fs::is_regular_file(path, code))
                return path.string();
    if (fs::is_regular_file(name, code)) return name;
    const auto names = workload_names(dirs);
    const std::string nearest = nearest_of(name, names);
    std::string all;
    for (const auto& known : names) all += (all.empty() ? "" : ", ") + known;
    return config_error("no workload of that name" + (nearest.empty() ? "" : "; did you mean " + nearest + "?") +
                            (all.empty() ? "; no workload files were found" : " Known: " + all),
                        name);
}

} // namespace feedbench::config
