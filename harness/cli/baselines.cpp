#include "harness/cli/baselines.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "harness/cli/gate_inputs.hpp"
#include "harness/cli/output_file.hpp"
#include "harness/config/schema.hpp"

namespace feedbench::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& name) {
    std::vector<std::string> parts(1);
    for (const char c : name) {
        if (c == '/')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

Error unknown(const std::string& what, const std::string& name, const std::set<std::string>& known,
              const std::string& root) {
    const std::string nearest = config::nearest_of(name, {known.begin(), known.end()});
    return config_error(
        fmt::format("there is no such {} among the baselines in {}; {}{}", what, root,
                    nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                    known.empty() ? "there are none" : fmt::format("there are: {}", fmt::join(known, ", "))),
        name);
}

} // namespace

Expected<std::vector<BaselineEntry>> list_baselines(const std::string& root) {
    std::vector<BaselineEntry> entries;
    std::error_code code;
    if (!fs::exists(root, code)) return entries;
    for (fs::recursive_directory_iterator entry(root, code), end; !code && entry != end; entry.increment(code)) {
        if (entry.depth() != 2 || entry->path().extension() != ".json" || !entry->is_regular_file(code)) continue;
        const auto text = read_whole_file(entry->path());
        if (!text || !gate::is_baseline(*text)) continue; // somebody else's file
        const fs::path folder = entry->path().parent_path();
        entries.push_back({folder.parent_path().filename().string(), folder.filename().string(),
                           entry->path().stem().string(), entry->path()});
    }
    if (code) return storage_error("list", root, code.value());
    std::sort(entries.begin(), entries.end(), [](const BaselineEntry& a, const BaselineEntry& b) {
        return std::tie(a.system, a.workload, a.id) < std::tie(b.system, b.workload, b.id);
    });
    return entries;
}

Expected<BaselineEntry> find_baseline(const std::string& root, const std::string& name, const std::string& workload) {
    auto entries = list_baselines(root);
    if (!entries) return entries.error();
    std::vector<std::string> parts = split(name);
    if (parts.size() == 1) parts.push_back(workload);
    std::set<std::string> systems, workloads, ids;
    BaselineEntry found;
    for (const BaselineEntry& one : *entries) {
        systems.insert(one.system);
        if (one.system != parts[0]) continue;
        workloads.insert(one.workload);
        if (one.workload != parts[1]) continue;
        ids.insert(one.id);
        if (parts.size() == 2 || one.id == parts[2]) found = one; // the last one is the newest
    }
    if (!found.id.empty() && parts.size() <= 3) return found;
    if (workloads.empty()) return unknown("file, folder or system", name, systems, root);
    if (ids.empty()) return unknown("workload of system " + parts[0], parts[1], workloads, root);
    return unknown("baseline of " + parts[0] + "/" + parts[1], name, ids, root);
}

Expected<BaselineEntry> write_baseline(const std::string& root, const gate::Baseline& baseline, const std::string& id) {
    BaselineEntry entry{baseline.system, gate::workload_key(baseline.runs.front()), id, {}};
    const fs::path folder = fs::path(root) / entry.system / entry.workload;
    std::error_code code;
    fs::create_directories(folder, code);
    if (code) return storage_error("mkdir", folder.string(), code.value());
    for (int i = 2; fs::exists(folder / (entry.id + ".json"), code); ++i) entry.id = fmt::format("{}-{}", id, i);
    entry.path = folder / (entry.id + ".json");
    if (Status status = write_output(entry.path.string(), gate::to_json(baseline)); !status) return status.error();
    return entry;
}

Status check_system_name(const std::string& name) {
    const bool plain =
        !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
        });
    if (plain) return {};
    return usage_error(
        fmt::format("'{}' cannot name a system: expected letters, digits, dots, dashes and underscores", name));
}

} // namespace feedbench::cli
