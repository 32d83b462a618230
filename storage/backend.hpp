// The one interface to any storage: namespace calls that may block, and operations that may not.
//
// Thread: reactor thread, except where a method says otherwise. Owner: the workload; Files it opened must be gone
// before it. Units: bytes; paths are relative to the root of the URI, '/' separated, no leading '/'. Errors: what was
// asked for and is not there is an error, never a silent fallback (O_DIRECT refused, io_uring forbidden). Source:
// DESIGN section 6. The shortest backend is null.cpp: copy that one. A backend is one file and one line in
// registry.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/engine/io_op.hpp"
#include "harness/types/endpoint_counters.hpp"
#include "harness/types/error.hpp"
#include "harness/types/option.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::engine {
class Reactor;
}

namespace feedbench::storage {

struct Capabilities {
    std::string name;        // "posix", "null", ...
    bool has_content = true; // reads return the bytes that were written (null, model: nothing is kept)
    bool can_write = true;
    bool direct_io = false;            // odirect may be asked for
    bool async = true;                 // submit answers pending instead of blocking
    bool page_cached = false;          // reads may be served from the client's page cache
    bool object_semantics = false;     // no rename, no directories
    bool virtual_time = false;         // may run under the virtual clock
    std::uint32_t alignment_bytes = 1; // of direct reads and writes: enough for every file; File says what its own is
    std::string note;                  // what a report must say about it ("O_DIRECT on tmpfs is not ..."), or empty
};

struct BackendRequest {
    std::string uri;                                  // as the user wrote it
    std::string root;                                 // what follows the scheme
    std::map<std::string, std::string> options;       // from the URI ("model:latency=..") and storage_options
    std::map<std::string, std::string> inner_options; // fault: those of the backend that it wraps
    bool odirect = false;
    bool will_write = false; // asked to write later: storage that cannot says so now
    IoEngine io_engine = IoEngine::uring;
    std::uint32_t io_threads = 4;
    std::uint64_t seed = 0; // model, s3: jitter
    std::uint32_t rank = 0; // s3: which of several endpoints
    engine::Reactor* reactor = nullptr;
};

struct FileStat {
    std::uint64_t size_bytes = 0;
    bool is_directory = false;
};

struct FilesystemFacts {
    std::string type;   // "ext4", "tmpfs", "null", "s3", "nfs3", ...
    std::string device; // "/dev/vda", "server:/export", or empty
    std::uint64_t free_bytes = 0, total_bytes = 0;
    std::uint64_t free_inodes = 0; // 0 = not said
    std::uint64_t filesystem_id = 0;
    std::string mount_point, mount_options; // empty: it is not mounted. Of s3, nfs: what was agreed ("path-style, tls")
    bool is_network = false;                // a server, or a FUSE daemon, answers
    bool is_memory = false;                 // nothing lies below it
    std::string server; // name or address, without port, that the bytes come from; empty: not known here (a mount:
                        // probes::remote_host may know it)
};

enum class DropOutcome : std::uint8_t { dropped, not_permitted, not_offered };

// Asks that a file's pages leave this client's cache; path empty = everything this host may drop. It may block for
// minutes, or for ever on storage that hangs. So it is a value that knows nothing of its backend: it may be called on
// any thread, one call at a time, and outlive the backend when its caller stops waiting.
using CacheDrop = std::function<DropOutcome(const std::string& path)>;

class Backend : public engine::IoTarget {
  public:
    virtual const Capabilities& capabilities() const = 0;

    // Hot path: open, create, read, write, flush, commit, close (engine/io_op.hpp says what each answers).
    engine::Submit submit(engine::IoOp& op) override = 0;

    // Asks that operations which would else stay outstanding end soon, with -ECANCELED; they complete through their
    // sink as ever. Called once a run is being stopped. By default nothing: operations of most backends end by
    // themselves.
    virtual void cancel_pending();

    // Namespace, outside measured time; may block. "Not offered" (EOPNOTSUPP) by default.
    virtual Expected<FileStat> stat(const std::string& path);
    // Calls `each` with every entry directly in `path` (name, is_directory) until it returns false; streamed, in no
    // order.
    virtual Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each);
    virtual Status make_directories(const std::string& path);
    virtual Status remove(const std::string& path);
    // Removes what writers that were killed have left half-written directly in `path` (list does not show it). Only
    // when nobody writes there. By default nothing: most storage keeps no such thing.
    virtual Status remove_leftovers(const std::string& path);
    // What was committed without a flush is seen by other clients, too, when this returns; the first error of such a
    // commit that was not told before. Called once a writer has written its files. By default nothing: with most
    // storage a commit has done it all.
    virtual Status settle();
    virtual Status write_file(const std::string& path,
                              std::span<const std::byte> content); // small files, committed atomically
    virtual Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes);
    // Also of a path that is not there (yet). No round trip where one can be spared: it is asked before every run.
    virtual Expected<FilesystemFacts> facts(const std::string& path);
    // What the client's own library has counted of each server since this backend was made; by default nothing (a mount
    // is the kernel's). Asked once, after the run, and when a run fails.
    virtual std::vector<EndpointCounters> statistics() const;
    // By default (an empty function) not offered.
    virtual CacheDrop cache_drop() const;
    // A path that a library with its own I/O (libhdf5) can open on this host; empty = there is none.
    virtual std::string local_path(const std::string& path) const;
    // Something every caller can print: "/data/unet3d/train/img_000_of_168.npz".
    virtual std::string display_path(const std::string& path) const = 0;
};

// The Error of an operation that failed (op.result < 0), or that read less than it should: operation, path, offset,
// errno.
Error operation_error(const Backend& backend, const engine::IoOp& op, const std::string& path);

} // namespace feedbench::storage
