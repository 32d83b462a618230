// Step records (steps.h5) into parts: some dozens of blocks of steps of one length, each with its rate, AU and p99
// wait.
//
// Thread: one user. Owner: the caller. Units: ns and bytes in; MB over s, % and s out. Errors: none.
// Source: docs/gate.md. Memory: a histogram a block, whatever the number of records; they may come in any order.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "harness/types/histogram.hpp"
#include "harness/types/step_record.hpp"
#include "reporters/gate/gate_run.hpp"

namespace feedbench::gate {

class StepBlocks {
  public:
    // `step_count`: of the whole run; decides how many steps a block has.
    explicit StepBlocks(std::uint64_t step_count);
    void add(std::span<const StepRecord> records);
    std::vector<Parts> parts() const;

  private:
    struct Block {
        std::uint64_t start_ns = ~std::uint64_t{0}, end_ns = 0, bytes = 0;
        double think_s = 0, wall_s = 0; // without the first step of an epoch's block, as AU is
        Histogram waits;
    };
    std::uint64_t steps_per_block_;
    std::map<std::tuple<std::uint16_t, std::uint16_t, std::uint64_t>, Block> blocks_; // epoch, block, position
};

} // namespace feedbench::gate
