#include "storage/feedfs/mount/recent_entries.hpp"

#include <utility>

namespace feedbench::feedfs::mount {

void RecentEntries::keep(Inode inode) {
    Shard& own = shard(inode.id);
    const std::lock_guard lock(own.mutex);
    std::swap(own.entries[place(inode.id)], inode); // the one before goes when the lock is given back
}

std::optional<Inode> RecentEntries::take(InodeId id) {
    Shard& own = shard(id);
    const std::lock_guard lock(own.mutex);
    Inode& entry = own.entries[place(id)];
    if (entry.id != id) return std::nullopt;
    return std::exchange(entry, Inode{});
}

} // namespace feedbench::feedfs::mount
