// A workload file and overrides in, a typed and validated Workload out.
//
// Thread: one, at start-up, the same on every rank. Owner: the caller owns the Workload. Units: as in
// harness/types/workload.hpp. Errors: ErrorKind::config; Error::path is "file:line" or the override as typed, the
// message one sentence with what was found and what was expected; an unknown key comes with the nearest known one.
// Source: DLIO's workload schema (harness/config/schema.hpp); hydra's override spellings.
#pragma once

#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

#include <string>
#include <vector>

namespace feedbench::config {

struct LoadRequest {
    std::string workload = {};            // a name in configs/workloads, or a path to any YAML file
    std::vector<std::string> params = {}; // -p: "section.key=value"
    // "++workload.section.key=value", "+workload.section.key=value", "workload.section.key=value"
    std::vector<std::string> dlio_overrides = {};
    std::vector<std::string> search_dirs = {}; // folders of workload files; empty: workload_dirs()
};

// The file, then dlio_overrides, then params, each list in its order; the last one to say a key decides.
Expected<Workload> load_workload(const LoadRequest& request);
// The same of a text that was read elsewhere (by rank 0, say); `path` names it.
Expected<Workload> load_workload_text(const std::string& yaml, const std::string& path,
                                      const LoadRequest& overrides = {});

// The text of config.yaml: every key with its value and origin; it loads to the same Workload again. Storage options
// that are called secret are left out, with a comment.
std::string effective_yaml(const Workload& workload);

// Where the data is: dataset.data_folder as it stands when absolute or a URI, else below storage.storage_root.
std::string data_location(const Workload& workload);
std::string checkpoint_location(const Workload& workload);

} // namespace feedbench::config
