// A volume's description: volume.yaml in the volume's folder, written once by mkfs.
//
// Thread: any; plain values. Owner: the holder. Units: bytes. Errors: a file that is not there, not YAML, lacks a key,
// has a value out of range, or another format version than this program's (older or newer) is refused, with the key.
// Source: DESIGN section 11.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/types/error.hpp"
#include "storage/feedfs/metadata/inode.hpp"

namespace feedbench::feedfs {

// Raised by every change of what lies in segments, footers, metadata records or volume.yaml. A program opens volumes of
// its own version only: an older program would misread, a newer one has forgotten.
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr const char* kVolumeFile = "volume.yaml";
inline constexpr std::uint64_t kBlockBytes = kRecordAlignment; // payloads begin at multiples of this in their segment

enum class Tier : std::uint8_t { fast = 1, object = 2 }; // as SegmentRecord::kFast, kObject

struct TargetConfig {
    std::uint32_t id = 0; // what the table of segments names; never used for another place
    std::string place;    // a folder, absolute or relative to the volume's; "s3://bucket/prefix" for an object tier
    Tier tier = Tier::fast;
};

struct VolumeConfig {
    std::uint32_t format_version = kFormatVersion;
    std::string uuid; // 36 characters
    std::string name;
    std::string metadata_engine = "lmdb";    // "lmdb", "redis"
    std::string metadata_place = "metadata"; // lmdb: a folder as of targets; redis: a URL (engine.hpp)
    std::vector<std::pair<std::string, std::string>> metadata_options;
    std::vector<TargetConfig> targets;
    std::uint64_t chunk_bytes = 4ULL << 20;    // a large file is cut into records of this payload
    std::uint64_t segment_bytes = 64ULL << 20; // a segment is sealed when the next record would pass this
    std::uint64_t fast_capacity_bytes = 0;     // limit of the fast tier; 0 = none

    std::string folder; // where volume.yaml lies, absolute; not in the file

    // The first 8 bytes of the uuid: what footers carry.
    std::uint64_t volume_id() const;
    // A place that is a folder, made absolute.
    std::string absolute_place(const std::string& place) const;
};

// What is possible: chunk a power of two of 64 KiB to 1 GiB; segment at least 2 chunks and at most 4 GiB; a target of
// the fast tier; ids different.
Status check_volume(const VolumeConfig& config);

// `place`: the volume's folder, or a path of a volume.yaml. Expands nothing, opens no target.
Expected<VolumeConfig> load_volume(const std::string& place);

class TargetMarks; // of a mkfs that is under way: target_mark.hpp

// mkfs: makes the folder, the folders of directory targets (and of an LMDB), a new uuid, and volume.yaml, which is
// written last and durably. A folder that holds a volume already is refused (EEXIST), a target's folder with segments
// or another volume's mark too; what a mkfs left that was killed is taken over, with its uuid (target_mark.hpp). The
// metadata engine is initialised by FileSystem::make, which then finishes the marks.
Expected<VolumeConfig> make_volume(const std::string& folder, VolumeConfig config, TargetMarks& marks);

} // namespace feedbench::feedfs
