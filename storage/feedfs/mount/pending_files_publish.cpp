// PendingFiles: how and when what was closed is published.
#include <algorithm>
#include <chrono>

#include "storage/feedfs/mount/pending_files.hpp"

namespace feedbench::feedfs::mount {

Status PendingFiles::publish_now(const PendingPointer& file) {
    {
        std::lock_guard io(file->io);
        if (file->writer && file->dirty && !file->removed) {
            if (Status ok = files_.publish(*file->writer, Publish::durable); !ok) return ok;
            file->dirty = false;
        }
    }
    return take_lost();
}

Status PendingFiles::closing(const PendingPointer& file) {
    {
        std::lock_guard io(file->io);
        file->flushed = true;
    }
    if (options_.sync_closes || tight_) {
        bool nothing_yet = false; // the shell closes a copy of the descriptor before it writes
        {
            std::lock_guard io(file->io);
            nothing_yet = file->size() == 0;
        }
        if (!nothing_yet) {
            Status ok = publish_now(file);
            if (tight_) look_at_space();
            return ok;
        }
    }
    std::unique_lock lock(mutex_);
    if (queued_bytes_ > options_.queue_bytes) {
        work_.notify_one();
        handled_.wait(lock, [this] { return queued_bytes_ <= options_.queue_bytes / 2 || over_; });
    }
    lock.unlock();
    return take_lost();
}

void PendingFiles::close_flushed() {
    std::vector<PendingPointer> all;
    {
        std::lock_guard lock(mutex_);
        for (const auto& [key, file] : by_name_) all.push_back(file);
    }
    for (const PendingPointer& file : all) {
        std::lock_guard io(file->io);
        if (!file->writer || !file->flushed || !file->dirty || file->removed) continue;
        std::lock_guard lock(mutex_);
        file->writing_handles = file->reading_handles = 0;
        file->closed = true;
        enqueue(file);
    }
}

Status PendingFiles::sync() {
    {
        std::unique_lock lock(mutex_);
        const std::uint64_t until = enqueued_count_;
        if (handled_count_ < until) {
            urgent_ = true;
            work_.notify_one();
            handled_.wait(lock, [&] { return handled_count_ >= until; });
        }
    }
    if (Status ok = files_.sync(); !ok) return ok;
    return take_lost();
}

void PendingFiles::loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        work_.wait(lock, [this] { return over_ || !queue_.empty(); });
        if (queue_.empty()) return;
        work_.wait_for(lock, std::chrono::milliseconds(options_.commit_ms), [this] {
            return over_ || urgent_ || queue_.size() >= options_.batch_files ||
                   queued_bytes_ > options_.queue_bytes / 2;
        });
        std::vector<PendingPointer> batch;
        std::uint64_t bytes = 0;
        std::size_t count = 0;
        for (; !queue_.empty() && batch.size() < options_.batch_files; ++count) {
            PendingPointer file = std::move(queue_.front());
            queue_.pop_front();
            file->queued = false;
            bytes += file->queued_bytes;
            // Begun anew meanwhile (O_TRUNC): half of it must not be seen; its close brings it here again.
            if (file->writing_handles == 0) batch.push_back(std::move(file));
        }
        lock.unlock();
        publish_batch(std::move(batch));
        look_at_space();
        lock.lock();
        queued_bytes_ -= bytes;
        handled_count_ += count;
        if (queue_.empty()) urgent_ = false;
        handled_.notify_all();
    }
}

void PendingFiles::publish_batch(std::vector<PendingPointer> batch) {
    std::vector<PendingPointer> files; // outlive their locks
    std::vector<std::unique_lock<std::mutex>> held;
    std::vector<Writer*> writers;
    for (PendingPointer& file : batch) {
        std::unique_lock io(file->io);
        if (!file->writer || file->removed || !file->dirty) continue;
        writers.push_back(file->writer.get());
        held.push_back(std::move(io));
        files.push_back(std::move(file));
    }
    if (writers.empty()) return;
    const std::vector<Status> answers = files_.publish(writers, Publish::visible);
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (!answers[i]) {
            lost(files[i], answers[i].error());
            continue;
        }
        files[i]->dirty = false;
        settle(files[i]);
    }
}

void PendingFiles::settle(const PendingPointer& file) {
    std::lock_guard lock(mutex_);
    if (file->writing_handles != 0) return;
    const bool read_on = file->reading_handles != 0 || file->replaces != 0;
    if (read_on) {
        if (auto opened = files_.open_read(file->writer->published(), file->parent, file->name))
            file->published = std::move(*opened);
    }
    erase_name(file);
    by_node_.erase(file->id);
    known_count_ = by_node_.size();
    file->writer.reset();
}

void PendingFiles::lost(const PendingPointer& file, const Error& error) {
    if (options_.log) options_.log("'" + file->name + "' was closed but could not be stored: " + error.describe());
    file->removed = true;
    std::lock_guard lock(mutex_);
    if (!lost_) lost_ = error;
    erase_name(file);
    if (file->writing_handles + file->reading_handles != 0) return;
    by_node_.erase(file->id);
    known_count_ = by_node_.size();
    file->writer.reset();
}

Status PendingFiles::take_lost() {
    std::lock_guard lock(mutex_);
    if (!lost_) return {};
    Error error = *lost_;
    lost_.reset();
    return error;
}

void PendingFiles::look_at_space() {
    if (files_.read_only()) return;
    if (const Expected<Space> space = files_.space()) tight_ = space->free_bytes < options_.tight_bytes;
}

} // namespace feedbench::feedfs::mount
