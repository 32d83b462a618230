// Where a checkpoint's bytes really went to or came from, on every host: counters of the device or interface before and
// after, how much of the files lay in the page cache before they were read, and dropping them from it.
//
// Thread: reactor thread, outside of what is measured. Owner: CheckpointRun. Units: bytes, pages. Errors: none; what
// the machine does not say is a reason. Under the virtual clock there is no machine to ask. Source: DESIGN section 8
// (cache evidence); case C9 (written, synced, read back without a drop: cached).
#pragma once

#include "workloads/cache_watch.hpp"
#include "workloads/checkpoint_stream.hpp"

namespace feedbench::workloads {

class CheckpointCache {
  public:
    CheckpointCache(const RunRequest& request, storage::Backend& backend);

    // Before a read, where reader.drop_cache is not off: files of these parts leave this host's page cache.
    engine::Task<void> drop(std::vector<CheckpointPart> parts, const bool& stopping);
    // Once all ranks of the host have dropped (or prepared), before the barrier that begins the checkpoint. Of a read
    // the parts that this process will read; of a write none.
    void begin(const std::vector<CheckpointPart>& parts, bool is_write);
    // After the last byte. What this process has to say, for merge_evidence.
    RankEvidence end(std::uint64_t bytes);

  private:
    void sample_residency(const std::vector<CheckpointPart>& parts);
    std::optional<std::uint64_t> counter() const;

    const RunRequest& request_;
    storage::Backend& backend_;
    const probes::Machine machine_;
    const bool is_virtual_, counts_host_; // counts_host: first process of its host
    probes::DataSource source_;
    CacheDropper dropper_;
    RankEvidence mine_;
    DropReport dropped_;
    bool is_write_ = false;
    std::optional<std::uint64_t> source_start_, process_start_;
};

} // namespace feedbench::workloads
