// Whose a target's folder is: a file beside the segments, `feedfs.target`, with the uuid of the volume that was made on
// it. Segments are named by a number alone, so two volumes in one folder would take each other's for leftovers.
//
// While mkfs is under way the mark has a second line, "unfinished FOLDER" (the volume's), and mkfs holds a lock on it.
// The line goes when the volume is whole, or with the first who opens the volume to write. So a mkfs that was killed is
// known by its marks: unfinished, and unlocked. The next mkfs takes such folders.
//
// Thread: any; functions of their arguments; TargetMarks one. Owner: none. Units: none. Errors: a folder that is
// another volume's is a config_error with the folder, what was found and how to go on; what cannot be read or written
// is a storage_error with errno. Targets that are buckets have no mark. Source: none; this project's own.
#pragma once

#include <string>
#include <vector>

#include "storage/feedfs/volume.hpp"

namespace feedbench::feedfs {

inline constexpr const char* kTargetMark = "feedfs.target";

// The marks of a mkfs that is under way; what was not finished is taken back at its end.
class TargetMarks {
  public:
    TargetMarks() = default;
    ~TargetMarks();
    TargetMarks(const TargetMarks&) = delete;
    TargetMarks& operator=(const TargetMarks&) = delete;

    // Marks every target's folder, in the place of marks of a mkfs that was killed.
    Status take(const VolumeConfig& config);
    Status finish(); // the volume is whole

  private:
    struct Taken {
        std::string path;
        int fd = -1; // locked
    };
    std::vector<Taken> taken_;
    bool is_finished_ = false;
};

// mkfs, before anything is made: no target's folder holds segments, pieces of them, or a mark of somebody. A folder
// that is not there yet holds nothing.
Status refuse_used_targets(const VolumeConfig& config);
// A mkfs that was killed has left this volume: nobody has opened it to write since.
bool is_unfinished(const VolumeConfig& config);
// The uuid that a mkfs of this folder, with these targets, was killed with; empty: there was none.
std::string unfinished_uuid(const VolumeConfig& config);
// Whoever opens a volume to write: from now on it is whole. Who cannot say so may not write, or the next mkfs would
// take the volume for what one left that was killed.
Status finish_marks(const VolumeConfig& config);
// Before a volume is used: no target's folder has another volume's mark. None is right too: the volume is older than
// marks, or the folder is not there, which fails what lies there and not the volume.
Status check_target_marks(const VolumeConfig& config);

} // namespace feedbench::feedfs
