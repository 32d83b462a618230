// Where the ranks of one host meet: a few words of shared memory, so that a step costs a rank one store and some loads.
//
// Thread: one per rank (processes share the memory; threads in tests). Owner: the communicator owns memory and object.
// Units: none. Errors: none. Source: DESIGN section 4 (two-level step barrier). A message barrier makes the ranks of a
// host wait for each other's turn on the CPU several times a step; here whoever looks after the last arrival is free to
// go.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace feedbench::cluster {

class HostMeeting {
  public:
    // Bytes of shared memory, which must be zero before the first rank makes its HostMeeting and 64-byte aligned.
    static std::size_t memory_bytes(int rank_count);
    HostMeeting(void* memory, int rank_count, int local_rank);

    // Starts the next meeting of this rank. Only after the one before it has ended on this rank (all_here or result
    // said so).
    void arrive(std::uint64_t value);
    // Every rank of this host has arrived; then `largest` of their values. May be asked again and again.
    bool all_here(std::uint64_t& largest);

    // Where there are several hosts: one rank hands on what all hosts agreed on, the others wait for it.
    void publish(std::uint64_t result);
    bool result(std::uint64_t& value) const;

    // The largest value that any rank of this host has announced or passed on.
    void announce(std::uint64_t value);
    std::uint64_t announced() const;

  private:
    // Values by the parity of the meeting: a rank can be at most one meeting ahead of another, so that an old value is
    // never overwritten before everybody has read it.
    struct alignas(64) Slot {
        std::atomic<std::uint64_t> meeting;
        std::atomic<std::uint64_t> value[2];
    };
    struct Board {
        Slot agreed;
        alignas(64) std::atomic<std::uint64_t> announced;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

    Board& board_;
    Slot* slots_;
    int rank_count_;
    int local_rank_;
    int seen_count_ = 0; // slots [0, seen_count_) are known to have arrived
    std::uint64_t meeting_ = 0;
};

} // namespace feedbench::cluster
