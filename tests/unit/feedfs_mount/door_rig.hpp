// A volume and the Door of a mount of it, called as the kernel would.
#pragma once

#include <fcntl.h>

#include <catch2/catch.hpp>

#include "storage/feedfs/mount/open_directory.hpp"
#include "tests/unit/feedfs/volume_rig.hpp"

namespace feedbench::test {

using namespace feedbench::feedfs::mount;

struct DoorRig : VolumeRig {
    std::unique_ptr<Door> door;
    DoorRig() { reopen(); }
    ~DoorRig() { door.reset(); }
    void reopen(CommitOptions commits = {}, OpenOptions how = {}) {
        door.reset();
        open(std::move(how));
        DoorOptions options;
        options.commits = commits;
        options.commits.tight_bytes = 0;
        options.now_ns = [] { return 1'000'000'000LL; };
        door = std::make_unique<Door>(*fs, options);
    }
    // As the kernel does it: create, write, close.
    std::unique_ptr<OpenFile> begin(const std::string& name) {
        auto file = door->create(kRootInode, name, {.mode = 0644}, false);
        REQUIRE(file);
        door->nodes.remember((*file)->id, kRootInode, name);
        return door->open_pending(*file, (*file)->id, true);
    }
    InodeId put(const std::string& name, const std::string& content) {
        auto handle = begin(name);
        REQUIRE(door->write(*handle, 0, std::as_bytes(std::span(content))));
        REQUIRE(door->closing(*handle));
        door->close(*handle);
        return handle->node;
    }
    std::string get(OpenFile& handle) {
        std::string content(100'000, '\0');
        const auto got = door->read(handle, 0, std::as_writable_bytes(std::span(content)));
        REQUIRE(got);
        content.resize(*got);
        return content;
    }
    std::string get(const std::string& name) {
        const auto inode = door->find(kRootInode, name);
        if (!inode) return "errno " + std::to_string(inode.error().errno_value);
        door->nodes.remember(inode->id, kRootInode, name);
        auto handle = door->open(inode->id, O_RDONLY);
        REQUIRE(handle);
        std::string content = get(**handle);
        door->close(**handle);
        return content;
    }
    // What everybody else sees.
    std::string published(const std::string& name) {
        const auto file = fs->open_read(kRootInode, name);
        if (!file) return "errno " + std::to_string(file.error().errno_value);
        std::string content((*file)->inode().size_bytes, '\0');
        REQUIRE((*file)->read(0, std::as_writable_bytes(std::span(content))));
        return content;
    }
    std::vector<std::string> names() {
        OpenDirectory directory(*door, kRootInode);
        std::vector<std::string> all;
        for (std::uint64_t i = 0;; ++i) {
            const auto entry = directory.entry(i);
            REQUIRE(entry);
            if (!*entry) return all;
            all.push_back((*entry)->name);
        }
    }
};

} // namespace feedbench::test
