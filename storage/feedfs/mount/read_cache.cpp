#include "storage/feedfs/mount/read_cache.hpp"

namespace feedbench::feedfs::mount {

std::shared_ptr<ReadFile> ReadCache::find(InodeId id) {
    Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.by_id.find(id);
    if (it == own.by_id.end()) return nullptr;
    own.by_use.splice(own.by_use.begin(), own.by_use, it->second);
    return it->second->file;
}

void ReadCache::keep(InodeId id, std::shared_ptr<ReadFile> file) {
    Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    if (own.by_id.contains(id)) return;
    own.by_use.push_front({id, std::move(file)});
    own.by_id[id] = own.by_use.begin();
    if (own.by_use.size() <= kFilesPerShard) return;
    own.by_id.erase(own.by_use.back().id);
    own.by_use.pop_back();
}

void ReadCache::forget(InodeId id) {
    Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.by_id.find(id);
    if (it == own.by_id.end()) return;
    own.by_use.erase(it->second);
    own.by_id.erase(it);
}

} // namespace feedbench::feedfs::mount
