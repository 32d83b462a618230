// RecentEntries: what was looked up a moment ago, whole, for the read that mostly follows: it then needs no look-up of
// its own.
//
// Each entry is handed out once. What an id stands for never changes, and where it lies is looked up again by who finds
// its segment gone, so nothing here can be wrong for long.
//
// Thread: any. Owner: Door. Units: entries. Errors: none; what is not here any more is looked up.
#pragma once

#include <array>
#include <mutex>
#include <optional>

#include "storage/feedfs/metadata/inode.hpp"

namespace feedbench::feedfs::mount {

class RecentEntries {
  public:
    void keep(Inode inode);
    std::optional<Inode> take(InodeId id);

  private:
    static constexpr std::size_t kShards = 8, kPerShard = 128; // a place of its own for each id modulo 1024
    struct Shard {
        std::mutex mutex;
        std::array<Inode, kPerShard> entries; // id 0: none
    };
    Shard& shard(InodeId id) { return shards_[id % kShards]; }
    static std::size_t place(InodeId id) { return id / kShards % kPerShard; }
    std::array<Shard, kShards> shards_;
};

} // namespace feedbench::feedfs::mount
