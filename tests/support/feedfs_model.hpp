// What a volume should hold: paths, attributes and contents, as plain values; and the same read back from a volume.
//
// Thread: one. Owner: the test; contents are shared between states. Units: bytes.
// Errors: those of the FileSystem. Source: issue 7.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::test {

struct ModelEntry {
    feedfs::InodeType type = feedfs::InodeType::file;
    std::uint32_t mode = 0644;
    std::shared_ptr<const std::string> content = std::make_shared<const std::string>(); // of a link: where it leads
    bool operator==(const ModelEntry& other) const {
        return type == other.type && mode == other.mode && *content == *other.content;
    }
};
using Model = std::map<std::string, ModelEntry>; // by path, without a '/' in front; the root is not in it

inline std::string parent_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}
inline std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The first difference in words; empty: none.
inline std::string difference(const Model& found, const Model& expected) {
    for (const auto& [path, entry] : expected) {
        const auto other = found.find(path);
        if (other == found.end()) return path + " is missing";
        if (!(other->second == entry))
            return path + " differs: " + std::to_string(other->second.content->size()) + " bytes found, " +
                   std::to_string(entry.content->size()) + " expected";
    }
    for (const auto& [path, entry] : found)
        if (!expected.contains(path)) return path + " should not be there";
    return {};
}

inline Expected<std::string> content_of(feedfs::ReadFile& file) {
    const std::uint64_t size = file.inode().size_bytes;
    std::string content(size, '\0');
    const auto read = file.read(0, std::as_writable_bytes(std::span(content)));
    if (!read) return read.error();
    if (*read != size)
        return internal_error("read " + std::to_string(*read) + " of " + std::to_string(size) + " bytes");
    return content;
}

// Everything below `directory` into `model`, every byte of it read.
inline Status read_volume(feedfs::FileSystem& volume, Model& model, feedfs::InodeId directory = feedfs::kRootInode,
                          const std::string& path = {}) {
    std::vector<feedfs::DirectoryEntry> entries;
    if (Status ok = volume.read_directory(directory, {}, 100'000, entries); !ok) return ok;
    for (const feedfs::DirectoryEntry& entry : entries) {
        const std::string below = path.empty() ? entry.name : path + "/" + entry.name;
        ModelEntry& made = model[below];
        made.type = entry.inode.type;
        made.mode = entry.inode.mode;
        if (made.type == feedfs::InodeType::directory) {
            if (Status ok = read_volume(volume, model, entry.inode.id, below); !ok) return ok;
        } else if (made.type == feedfs::InodeType::symlink) {
            const auto inode = volume.lookup(directory, entry.name);
            if (!inode) return inode.error();
            made.content = std::make_shared<const std::string>(inode->symlink_target);
        } else {
            const auto file = volume.open_read(directory, entry.name);
            if (!file) return file.error();
            auto content = content_of(**file);
            if (!content) return content.error();
            made.content = std::make_shared<const std::string>(std::move(*content));
        }
    }
    return {};
}

} // namespace feedbench::test
