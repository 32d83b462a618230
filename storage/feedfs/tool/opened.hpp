// Opening a volume for a command, and walking through it.
//
// Thread: main thread. Owner: the command. Units: ns since 1970. Errors: those of FileSystem.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::feedfs::tool {

std::int64_t now_ns(); // wall clock
enum class Access : bool { read, write };
Expected<std::unique_ptr<FileSystem>> open_volume(const std::string& place, Access access, const std::string& purpose);

struct Walked {
    std::string path; // relative to where the walk began; "" for the beginning itself
    InodeId parent = 0;
    std::string name; // "" for the root
    Inode inode;      // attributes only
};
// Calls `each` with the entry at `path` and, where that is a directory, with all below it: directories before what they
// hold, names in byte order. Until it fails or answers false.
Status walk(FileSystem& files, const std::string& path, const std::function<Expected<bool>(const Walked&)>& each);

} // namespace feedbench::feedfs::tool
