// Which server a network filesystem's bytes come from, by what its mount says.
//
// Thread: any (a pure function). Owner: none. Units: none. Errors: a reason in words.
// Source: nfs(5), mount.cifs(8), mount.ceph(8), mount.lustre(8) (NIDs), sshfs(1).
#pragma once

#include <string>

#include "storage/mounts.hpp"

namespace feedbench::probes {

struct RemoteHost {
    std::string host;   // name or address, without port and brackets
    std::string reason; // where there is none
};
RemoteHost remote_host(const storage::Mount& mount);

} // namespace feedbench::probes
