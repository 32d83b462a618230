// Who writes a volume, and its targets by configuration. Internal to storage/feedfs.
//
// Thread: any. Owner: none. Units: ns since 1970, UTC. Errors: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/feedfs/metadata/schema.hpp"
#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

LeaseRecord lease_of_this_process(const std::string& purpose, std::int64_t expires_ns);

std::vector<std::shared_ptr<Target>> make_targets(const VolumeConfig& volume);

} // namespace feedbench::feedfs
