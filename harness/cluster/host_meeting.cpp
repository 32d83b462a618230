#include "harness/cluster/host_meeting.hpp"

#include <algorithm>
#include <cassert>

namespace feedbench::cluster {

std::size_t HostMeeting::memory_bytes(int rank_count) {
    return sizeof(Board) + sizeof(Slot) * static_cast<std::size_t>(rank_count);
}

HostMeeting::HostMeeting(void* memory, int rank_count, int local_rank)
    : board_(*static_cast<Board*>(memory)),
      slots_(reinterpret_cast<Slot*>(static_cast<std::byte*>(memory) + sizeof(Board))), rank_count_(rank_count),
      local_rank_(local_rank) {
    assert(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    assert(local_rank >= 0 && local_rank < rank_count);
}

void HostMeeting::arrive(std::uint64_t value) {
    ++meeting_;
    seen_count_ = 0;
    Slot& mine = slots_[local_rank_];
    mine.value[meeting_ & 1].store(value, std::memory_order_relaxed);
    mine.meeting.store(meeting_, std::memory_order_release);
}

bool HostMeeting::all_here(std::uint64_t& largest) {
    for (; seen_count_ < rank_count_; ++seen_count_) {
        if (slots_[seen_count_].meeting.load(std::memory_order_acquire) < meeting_) return false;
    }
    largest = 0;
    for (int i = 0; i < rank_count_; ++i) {
        largest = std::max(largest, slots_[i].value[meeting_ & 1].load(std::memory_order_relaxed));
    }
    return true;
}

void HostMeeting::publish(std::uint64_t result) {
    board_.agreed.value[meeting_ & 1].store(result, std::memory_order_relaxed);
    board_.agreed.meeting.store(meeting_, std::memory_order_release);
}

bool HostMeeting::result(std::uint64_t& value) const {
    if (board_.agreed.meeting.load(std::memory_order_acquire) < meeting_) return false;
    value = board_.agreed.value[meeting_ & 1].load(std::memory_order_relaxed);
    return true;
}

void HostMeeting::announce(std::uint64_t value) {
    std::uint64_t known = board_.announced.load(std::memory_order_relaxed);
    while (known < value && !board_.announced.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
    }
}

std::uint64_t HostMeeting::announced() const { return board_.announced.load(std::memory_order_acquire); }

} // namespace feedbench::cluster
