// fsck: the tree of directories. Each is named by one entry and has a row that says which; all lead up to the root.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/fsck_run.hpp"

namespace feedbench::feedfs {

namespace {
constexpr const char* kLostFound = "lost+found";
} // namespace

std::string FsckRun::path_of(const Entry& entry) const {
    std::string path = entry.name;
    InodeId parent = entry.parent;
    for (int depth = 0; parent != kRootInode && parent != 0; ++depth) {
        const auto at = directories_.find(parent);
        if (depth == 1000 || at == directories_.end() || !at->second.has_entry)
            return "(inode " + std::to_string(parent) + ")/" + path;
        path = at->second.name + "/" + path;
        parent = at->second.parent;
    }
    return path.empty() ? "/" : path;
}

bool FsckRun::is_reachable(InodeId directory) {
    std::vector<InodeId> way;
    bool leads_up = false;
    for (InodeId at = directory;; at = directories_[at].parent) {
        if (at == kRootInode) {
            leads_up = true;
            break;
        }
        if (const auto known = reachable_.find(at); known != reachable_.end()) {
            leads_up = known->second;
            break;
        }
        const auto facts = directories_.find(at);
        if (facts == directories_.end() || !facts->second.has_entry) break;
        reachable_[at] = false; // met again on this way: a circle
        way.push_back(at);
    }
    for (const InodeId each : way) reachable_[each] = leads_up;
    return leads_up;
}

void FsckRun::check_tree() {
    if (!root_is_there_) {
        Repair& repair =
            found(FindingKind::root_missing,
                  {.kind = {}, .path = "/", .segment = 0, .offset = 0, .message = "the root directory has no entry"});
        Inode root;
        root.type = InodeType::directory;
        root.id = kRootInode;
        root.mode = 0700;
        root.mtime_ns = root.ctime_ns = root.atime_ns = now_ns_;
        put_entry(repair.batch, root_key(), root);
        repair.batch.put(directory_key(kRootInode), encode(DirectoryRecord{.parent = 0, .name = {}}));
        DirectoryFacts& facts = directories_[kRootInode];
        facts.has_entry = true;
        facts.parent = 0;
        facts.name.clear();
        facts.row = encode(DirectoryRecord{.parent = 0, .name = {}});
    }
    check_directory_rows();
    check_directory_times();
    std::vector<InodeId> all;
    for (const auto& [id, facts] : directories_) all.push_back(id);
    for (const InodeId parent : parents_)
        if (!directories_.contains(parent)) all.push_back(parent);
    std::sort(all.begin(), all.end()); // the same repairs in every run
    // First those that nothing names, then circles. What lies below a rescued one is reachable again, through it.
    std::vector<InodeId> rescued;
    for (const InodeId id : all) {
        const auto facts = directories_.find(id);
        const bool is_named = id == kRootInode || (facts != directories_.end() && facts->second.has_entry);
        if (is_named || !parents_.contains(id)) continue;
        rescue(id, "entries lie in directory inode " + std::to_string(id) + ", which no entry names");
        rescued.push_back(id);
    }
    bool is_known = false; // reachable_ holds what was learnt since the last rescue
    for (const InodeId id : all) {
        if (!is_known) {
            reachable_.clear();
            for (const InodeId each : rescued) reachable_[each] = true;
            is_known = true;
        }
        if (!directories_.contains(id) || !directories_[id].has_entry || is_reachable(id)) continue;
        rescue(id, "directory inode " + std::to_string(id) + " lies below itself, apart from the root");
        rescued.push_back(id);
        is_known = false;
    }
}

void FsckRun::check_directory_rows() {
    for (auto& [id, facts] : directories_) {
        if (!facts.has_entry) {
            if (parents_.contains(id)) continue; // rescued below
            Repair& repair =
                found(FindingKind::row_unnamed, {.kind = {},
                                                 .path = {},
                                                 .segment = 0,
                                                 .offset = 0,
                                                 .message = "a row of directory inode " + std::to_string(id) +
                                                            ", which no entry names and in which nothing lies"});
            if (!is_incomplete_) repair.batch.erase(directory_key(id));
            continue;
        }
        const std::string expected = encode(DirectoryRecord{.parent = facts.parent, .name = facts.name});
        if (facts.row == expected) continue;
        Repair& repair = found(FindingKind::directory_row_wrong,
                               {.kind = {},
                                .path = path_of({facts.parent, facts.name}),
                                .segment = 0,
                                .offset = 0,
                                .message = std::string(facts.row ? "the row of this directory names another place"
                                                                 : "the directory has no row")});
        repair.batch.put(directory_key(id), expected);
    }
}

// Times are worth no more than to be forgotten: the entry has older ones.
void FsckRun::check_directory_times() {
    for (const auto& [id, is_whole] : timed_directories_) {
        const auto facts = directories_.find(id);
        const bool is_named = facts != directories_.end() && facts->second.has_entry;
        if (is_whole && (is_named || parents_.contains(id))) continue; // what has entries is rescued below
        Repair& repair =
            is_named
                ? found(FindingKind::directory_row_wrong, {.kind = {},
                                                           .path = path_of({facts->second.parent, facts->second.name}),
                                                           .segment = 0,
                                                           .offset = 0,
                                                           .message = "the times of this directory are damaged"})
                : found(FindingKind::row_unnamed, {.kind = {},
                                                   .path = {},
                                                   .segment = 0,
                                                   .offset = 0,
                                                   .message = "times of directory inode " + std::to_string(id) +
                                                              ", which no entry names and in which nothing lies"});
        if (is_named || !is_incomplete_) repair.batch.erase(directory_times_key(id));
    }
}

// A name in lost+found for a directory: its entry there, and no other.
void FsckRun::rescue(InodeId directory, const std::string& message) {
    DirectoryFacts& facts = directories_[directory];
    Repair& repair =
        found(FindingKind::entry_unreachable, {.kind = {}, .path = {}, .segment = 0, .offset = 0, .message = message});
    if (!options_.repair || lost_found_ == 0) return;
    const std::string name = "inode-" + std::to_string(directory);
    Inode inode;
    inode.type = InodeType::directory;
    inode.id = directory;
    inode.mode = 0700;
    inode.mtime_ns = inode.ctime_ns = inode.atime_ns = now_ns_;
    if (facts.has_entry)
        repair.batch.erase(entry_key(facts.parent, facts.name));
    else
        add_totals(repair.batch, {.directories = 1});
    put_entry(repair.batch, entry_key(lost_found_, name), inode);
    repair.batch.put(directory_key(directory), encode(DirectoryRecord{.parent = lost_found_, .name = name}));
    facts.has_entry = true;
    facts.parent = lost_found_;
    facts.name = name;
}

Status FsckRun::prepare_lost_found() {
    for (const auto& [id, facts] : directories_)
        if (facts.has_entry && facts.parent == kRootInode && facts.name == kLostFound) lost_found_ = id;
    bool is_needed = false;
    for (const InodeId parent : parents_) is_needed = is_needed || (parent != kRootInode && !is_reachable(parent));
    reachable_.clear();
    if (!is_needed || lost_found_ != 0 || !options_.repair) return {};
    auto id = metadata_->take_ids(kInodeCounter, 1);
    if (!id) return id.error();
    Inode inode;
    inode.type = InodeType::directory;
    inode.id = *id;
    inode.mode = 0700;
    inode.mtime_ns = inode.ctime_ns = inode.atime_ns = now_ns_;
    Batch batch;
    batch.require_absent(entry_key(kRootInode, kLostFound));
    put_entry(batch, entry_key(kRootInode, kLostFound), inode);
    batch.put(directory_key(*id), encode(DirectoryRecord{.parent = kRootInode, .name = kLostFound}));
    add_totals(batch, {.directories = 1});
    auto outcome = metadata_->apply(batch, Durability::durable);
    if (!outcome) return outcome.error();
    if (!outcome->applied())
        return storage_error("fsck", kLostFound, EEXIST, "lost+found is there and is no directory: rename it first");
    lost_found_ = *id;
    DirectoryFacts& facts = directories_[lost_found_];
    facts.has_entry = true;
    facts.parent = kRootInode;
    facts.name = kLostFound;
    facts.row = encode(DirectoryRecord{.parent = kRootInode, .name = kLostFound});
    return {};
}

} // namespace feedbench::feedfs
