// NodeTable: what the kernel knows by number, and where each of these lies now.
//
// A node's number is its inode id. The kernel keeps a number until it forgets it, so the table holds exactly the inodes
// in the kernel's cache: a hundred odd bytes each, whatever the volume's size.
//
// Any file that the kernel knows may be open, and another mount may remove or replace it: its entry is then nowhere but
// here. So the entries of files are kept, encoded, as last seen; above kKeptBytesMost those kept longest go.
//
// Thread: any. Owner: Door. Units: none. Errors: an unknown number has no place (std::nullopt): ESTALE to the caller.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "storage/feedfs/metadata/inode.hpp"

namespace feedbench::feedfs::mount {

struct NodePlace {
    InodeId parent = 0;
    std::string name; // empty: the root
};

class NodeTable {
  public:
    NodeTable();
    // The kernel is told of it once more, at this place.
    void remember(InodeId id, InodeId parent, std::string_view name);
    bool forget(InodeId id, std::uint64_t times); // true: the kernel does not know it any more
    std::optional<NodePlace> place(InodeId id) const;
    void moved(InodeId id, InodeId parent, std::string_view name);
    // Unlinked or replaced through this mount; who has it open can still ask for what it was.
    void removed(Inode last);
    std::optional<Inode> last_of_removed(InodeId id) const;
    // A file's published entry as just seen, and when if the kernel asked for its name. Without its extents (a
    // listing's) it does not take a whole one's place.
    void keep(const Inode& entry, std::int64_t looked_up_ns = 0);
    // `extents_in_pages` where the extents were not in it.
    std::optional<Inode> kept(InodeId id) const;
    std::int64_t looked_up_ns(InodeId id) const; // 0: never
    std::size_t size() const;

    static constexpr std::size_t kKeptBytesMost = 64 << 20;

  private:
    struct Node {
        NodePlace place;
        std::uint64_t known_times = 0;
        std::unique_ptr<Inode> last; // of a removed one
        std::string kept;            // empty: nothing
        std::list<InodeId>::iterator in_order;
        std::int64_t looked_up_ns = 0;
    };
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<InodeId, Node> nodes;
        std::list<InodeId> kept_order; // the longest kept first
        std::size_t kept_bytes = 0;
    };
    static void drop_kept(Shard& shard, Node& node);
    static constexpr std::size_t kShards = 16;
    Shard& shard(InodeId id) { return shards_[id % kShards]; }
    const Shard& shard(InodeId id) const { return shards_[id % kShards]; }
    std::array<Shard, kShards> shards_;
};

} // namespace feedbench::feedfs::mount
