// Operations (engine/io_op.hpp) on an NFS server: what a backend's submit() hands on.
//
// Thread: reactor thread. Owner: the backend; Files must be gone before it. Units: bytes. Errors: op.result = -errno,
// op.message where errno says too little. Two of them: version 3, and version 4 for
// reading.
#pragma once

#include <memory>
#include <string>

#include "harness/engine/reactor.hpp"
#include "harness/types/endpoint_counters.hpp"
#include "storage/nfs/mount.hpp"
#include "storage/nfs/namespace_calls.hpp"

namespace feedbench::storage::nfs {

class DataPath {
  public:
    virtual ~DataPath() = default;
    virtual engine::Submit submit(engine::IoOp& op) = 0; // op.path: relative to the URI's folder
    virtual void cancel() = 0;                           // everything outstanding ends with -ECANCELED in the next turn
    virtual const EndpointCounters& counters() const = 0;
};

struct Version3 {
    engine::Reactor& reactor;
    const Settings& settings;
    const Mounted& mounted;
    NamespaceCalls& names;                 // for files that are destroyed uncommitted
    std::uint64_t read_bytes, write_bytes; // the most of one request
    // Beside the final name, and unique: where a file grows until its commit.
    std::string (*temporary_beside)(std::string_view path);
};
std::unique_ptr<DataPath> make_version3(const Version3& parts);

// Reading only: libnfs 4.0.0 cannot send a write of 4000 bytes or more.
struct Version4 {
    engine::Reactor& reactor;
    const Settings& settings;
    const Mounted& mounted;
    std::uint64_t read_bytes;
};
std::unique_ptr<DataPath> make_version4(const Version4& parts);

// A word for what errno says too little of; "" where it says enough.
std::string explained(int error);

} // namespace feedbench::storage::nfs
