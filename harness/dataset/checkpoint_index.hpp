// Which checkpoints of a folder are whole: feedbench-checkpoints.json beside them. A checkpoint is there once it is
// listed here, and not before: its files may be half of it, those of a stopped run, or about to be replaced.
//
// Thread: reactor thread (Backend's namespace calls); plain values otherwise. Owner: rank 0 of a run writes it; every
// write replaces the file as a whole, so that it works where there is no rename of folders (object stores). Units:
// bytes, ns of calendar time. Errors: a file that is damaged or of a newer version; what the storage says.
// Source: DESIGN section 6 (nothing half-written is ever visible); rules of editions 2.0 and 3.0: the gap between the
// write's end and the read's start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"
#include "storage/backend.hpp"

namespace feedbench::dataset {

inline constexpr int kCheckpointIndexVersion = 1;
inline constexpr std::string_view kCheckpointIndexName = "feedbench-checkpoints.json";

// A checkpoint that committed.
struct CheckpointEntry {
    std::string folder; // "global_epoch1_step0"
    std::string model, run_id;
    std::uint64_t rank_count = 0, file_count = 0, bytes = 0;
    std::uint64_t content_seed = 0;
    int content_version = 0;
    bool fsync = false;
    std::int64_t write_end_unix_ns = 0; // when it became visible
    std::vector<std::string> hosts;     // that wrote it: one a rank, or one for all ranks
    bool operator==(const CheckpointEntry&) const = default;
};

struct CheckpointIndex {
    std::vector<CheckpointEntry> committed; // oldest first

    const CheckpointEntry* find(std::string_view folder) const;
    bool remove(std::string_view folder); // false: it was not there
    void add(CheckpointEntry entry);      // as the newest; in place of one of the same folder
};

std::string to_json(const CheckpointIndex& index);
Expected<CheckpointIndex> parse_checkpoint_index(std::string_view text, const std::string& path);

// The backend's root is the checkpoint folder. No file (or no folder): an index with nothing in it.
Expected<CheckpointIndex> read_checkpoint_index(storage::Backend& backend);
Status write_checkpoint_index(storage::Backend& backend, const CheckpointIndex& index);

} // namespace feedbench::dataset
