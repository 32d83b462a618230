// A volume in a folder of its own, gone at the end of the scope.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::test {

using namespace feedbench::feedfs;

// Chunks of 64 KiB, so that small tests have large files.
inline VolumeConfig small_volume(std::uint32_t targets = 2) {
    VolumeConfig config;
    config.chunk_bytes = 64 << 10;
    config.segment_bytes = 512 << 10;
    for (std::uint32_t id = 1; id <= targets; ++id)
        config.targets.push_back({.id = id, .place = "data" + std::to_string(id), .tier = Tier::fast});
    return config;
}

struct VolumeRig {
    std::string folder;
    std::unique_ptr<FileSystem> fs;

    explicit VolumeRig(VolumeConfig config = small_volume(), const std::string& parent = "/tmp") {
        std::string pattern = parent + "/feedfs_test_XXXXXX";
        REQUIRE(::mkdtemp(pattern.data()));
        folder = pattern;
        auto made = FileSystem::make(folder + "/volume", std::move(config));
        if (!made) FAIL(made.error().describe());
        open();
    }
    ~VolumeRig() {
        fs.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    VolumeRig(const VolumeRig&) = delete;
    VolumeRig& operator=(const VolumeRig&) = delete;

    std::unique_ptr<FileSystem> open_another(OpenOptions options = {}) {
        auto opened = FileSystem::open(folder + "/volume", std::move(options));
        if (!opened) FAIL(opened.error().describe());
        return std::move(*opened);
    }
    void open(OpenOptions options = {}) {
        fs.reset();
        fs = open_another(std::move(options));
    }

    static std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed = 1) {
        std::vector<std::byte> content(bytes);
        std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
        for (auto& byte : content) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            byte = static_cast<std::byte>(state >> 56);
        }
        return content;
    }
    std::unique_ptr<Writer> create(const std::string& name, WriteOptions options = {}, InodeId parent = kRootInode) {
        auto writer = fs->create(parent, name, options);
        if (!writer) FAIL(writer.error().describe());
        return std::move(*writer);
    }
    void write(const std::string& name, const std::vector<std::byte>& content, InodeId parent = kRootInode) {
        auto writer = create(name, {.size_hint = content.size()}, parent);
        require(writer->append(content));
        require(fs->publish(*writer, Publish::visible));
    }
    std::vector<std::byte> read(const std::string& path, FileSystem* from = nullptr) {
        auto file = (from ? *from : *fs).open_read(path);
        if (!file) FAIL(file.error().describe());
        std::vector<std::byte> content((*file)->inode().size_bytes + 100);
        auto got = (*file)->read(0, content);
        if (!got) FAIL(got.error().describe());
        content.resize(*got);
        return content;
    }
    static void require(const Status& status) {
        if (!status) FAIL(status.error().describe());
    }
    int error_of(const Status& status) { return status ? 0 : status.error().errno_value; }
    template <class T>
    int error_of(const Expected<T>& value) {
        return value ? 0 : value.error().errno_value;
    }
    std::vector<std::string> names(InodeId directory = kRootInode) {
        std::vector<DirectoryEntry> entries;
        require(fs->read_directory(directory, "", 1000, entries));
        std::vector<std::string> found;
        for (const auto& entry : entries) found.push_back(entry.name);
        return found;
    }
};

} // namespace feedbench::test
