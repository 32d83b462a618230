#include "storage/feedfs/mount/pending_files.hpp"

#include <algorithm>

namespace feedbench::feedfs::mount {

PendingFiles::PendingFiles(FileSystem& files, CommitOptions options) : files_(files), options_(std::move(options)) {
    look_at_space();
    if (!files_.read_only()) thread_ = std::thread([this] { loop(); });
}

PendingFiles::~PendingFiles() {
    {
        std::lock_guard lock(mutex_);
        over_ = true;
    }
    work_.notify_all();
    if (thread_.joinable()) thread_.join();
}

PendingPointer PendingFiles::by_name(InodeId parent, std::string_view name) {
    if (known_count_ == 0) return nullptr;
    std::lock_guard lock(mutex_);
    const auto it = by_name_.find(Key(parent, name));
    return it == by_name_.end() ? nullptr : it->second;
}

PendingPointer PendingFiles::by_node(InodeId node) {
    if (known_count_ == 0) return nullptr;
    std::lock_guard lock(mutex_);
    const auto it = by_node_.find(node);
    return it == by_node_.end() ? nullptr : it->second;
}

void PendingFiles::list(InodeId parent, std::string_view after, std::vector<DirectoryEntry>& entries) {
    if (known_count_ == 0) return;
    std::vector<std::pair<std::string, PendingPointer>> found;
    {
        std::lock_guard lock(mutex_);
        for (auto it = by_name_.upper_bound(Key(parent, after)); it != by_name_.end() && it->first.first == parent;
             ++it)
            found.emplace_back(it->first.second, it->second);
    }
    for (auto& [name, file] : found) {
        std::lock_guard io(file->io);
        if (file->writer && !file->removed) entries.push_back({std::move(name), file->attributes()});
    }
}

bool PendingFiles::any_in(InodeId parent) {
    if (known_count_ == 0) return false;
    std::lock_guard lock(mutex_);
    const auto it = by_name_.lower_bound(Key(parent, ""));
    return it != by_name_.end() && it->first.first == parent;
}

std::int64_t PendingFiles::last_named_ns(InodeId parent) {
    if (known_count_ == 0) return 0;
    std::lock_guard lock(mutex_);
    const auto it = named_in_.find(parent);
    return it == named_in_.end() ? 0 : it->second.last_ns;
}

void PendingFiles::times_were_set(InodeId parent) {
    std::lock_guard lock(mutex_);
    if (const auto it = named_in_.find(parent); it != named_in_.end()) it->second.last_ns = 0;
}

PendingPointer PendingFiles::add(std::unique_ptr<Writer> writer, InodeId parent, std::string name,
                                 InodeId replaces_node) {
    auto file = std::make_shared<PendingFile>(std::move(writer), parent, std::move(name));
    file->replaces = replaces_node;
    file->has_new_name = replaces_node == 0;
    std::lock_guard lock(mutex_);
    add_name(file);
    by_node_[file->id] = file;
    if (replaces_node != 0) by_node_[replaces_node] = file;
    known_count_ = by_node_.size();
    return file;
}

void PendingFiles::open(const PendingPointer& file, bool writing) {
    std::lock_guard lock(mutex_);
    ++(writing ? file->writing_handles : file->reading_handles);
}

void PendingFiles::close(const PendingPointer& file, bool writing) {
    {
        std::lock_guard lock(mutex_);
        --(writing ? file->writing_handles : file->reading_handles);
    }
    enqueue_if_closed(file);
}

void PendingFiles::enqueue_if_closed(const PendingPointer& file) {
    std::lock_guard io(file->io);
    if (!file->writer) return;
    if (!file->removed && !file->dirty) return settle(file);
    std::lock_guard lock(mutex_);
    if (file->writing_handles != 0) return;
    file->closed = true;
    if (file->removed) {
        if (file->reading_handles != 0) return;
        by_node_.erase(file->id);
        known_count_ = by_node_.size();
        file->writer.reset();
        return;
    }
    enqueue(file);
}

void PendingFiles::enqueue(const PendingPointer& file) {
    if (file->queued) return;
    file->queued = true;
    file->queued_bytes = std::min(file->size(), files_.volume().chunk_bytes);
    queued_bytes_ += file->queued_bytes;
    ++enqueued_count_;
    queue_.push_back(file);
    work_.notify_one();
}

void PendingFiles::forgotten(InodeId node) {
    if (known_count_ == 0) return;
    std::lock_guard lock(mutex_);
    const auto it = by_node_.find(node);
    if (it == by_node_.end()) return;
    const PendingPointer file = it->second;
    // What is not published yet stays: it is somebody's data. What only its number held goes.
    if (node == file->id && by_name_.contains(Key(file->parent, file->name))) return;
    by_node_.erase(it);
    if (node == file->replaces) file->replaces = 0;
    known_count_ = by_node_.size();
}

void PendingFiles::add_name(const PendingPointer& file) {
    PendingPointer& place = by_name_[Key(file->parent, file->name)];
    if (place && place->has_new_name) --named_in_[file->parent].names;
    place = file;
    if (!file->has_new_name) return;
    Named& named = named_in_[file->parent];
    ++named.names;
    named.last_ns = std::max(named.last_ns, file->writer->named_ns());
}

void PendingFiles::erase_name(const PendingPointer& file) {
    const auto it = by_name_.find(Key(file->parent, file->name));
    if (it == by_name_.end() || it->second != file) return;
    by_name_.erase(it);
    if (!file->has_new_name) return;
    if (const auto named = named_in_.find(file->parent); --named->second.names == 0) named_in_.erase(named);
}

void PendingFiles::drop(const PendingPointer& file) {
    file->removed = true;
    std::lock_guard lock(mutex_);
    erase_name(file);
    if (file->writing_handles + file->reading_handles != 0) return;
    by_node_.erase(file->id);
    known_count_ = by_node_.size();
    file->writer.reset();
}

void PendingFiles::rename(const PendingPointer& file, InodeId parent, std::string_view name) {
    std::lock_guard lock(mutex_);
    erase_name(file);
    file->parent = parent;
    file->name = name;
    if (!file->writer) return;
    file->writer->set_destination(parent, file->name);
    file->has_new_name = true;
    add_name(file);
}

} // namespace feedbench::feedfs::mount
