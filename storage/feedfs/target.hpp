// Where segments lie: every byte that the library reads or writes goes through this.
//
// A target holds flat files of a name each, which are written once, by one writer, and read by many. Implementations:
// a folder with O_DIRECT (make_directory_target), an object tier, and in tests one that forgets what was not synced.
//
// Thread: any; a TargetFile's calls may run at the same time, those that write at different places.
// Owner: TargetFiles may outlive their Target. Units: bytes. Errors: storage_error with errno; ENOENT for a name that
// is not there, ENOSPC for a full target, ENODEV for a target that is missing altogether (folder gone).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/types/error.hpp"
#include "storage/feedfs/volume.hpp"

namespace feedbench::feedfs {

class TargetFile {
  public:
    virtual ~TargetFile() = default;

    // Fills `into` from `offset` on: bytes read, fewer only at the end of the file. Fast where memory, offset and
    // length are multiples of kBlockBytes.
    virtual Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const = 0;

    // Writes the pieces one behind the other from `offset` on: offset, every length and every address are multiples of
    // kBlockBytes (asserted). All or an error, after which what lies there is undefined.
    virtual Status write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) = 0;

    // Everything written before the call, and the file's name, is on stable storage when it returns.
    virtual Status sync() = 0;

    // The end of writing: the file is as long as said (a reservation past it is given back). Not durable before sync().
    virtual Status finish(std::uint64_t size) = 0;

    virtual Expected<std::uint64_t> size() const = 0;

    // For callers that submit reads themselves (io_uring, splice): a descriptor that lives as long as this object;
    // `direct`: opened with O_DIRECT, else through the page cache. -1: there is none, use read().
    virtual int descriptor(bool direct) const = 0;
};

struct TargetSpace {
    std::uint64_t total_bytes = 0, free_bytes = 0;
    std::uint64_t filesystem_id = 0; // two targets of one filesystem share its space
};

class Target {
  public:
    virtual ~Target() = default;
    virtual const TargetConfig& config() const = 0;

    // A new file for writing and reading; a name that is there already is EEXIST. `reserve_bytes`: how long it may
    // become, reserved if the target can, so that later writes do not fail nor grow the file.
    virtual Expected<std::shared_ptr<TargetFile>> create(const std::string& name, std::uint64_t reserve_bytes) = 0;
    // For reading.
    virtual Expected<std::shared_ptr<TargetFile>> open(const std::string& name) = 0;
    // For reading and for writing what repair decides (fsck cuts a torn tail).
    virtual Expected<std::shared_ptr<TargetFile>> open_for_repair(const std::string& name) = 0;
    // Calls `each` with name and size until it returns false; in no order.
    virtual Status list(const std::function<bool(const std::string&, std::uint64_t)>& each) = 0;
    // Open files can go on reading. A name that is not there is no error. Not durable by itself.
    virtual Status remove(const std::string& name) = 0;
    virtual Expected<TargetSpace> space() = 0;
};

// The folder must exist when something is done with it, not before (a missing target fails what lies there, not the
// volume). A filesystem that refuses O_DIRECT (tmpfs before 6.6) is refused with that word.
std::unique_ptr<Target> make_directory_target(TargetConfig config, std::string absolute_folder);

} // namespace feedbench::feedfs
