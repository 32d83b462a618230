// A storage backend in memory for tests: every operation is done at once, nothing half-written is visible.
//
// Thread: one. Owner: the test. Units: bytes. Errors: as a filesystem would answer (ENOENT, ENOTDIR, EISDIR, EEXIST
// not: create replaces); fail_next() makes the next operation of a kind fail. Files and folders are plain members: look
// and change at will.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "storage/backend.hpp"

namespace feedbench::test {

class MemoryBackend : public storage::Backend {
  public:
    std::map<std::string, std::string> files; // path -> content
    std::set<std::string> folders = {""};     // besides those that files imply; without "" an empty root is not there
    std::map<engine::IoKind, int> fail_next;  // kind -> errno, once
    std::uint64_t operation_count = 0, stat_count = 0, list_count = 0;

    MemoryBackend() {
        capabilities_.name = "memory";
        capabilities_.async = false;
        capabilities_.virtual_time = true;
    }
    storage::Capabilities& mutable_capabilities() { return capabilities_; }
    const storage::Capabilities& capabilities() const override { return capabilities_; }
    std::string display_path(const std::string& path) const override { return "memory:/" + path; }

    engine::Submit submit(engine::IoOp& op) override {
        ++operation_count;
        if (const auto failure = fail_next.find(op.kind); failure != fail_next.end()) {
            op.result = -failure->second;
            fail_next.erase(failure);
        } else {
            op.result = perform(op);
        }
        return engine::Submit::done;
    }

    Expected<storage::FileStat> stat(const std::string& path) override {
        ++stat_count;
        if (const auto file = files.find(path); file != files.end())
            return storage::FileStat{.size_bytes = file->second.size(), .is_directory = false};
        if (is_folder(path)) return storage::FileStat{.size_bytes = 0, .is_directory = true};
        return storage_error("stat", display_path(path), ENOENT);
    }
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override {
        ++list_count;
        if (!is_folder(path)) return storage_error("list", display_path(path), files.count(path) ? ENOTDIR : ENOENT);
        const std::string prefix = path.empty() ? "" : path + "/";
        std::map<std::string, bool> entries;
        const auto add = [&](const std::string& full, bool is_directory) {
            if (full.size() <= prefix.size() || full.compare(0, prefix.size(), prefix) != 0) return;
            const std::size_t slash = full.find('/', prefix.size());
            const std::string name = full.substr(prefix.size(), slash - prefix.size());
            entries[name] = entries[name] || is_directory || slash != std::string::npos;
        };
        for (const auto& [name, content] : files) add(name, false);
        for (const auto& name : folders) add(name, true);
        for (const auto& [name, is_directory] : entries)
            if (!each(name, is_directory)) return {};
        return {};
    }
    Status make_directories(const std::string& path) override {
        if (files.count(path)) return storage_error("mkdir", display_path(path), ENOTDIR);
        folders.insert("");
        for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
            folders.insert(path.substr(0, slash));
        folders.insert(path);
        return {};
    }
    Status remove(const std::string& path) override {
        if (files.erase(path) || folders.erase(path)) return {};
        return storage_error("remove", display_path(path), ENOENT);
    }
    Status write_file(const std::string& path, std::span<const std::byte> content) override {
        if (is_folder(path)) return storage_error("write", display_path(path), EISDIR);
        files[path].assign(reinterpret_cast<const char*>(content.data()), content.size());
        return {};
    }
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override {
        const auto file = files.find(path);
        if (file == files.end()) return storage_error("open", display_path(path), is_folder(path) ? EISDIR : ENOENT);
        if (file->second.size() > limit_bytes) return storage_error("read", display_path(path), EFBIG);
        return file->second;
    }

  private:
    struct MemoryFile : engine::File {
        std::string path, content; // content: of a file being created
        bool is_new = false;
    };

    bool is_folder(const std::string& path) const {
        if (folders.count(path)) return true;
        const std::string prefix = path.empty() ? "" : path + "/";
        const auto file = files.lower_bound(prefix);
        const auto folder = folders.lower_bound(prefix);
        return (file != files.end() && file->first.compare(0, prefix.size(), prefix) == 0) ||
               (folder != folders.end() && !folder->empty() && folder->compare(0, prefix.size(), prefix) == 0);
    }

    std::int64_t perform(engine::IoOp& op) {
        auto* file = static_cast<MemoryFile*>(op.file);
        switch (op.kind) {
        case engine::IoKind::open:
        case engine::IoKind::create: {
            const std::string path(op.path);
            const bool is_new = op.kind == engine::IoKind::create;
            if (is_folder(path)) return -EISDIR;
            if (!is_new && !files.count(path)) return -ENOENT;
            const std::size_t slash = path.rfind('/');
            if (is_new && !is_folder(slash == std::string::npos ? "" : path.substr(0, slash))) return -ENOENT;
            auto opened = std::make_unique<MemoryFile>();
            opened->path = path;
            opened->is_new = is_new;
            opened->alignment_bytes = capabilities_.alignment_bytes;
            if (!is_new) opened->size_bytes = files[path].size();
            op.opened = std::move(opened);
            return 0;
        }
        case engine::IoKind::read: {
            if (!aligned(op)) return -EINVAL;
            const std::string& content = file->is_new ? file->content : files[file->path];
            if (op.offset >= content.size()) return 0;
            const std::uint64_t bytes = std::min<std::uint64_t>(op.bytes, content.size() - op.offset);
            std::memcpy(op.data, content.data() + op.offset, bytes);
            return static_cast<std::int64_t>(bytes);
        }
        case engine::IoKind::write:
            if (!file->is_new) return -EBADF;
            if (!aligned(op)) return -EINVAL;
            file->content.resize(std::max<std::size_t>(file->content.size(), op.offset + op.bytes));
            std::memcpy(file->content.data() + op.offset, op.data, op.bytes);
            file->size_bytes = file->content.size();
            return static_cast<std::int64_t>(op.bytes);
        case engine::IoKind::commit:
            if (!file->is_new || op.size_hint > file->content.size()) return -EINVAL;
            file->content.resize(op.size_hint);
            files[file->path] = file->content;
            file->is_new = false;
            return 0;
        case engine::IoKind::flush:
        case engine::IoKind::close:
            return 0;
        }
        return -EINVAL;
    }
    bool aligned(const engine::IoOp& op) const {
        const std::uint64_t unit = capabilities_.alignment_bytes;
        return op.offset % unit == 0 && op.bytes % unit == 0 && reinterpret_cast<std::uintptr_t>(op.data) % unit == 0;
    }

    storage::Capabilities capabilities_;
};

} // namespace feedbench::test
