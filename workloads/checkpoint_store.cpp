#include "workloads/checkpoint_store.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "harness/types/units.hpp"

namespace feedbench::workloads {

namespace {
double gib(std::uint64_t bytes) { return to_GiB(static_cast<double>(bytes)); }
} // namespace

Status CheckpointStore::open(bool for_writing) {
    if (for_writing)
        if (auto made = backend_.make_directories(""); !made) return made;
    if (!keeps()) return {};
    auto index = dataset::read_checkpoint_index(backend_);
    if (!index) return index.error();
    index_ = std::move(*index);
    if (!for_writing || !removes_leftovers_) return {};
    return backend_.remove_leftovers(""); // of the list itself
}

Status CheckpointStore::save() { return keeps() ? dataset::write_checkpoint_index(backend_, index_) : Status{}; }

Status CheckpointStore::check_space(std::uint64_t count, std::uint64_t bytes,
                                    const std::vector<std::string>& replaced) const {
    const auto facts = backend_.facts("");
    if (!facts || facts->total_bytes == 0) return {};
    std::uint64_t room = facts->free_bytes;
    for (const std::string& folder : replaced)
        if (const dataset::CheckpointEntry* old = index_.find(folder)) room += old->bytes;
    if (count * bytes <= room) return {};
    return storage_error("write", backend_.display_path(""), ENOSPC,
                         fmt::format("{} of {:.4f} GiB {} {:.4f} GiB, the {} filesystem has room for {:.4f} GiB",
                                     count == 1 ? "the checkpoint" : fmt::format("{} checkpoints", count), gib(bytes),
                                     count == 1 ? "needs" : "need", gib(count * bytes), facts->type, gib(room)));
}

Status CheckpointStore::prepare(const std::string& folder, std::uint64_t bytes, const ForEachFile& files) {
    if (index_.find(folder)) {
        if (auto removed = remove(folder); !removed) return removed;
    } else if (removes_leftovers_ && keeps())
        remove_named(folder, files);
    if (auto space = check_space(1, bytes, {}); !space) return space;
    return backend_.make_directories(folder);
}

Status CheckpointStore::commit(dataset::CheckpointEntry entry) {
    index_.add(std::move(entry));
    return save();
}

std::string CheckpointStore::list_with(dataset::CheckpointEntry entry) const {
    dataset::CheckpointIndex list = index_;
    list.add(std::move(entry));
    return dataset::to_json(list);
}

void CheckpointStore::abandon(const std::string& folder, const ForEachFile& files) {
    index_.remove(folder);
    if (removes_leftovers_ && keeps()) remove_named(folder, files);
}

// Off the list first: a checkpoint that is half gone must not be found.
Status CheckpointStore::remove(const std::string& folder) {
    if (!index_.remove(folder)) return {};
    if (auto saved = save(); !saved) return saved;
    return keeps() ? remove_listed(folder) : Status{};
}

Expected<std::vector<std::string>> CheckpointStore::unlist_all_but(std::uint64_t count) {
    std::vector<std::string> folders;
    while (index_.committed.size() > count) {
        folders.push_back(index_.committed.front().folder);
        index_.committed.erase(index_.committed.begin());
    }
    if (!folders.empty())
        if (auto saved = save(); !saved) return saved.error();
    return folders;
}

Status CheckpointStore::keep_newest(std::uint64_t count) {
    auto folders = unlist_all_but(count);
    if (!folders) return folders.error();
    for (const std::string& folder : *folders)
        if (auto removed = clear(folder); !removed) return removed;
    return {};
}

// A folder that was on our list is ours, with all that is in it, whatever model wrote it.
Status CheckpointStore::remove_listed(const std::string& folder) {
    std::vector<std::string> names;
    const Status listed = backend_.list(folder, [&names](std::string_view name, bool is_directory) {
        if (!is_directory) names.emplace_back(name);
        return true;
    });
    if (!listed) return listed.error().errno_value == ENOENT ? Status{} : listed;
    for (const std::string& name : names)
        if (auto removed = backend_.remove(folder + "/" + name); !removed && removed.error().errno_value != ENOENT)
            return removed;
    (void)backend_.remove_leftovers(folder).has_value();
    (void)backend_.remove(folder).has_value(); // stays where somebody put a folder into it
    return {};
}

// A folder that was not: only files of the names that we would give, for the rest may be somebody else's.
void CheckpointStore::remove_named(const std::string& folder, const ForEachFile& files) {
    if (const auto found = backend_.stat(folder); !found && found.error().errno_value == ENOENT) return;
    files([&](const std::string& name) { (void)backend_.remove(folder + "/" + name).has_value(); });
    (void)backend_.remove_leftovers(folder).has_value();
    (void)backend_.remove(folder).has_value();
}

} // namespace feedbench::workloads
