// The object tier as a target: whole files that appear at once, in a folder or in a bucket.
//
// create() gives a file that nobody sees; sync() makes it visible under its name, whole and durable, in the place of
// what was there before. A folder: "NAME.partial" is written, synced and renamed. "s3://bucket/prefix": the bytes are
// kept in memory until sync() sends them (one segment each, VolumeConfig::segment_bytes at most); endpoint and
// credentials come from the environment, as docs/s3.md says, never from volume.yaml.
//
// Thread: as target.hpp; a file that is being written by one. Owner: as target.hpp. Units: bytes. Errors: as
// target.hpp; config errors of the S3 client at the first use, so that a volume whose objects cannot be reached still
// opens.
#pragma once

#include <memory>

#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

std::unique_ptr<Target> make_object_target(const TargetConfig& config, const VolumeConfig& volume);

// The two kinds of it.
std::unique_ptr<Target> make_object_folder(TargetConfig config, std::string absolute_folder);
std::unique_ptr<Target> make_object_bucket(TargetConfig config);

} // namespace feedbench::feedfs
