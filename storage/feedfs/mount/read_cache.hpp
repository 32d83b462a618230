// ReadCache: files that are being read in a mount where the kernel opens without asking (read-only ones).
//
// Such reads come with a node's number alone. The files last used stay open here; which content a number stands for
// never changes, so there is nothing to invalidate.
//
// Thread: any. Owner: Door. Units: files. Errors: none of its own.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::feedfs::mount {

class ReadCache {
  public:
    std::shared_ptr<ReadFile> find(InodeId id);
    void keep(InodeId id, std::shared_ptr<ReadFile> file);
    void forget(InodeId id);

  private:
    static constexpr std::size_t kShards = 8, kFilesPerShard = 512;
    struct Kept {
        InodeId id;
        std::shared_ptr<ReadFile> file;
    };
    struct Shard {
        std::mutex mutex;
        std::list<Kept> by_use; // the last used first
        std::unordered_map<InodeId, std::list<Kept>::iterator> by_id;
    };
    Shard& shard(InodeId id) { return shards_[id % kShards]; }
    std::array<Shard, kShards> shards_;
};

} // namespace feedbench::feedfs::mount
