// Streams one rank's files of one checkpoint through a bounded pool: written front to back, several pieces in flight,
// each file fsynced and committed; or read back, sizes and content checked. It runs on the reactor beside whatever else
// does, a training loop included.
//
// Thread: reactor thread. Owner: whoever writes the checkpoint; stream, pool and backend outlive every part. Units:
// bytes, ns of the rank's clock. Errors: with operation, path and offset; of a file that failed nothing is visible (its
// siblings that were committed before stay: a checkpoint is there only once the index says so,
// harness/dataset/checkpoint_index.hpp). Memory: the pool, whatever the model. Source: DESIGN section 6 (create +
// commit); docs/checkpointing.md.
#pragma once

#include <string>
#include <vector>

#include "generators/content.hpp"
#include "harness/config/checkpoint_sizes.hpp"
#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/sync.hpp"
#include "harness/types/histogram.hpp"
#include "storage/backend.hpp"

namespace feedbench::workloads {

// What one rank does to one checkpoint.
struct CheckpointPart {
    std::uint32_t rank = 0;
    std::string folder;                        // "global_epoch1_step0", relative to the backend's root
    std::vector<config::CheckpointFile> files; // of that rank: CheckpointSizes::files
    std::uint64_t content_seed = 0;            // of this checkpoint: a number of its own for each
};

// What came of it; plain memory. The intervals do not overlap: files follow each other.
struct PartReport {
    std::uint32_t rank = 0;
    std::uint64_t bytes = 0, file_count = 0;
    std::uint64_t start_ns = 0, first_byte_ns = 0; // first_byte: the first piece was answered (0: none was)
    std::uint64_t data_ns = 0, synced_ns = 0;      // the last file's data written (read), and synced
    std::uint64_t end_ns = 0;                      // the last file committed (read: closed)
    std::uint64_t transfer_ns = 0, fsync_ns = 0, commit_ns = 0; // sums over files
    // Of transfer_ns: the thread made content, or compared it, for this part or for another that it waited for.
    std::uint64_t content_ns = 0;
    std::uint64_t fsync_asked = 0, fsync_done = 0;
};

// What all parts of a process add up to, for those who look on: progress, slices, histograms.
struct CheckpointTally {
    std::uint64_t bytes = 0, pieces = 0;
    std::uint32_t in_flight = 0;
    Histogram piece_latency, fsync_latency;
};

class CheckpointStream {
  public:
    struct Settings {
        std::uint64_t piece_bytes = 1 << 20;
        std::uint32_t queue_depth = 8; // pieces of a part in flight
        bool fsync = false;
        bool makes_content = true;  // false: nobody looks at the bytes (virtual time)
        bool verifies = false;      // reads: every byte is compared
        bool is_registered = false; // the pool's buffers are those that the ring knows
    };
    // Of a workload's checkpoint section.
    static Settings settings_of(const Workload& workload);
    // A pool for `part_count` parts side by side: as many buffers as they can use, 64 MiB at most.
    static engine::BufferPool::Layout buffers_for(const Settings& settings, std::uint32_t part_count, bool is_virtual);

    CheckpointStream(engine::Reactor& reactor, storage::Backend& backend, engine::BufferPool& pool, Settings settings)
        : reactor_(reactor), backend_(backend), pool_(pool), buffers_(reactor, pool.layout().buffer_count),
          settings_(settings) {}
    CheckpointStream(const CheckpointStream&) = delete;
    CheckpointStream& operator=(const CheckpointStream&) = delete;

    // Any number of parts side by side. `report` is filled as far as the part came; `stop` becoming true ends it with
    // an interrupted error, after the pieces in flight. The folder must be there (make_directories).
    engine::Task<Status> write(const CheckpointPart& part, PartReport& report, const bool& stop);
    // part: the rank that wrote the files. A file that is missing, shorter, longer or altered is an error.
    engine::Task<Status> read(const CheckpointPart& part, PartReport& report, const bool& stop);

    const CheckpointTally& tally() const { return tally_; }
    CheckpointTally take_tally() { return std::exchange(tally_, {}); } // begins anew
    const Settings& settings() const { return settings_; }

  private:
    struct Open;
    engine::Task<Status> write_file(Open& open, PartReport& report);
    engine::Task<Status> read_file(Open& open, PartReport& report);
    engine::Task<void> move_all(Open& open);
    engine::Task<void> move_pieces(Open& open);
    void check_piece(Open& open, const engine::IoOp& op, std::uint64_t bytes, const engine::BufferLease& lease);
    engine::Task<Status> finish(Open& open, engine::IoKind kind);

    engine::Reactor& reactor_;
    storage::Backend& backend_;
    engine::BufferPool& pool_;
    engine::Semaphore buffers_;
    Settings settings_;
    CheckpointTally tally_;
    std::uint64_t content_ns_ = 0; // of all parts so far
};

} // namespace feedbench::workloads
