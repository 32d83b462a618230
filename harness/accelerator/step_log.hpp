// Where step records go: added to their block's totals at once, and spooled to an unnamed file, never collected in
// memory.
//
// Thread: reactor thread. Owner: the workload, one a rank. Units: ns, bytes.
// Errors: a spool that cannot be written (temporary folder full) is kept and reported by status(); the totals stay
// right. Source: DESIGN section 8; memory: O(accelerators of this rank) plus one buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/metrics/block_accumulator.hpp"
#include "harness/types/error.hpp"
#include "harness/types/step_record.hpp"

namespace feedbench::accelerator {

class StepLog {
  public:
    // keep_records: false = totals only (nobody wants steps.h5).
    explicit StepLog(bool keep_records);
    ~StepLog();
    StepLog(const StepLog&) = delete;
    StepLog& operator=(const StepLog&) = delete;

    // A new block of the accelerators that will add records; the totals of the block before stay until take_totals().
    void begin_block(std::span<const std::uint32_t> accelerators, std::uint16_t epoch_index, std::uint16_t block_index);
    // `local_index`: position of the record's accelerator in begin_block's list.
    void add(std::uint32_t local_index, const StepRecord& record);
    std::vector<metrics::BlockTotals> take_totals(); // of all blocks since the last call
    const metrics::BlockTotals& current(std::uint32_t local_index) const { return totals_[block_start_ + local_index]; }

    std::uint64_t record_count() const { return record_count_; }
    // Reads the spooled records back in order, at most `chunk` at a time.
    Status replay(std::size_t chunk, const std::function<Status(std::span<const StepRecord>)>& each);
    const Status& status() const { return status_; }

  private:
    void flush();
    bool keep_records_;
    int spool_fd_ = -1;
    std::vector<StepRecord> buffer_;
    std::vector<metrics::BlockTotals> totals_;
    std::size_t block_start_ = 0;
    std::uint64_t record_count_ = 0, spooled_count_ = 0;
    Status status_;
};

} // namespace feedbench::accelerator
