// What an epoch's bytes came from, on every host: drops the page cache where that is asked for, samples how much of the
// files to come is in it, and reads the counters of the device or interface before and after.
//
// Thread: reactor thread, outside of what is measured. Owner: TrainingRun. Units: bytes, pages. Errors: none; what the
// machine does not say is a reason. Under the virtual clock there is no machine to ask.
// Source: DESIGN section 8 (cache evidence); cases C1, C2, C9; docs/cache.md.
#pragma once

#include <vector>

#include "harness/loader/loader.hpp"
#include "harness/probes/data_source.hpp"
#include "harness/types/run_result.hpp"
#include "workloads/cache_drop.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::workloads {

// One rank's part of a host's evidence. Counters of the host come from its first rank only.
struct RankEvidence {
    CacheEvidence evidence;
    bool counts_host = false; // source fields are filled
    std::string to_bytes() const;
    static RankEvidence from_bytes(const std::string& bytes);
};
// Ranks of one host, in the order of their local rank.
CacheEvidence merge_evidence(const std::vector<RankEvidence>& ranks);

class CacheWatch {
  public:
    CacheWatch(const RunRequest& request, const TrainingPlan& plan, storage::Backend& backend,
               const loader::LoaderCounters& counters);

    struct Epoch {
        const SetPlan* set = nullptr;
        const EpochPlan* plan = nullptr;
        std::uint64_t step_count = 0; // of the plan, that will be read
    };
    // First, where reader.drop_cache is not off. `stopping` becoming true ends the wait.
    engine::Task<void> drop(const SetPlan& set, const bool& stopping);
    // Once all ranks of the host have dropped, before the barrier that begins the epoch.
    void begin(const Epoch& epoch);
    // After the epoch's last read; collective. Rank 0: one a host, in the order of Communicator::hosts(); elsewhere
    // none.
    std::vector<CacheEvidence> end();

  private:
    void sample_residency(const Epoch& epoch);
    void read_counters(std::optional<std::uint64_t>& source, std::optional<std::uint64_t>& process) const;

    const RunRequest& request_;
    const TrainingPlan& plan_;
    storage::Backend& backend_;
    const loader::LoaderCounters& counters_;
    const probes::Machine machine_;
    const bool is_virtual_, counts_host_; // counts_host: first rank of its host
    probes::DataSource source_;
    std::string no_residency_; // why no pages are asked about; empty: they are
    CacheDropper dropper_;
    RankEvidence mine_; // of the epoch under way
    DropReport dropped_;
    std::optional<std::uint64_t> source_start_, process_start_;
    std::uint64_t delivered_start_ = 0;
};

// The warning that a page cache was not emptied as asked, in one epoch or in several that follow each other; nothing
// where all is well.
std::optional<Finding> drop_warning(const CacheEvidence& evidence, const std::string& host, std::uint32_t first_epoch,
                                    std::uint32_t last_epoch);

// One host's warnings: the same outcome epoch after epoch is said once.
class DropWarnings {
  public:
    void add(const CacheEvidence& evidence, const std::string& host, std::uint32_t epoch_index,
             std::vector<Finding>& findings);

  private:
    std::string outcome_; // of the warning that may go on
    std::uint32_t first_ = 0, last_ = 0;
    std::size_t place_ = 0; // of it, in the findings
};

} // namespace feedbench::workloads
