#include "harness/cluster/life_signs.hpp"

#include <cassert>

namespace feedbench::cluster {

struct LifeSigns::Memory {
    Board board{};
    Sign sign{};
};

std::size_t LifeSigns::memory_bytes(int rank_count) {
    return sizeof(Board) + sizeof(Sign) * static_cast<std::size_t>(rank_count);
}

LifeSigns::LifeSigns(void* memory, int rank_count, int local_rank)
    : board_(*static_cast<Board*>(memory)),
      signs_(reinterpret_cast<Sign*>(static_cast<std::byte*>(memory) + sizeof(Board))), rank_count_(rank_count),
      local_rank_(local_rank) {
    assert(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    assert(local_rank >= 0 && local_rank < rank_count);
}

std::unique_ptr<LifeSigns> LifeSigns::alone() {
    auto memory = std::make_shared<Memory>();
    auto signs = std::make_unique<LifeSigns>(&memory->board, 1, 0);
    signs->own_ = std::move(memory);
    return signs;
}

bool LifeSigns::claim_last_word() { return board_.claimed.exchange(1, std::memory_order_acq_rel) == 0; }

} // namespace feedbench::cluster
