// Writes one file front to back through a backend: several writes in flight, the head held back where it must be
// patched, nothing visible before it is whole.
//
// Thread: reactor thread. Owner: the caller's frame; the pool outlives it. Units: bytes, ns.
// Errors: with operation, path and offset; a file that failed leaves no trace. Used by the dataset writer and by
// checkpoints. Source: DESIGN section 6 (create + commit).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/format.hpp"
#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/sync.hpp"
#include "storage/backend.hpp"

namespace feedbench::generators {

struct FileToWrite {
    std::string path; // relative to the backend's root
    std::uint64_t file_bytes = 0;
    std::function<std::size_t(std::span<std::byte>)> fill; // next bytes of the file, as Encoder::fill
    std::function<std::vector<formats::Patch>()> patches;  // empty = none
    std::uint64_t patch_limit = 0;                         // <= one buffer
    bool flush = true;                                     // fsync before it becomes visible
};

struct WriteTotals {
    std::uint64_t bytes = 0, writes = 0;
    std::uint64_t fsync_ns = 0;
};

class FileWriter {
  public:
    // Buffers come from `pool`; `permits` counts them (one a buffer). writes_in_flight: of one file.
    FileWriter(engine::Reactor& reactor, storage::Backend& backend, engine::BufferPool& pool,
               engine::Semaphore& permits, std::uint32_t writes_in_flight)
        : reactor_(reactor), backend_(backend), pool_(pool), permits_(permits), writes_in_flight_(writes_in_flight) {}

    // `stop`: looked at between writes; the file is then given up with an interrupted error.
    engine::Task<Status> write(const FileToWrite& file, WriteTotals& totals, const bool* stop = nullptr);

  private:
    struct Open;
    engine::Task<Status> write_open_file(Open& open, const FileToWrite& file, WriteTotals& totals, const bool* stop);
    engine::Task<void> write_buffer(Open& open, engine::BufferLease lease, std::uint64_t offset, std::uint64_t bytes);
    engine::Task<Status> finish(Open& open, engine::IoKind kind, std::uint64_t size);

    engine::Reactor& reactor_;
    storage::Backend& backend_;
    engine::BufferPool& pool_;
    engine::Semaphore& permits_;
    std::uint32_t writes_in_flight_;
};

} // namespace feedbench::generators
