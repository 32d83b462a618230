#include "storage/feedfs/mount/node_table.hpp"

namespace feedbench::feedfs::mount {

namespace {

// With what the list and the heap need beside the record itself.
std::size_t kept_cost(const std::string& record) { return record.capacity() + 64; }

} // namespace

NodeTable::NodeTable() { shard(kRootInode).nodes[kRootInode].known_times = 1; }

void NodeTable::remember(InodeId id, InodeId parent, std::string_view name) {
    Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    Node& node = own.nodes[id];
    ++node.known_times;
    if (id == kRootInode) return;
    node.place.parent = parent;
    if (node.place.name != name) node.place.name = name;
}

bool NodeTable::forget(InodeId id, std::uint64_t times) {
    Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(id);
    if (it == own.nodes.end() || id == kRootInode) return false;
    if (it->second.known_times > times) {
        it->second.known_times -= times;
        return false;
    }
    drop_kept(own, it->second);
    own.nodes.erase(it);
    return true;
}

std::optional<NodePlace> NodeTable::place(InodeId id) const {
    const Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(id);
    if (it == own.nodes.end()) return std::nullopt;
    return it->second.place;
}

void NodeTable::moved(InodeId id, InodeId parent, std::string_view name) {
    Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(id);
    if (it != own.nodes.end()) it->second.place = {parent, std::string(name)};
}

void NodeTable::removed(Inode last) {
    Shard& own = shard(last.id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(last.id);
    if (it != own.nodes.end()) it->second.last = std::make_unique<Inode>(std::move(last));
}

std::optional<Inode> NodeTable::last_of_removed(InodeId id) const {
    const Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(id);
    if (it == own.nodes.end() || !it->second.last) return std::nullopt;
    return *it->second.last;
}

void NodeTable::drop_kept(Shard& shard, Node& node) {
    if (node.kept.empty()) return;
    shard.kept_bytes -= kept_cost(node.kept);
    shard.kept_order.erase(node.in_order);
    node.kept = {};
}

void NodeTable::keep(const Inode& entry, std::int64_t looked_up_ns) {
    if (entry.type != InodeType::file) return;
    const bool is_whole = entry.extents_in_pages || entry.content.payload_bytes() == entry.size_bytes;
    std::string record;
    if (is_whole) {
        record = encode_inode(entry);
    } else {
        Inode attributes = entry;
        attributes.content.clear();
        attributes.extents_in_pages = true;
        record = encode_inode(attributes);
    }
    Shard& own = shard(entry.id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(entry.id);
    if (it == own.nodes.end()) return;
    Node& node = it->second;
    if (looked_up_ns != 0) node.looked_up_ns = looked_up_ns;
    if (!node.kept.empty() && !is_whole) return;
    drop_kept(own, node);
    node.kept = std::move(record);
    node.in_order = own.kept_order.insert(own.kept_order.end(), entry.id);
    own.kept_bytes += kept_cost(node.kept);
    while (own.kept_bytes > kKeptBytesMost / kShards) drop_kept(own, own.nodes.at(own.kept_order.front()));
}

std::optional<Inode> NodeTable::kept(InodeId id) const {
    const Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(id);
    Inode entry;
    if (it == own.nodes.end() || it->second.kept.empty() || !decode_inode(it->second.kept, entry)) return std::nullopt;
    return entry;
}

std::int64_t NodeTable::looked_up_ns(InodeId id) const {
    const Shard& own = shard(id);
    std::lock_guard lock(own.mutex);
    const auto it = own.nodes.find(id);
    return it == own.nodes.end() ? 0 : it->second.looked_up_ns;
}

std::size_t NodeTable::size() const {
    std::size_t count = 0;
    for (const Shard& one : shards_) {
        std::lock_guard lock(one.mutex);
        count += one.nodes.size();
    }
    return count;
}

} // namespace feedbench::feedfs::mount
