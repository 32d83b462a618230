// Whose a target's folder is: a file beside the segments, `feedfs.target`, with the uuid of the volume that was made on
// it. Segments are named by a number alone, so two volumes in one folder would take each other's for leftovers.
//
// Thread: any; functions of their arguments. Owner: none. Units: none. Errors: a folder that is another volume's is a
// config_error with the folder and what was found; what cannot be read or written is a storage_error with errno.
// Targets that are buckets have no mark. Source: none; this project's own.
#pragma once

#include <string>

#include "storage/feedfs/volume.hpp"

namespace feedbench::feedfs {

inline constexpr const char* kTargetMark = "feedfs.target";

// mkfs, before anything is made: no target's folder holds segments, pieces of them, or a mark. A folder that is not
// there yet holds nothing.
Status refuse_used_targets(const VolumeConfig& config);
// mkfs: marks every target's folder, and takes back what it has marked where one fails.
Status mark_targets(const VolumeConfig& config);
// What a mkfs that failed has marked; marks of other volumes stay.
void unmark_targets(const VolumeConfig& config);
// Before a volume is used: no target's folder has another volume's mark. None is right too: the volume is older than
// marks, or the folder is not there, which fails what lies there and not the volume.
Status check_target_marks(const VolumeConfig& config);

} // namespace feedbench::feedfs
