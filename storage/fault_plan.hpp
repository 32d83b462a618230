// What the fault backend does to which operations: its options, read.
//
// Thread: any. Owner: the holder. Units: bytes, ns. Errors: config_error for what is no schedule, errno name or kind.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/engine/io_op.hpp"
#include "harness/types/error.hpp"
#include "harness/types/random.hpp"

namespace feedbench::storage {

// Which of the operations, counted from 1.
class Schedule {
  public:
    static Expected<Schedule> parse(std::string_view text); // empty: no operation
    static Schedule with_probability(double probability) {
        Schedule s;
        s.probability_ = probability;
        return s;
    }
    bool meets(std::uint64_t count, Random& random) const {
        if (probability_ > 0) return random.uniform() < probability_;
        return number_ != 0 && (count == number_ || (and_later_ && count > number_));
    }

  private:
    std::uint64_t number_ = 0;
    bool and_later_ = false;
    double probability_ = 0;
};

// What `on` means.
struct FaultKinds {
    std::uint32_t operations = 0; // a bit a kind
    bool name_space = false;
    void add(engine::IoKind kind) { operations |= bit(kind); }
    bool has(engine::IoKind kind) const { return (operations & bit(kind)) != 0; }

  private:
    static std::uint32_t bit(engine::IoKind kind) { return 1U << static_cast<unsigned>(kind); }
};

struct FaultPlan {
    int error = 0;
    Schedule error_at, delay_at, short_at, stall_at;
    FaultKinds on;
    std::uint64_t delay_ns = 0, space_bytes = 0;
    std::uint64_t seed = 0; // 0: the run's
};

// `uri` is named in messages.
Expected<FaultPlan> parse_fault_plan(const std::map<std::string, std::string>& options, const std::string& uri);

} // namespace feedbench::storage
