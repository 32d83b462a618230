// What lies beside the data and says what the data is: feedbench-manifest.json.
//
// Thread: reactor thread (Backend's namespace calls); plain values otherwise. Owner: the caller. Units: bytes.
// Errors: no dataset (with what to run), a manifest that is damaged or of a newer version, parameters that differ.
// Source: DESIGN section 7; cases P9, P11. `run` reads it, compares it with the workload and never lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/dataset/plan.hpp"
#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"
#include "storage/backend.hpp"

namespace feedbench::dataset {

inline constexpr int kManifestVersion = 1;
inline constexpr std::string_view kManifestName = "feedbench-manifest.json";

struct SplitTotals {
    std::uint64_t payload_bytes = 0, file_bytes = 0;
    bool operator==(const SplitTotals&) const = default;
};

struct Manifest {
    enum class State : std::uint8_t { in_progress, complete };
    std::string generator = "feedbench/" FEEDBENCH_VERSION; // or kAdopted
    State state = State::in_progress;
    DatasetSection dataset;  // as it was made; data_folder and keep_files are not part of it
    int content_version = 0; // generators::kContentVersion; 0 = the content is not ours
    SplitTotals train, valid;
    bool totals_measured = true; // false: from a sample of files (adopted)
    bool is_adopted() const;
};
inline constexpr std::string_view kAdopted = "adopted";

std::string to_json(const Manifest& manifest);
Expected<Manifest> parse_manifest(std::string_view text, const std::string& path);

// The backend's root is the data folder. read_manifest() tells apart: no folder, a file in its place, no manifest, no
// permission.
Expected<Manifest> read_manifest(storage::Backend& backend);
Status write_manifest(storage::Backend& backend, const Manifest& manifest);

// One parameter in which the dataset is not what the workload asks for.
struct Mismatch {
    std::string key, found, asked;
};
// Fewer files than were made are fine (P11); sizes of an adopted dataset are not compared, only the files know them.
std::vector<Mismatch> compare(const Manifest& manifest, const DatasetSection& asked);
// Why writing `asked` with content of this version is not going on with what lies there: the counts are in the names,
// so that fewer files are another dataset, too.
std::vector<Mismatch> compare_to_resume(const Manifest& manifest, const DatasetSection& asked, int content_version);
// The same as one error: "... num_subfolders_train: found 3, asked 2"; also refuses a dataset that is not complete.
Status check_manifest(const Manifest& manifest, const DatasetSection& asked, const std::string& place);

// The plan of the files as they lie there (all of them, not the subset).
Expected<DatasetPlan> plan_of(const Manifest& manifest, Split split);

} // namespace feedbench::dataset
