// Where import copies from and export copies to: a folder, or a bucket below a prefix.
//
// Thread: list() from one thread; the rest from any, different entries at the same time. Owner: the command. Paths are
// relative to the place, '/' separated. Units: bytes, ns since 1970. Errors: storage_error with the path.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "storage/feedfs/metadata/inode.hpp"

namespace feedbench::feedfs::tool {

struct OutsideEntry {
    std::string path;
    InodeType type = InodeType::file;
    std::uint64_t size_bytes = 0;
    std::uint32_t mode = 0644, uid = 0, gid = 0;
    std::int64_t mtime_ns = 0, atime_ns = 0;
    std::string symlink_target;
};

class OutsideFile {
  public:
    virtual ~OutsideFile() = default;
    virtual Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) = 0; // fewer only at the end
};

// Fills what it is given, in order, and says how much it filled; less is the end.
using NextBytes = std::function<Expected<std::size_t>(std::span<std::byte>)>;

class OutsidePlace {
  public:
    virtual ~OutsidePlace() = default;
    virtual std::string display(const std::string& path) const = 0;
    // Owner, mode, time, directories and links are kept; else sizes and contents alone.
    virtual bool keeps_attributes() const = 0;

    // Directories before what they hold. Until `each` fails or answers false. `skipped` gets a sentence about what
    // cannot be copied (sockets, devices).
    virtual Status list(const std::function<Expected<bool>(OutsideEntry)>& each,
                        const std::function<void(const std::string&)>& skipped) = 0;
    virtual Expected<std::unique_ptr<OutsideFile>> open(const OutsideEntry& entry) = 0;

    // Is there already, as an export before this one left it.
    virtual Expected<bool> has(const OutsideEntry& entry) = 0;
    // Whole and with its attributes, or not at all.
    virtual Status write(const OutsideEntry& entry, const NextBytes& next) = 0;
    virtual Status make_directory(const OutsideEntry& entry) = 0;   // there already is fine
    virtual Status make_symlink(const OutsideEntry& entry) = 0;     // in the place of what was there
    virtual Status finish_directory(const OutsideEntry& entry) = 0; // its attributes, when all below it is there
};

// "s3://bucket/prefix" (endpoint and credentials from the environment, as docs/s3.md says), else a folder.
Expected<std::unique_ptr<OutsidePlace>> make_outside_place(const std::string& place);
Expected<std::unique_ptr<OutsidePlace>> make_folder_place(const std::string& folder);
Expected<std::unique_ptr<OutsidePlace>> make_bucket_place(const std::string& uri);

} // namespace feedbench::feedfs::tool
