// Answers to the kernel: the library's values in libfuse's structures.
//
// Thread: any. Owner: none. Units: bytes, seconds. Errors: an Error becomes its errno, or EIO where it has none.
#pragma once

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

#include "storage/feedfs/mount/door.hpp"

namespace feedbench::feedfs::mount {

// Programs that ask for a good size of reads and writes (cp, cat) get that of one request.
inline constexpr std::uint32_t kPreferredBytes = 1u << 20;

struct stat stat_of(const Inode& inode, bool removed = false);
fuse_entry_param entry_of(const Inode& inode, const DoorOptions& options);
int errno_of(const Error& error);
// Replies with 0 or the errno.
void reply_status(fuse_req_t request, const Status& status);
void reply_error(fuse_req_t request, const Error& error);
// Replies with the entry, of which the kernel now knows once more.
void reply_entry(fuse_req_t request, Door& door, Inode inode, InodeId parent, const std::string& name);

inline Door& door_of(fuse_req_t request) { return *static_cast<Door*>(fuse_req_userdata(request)); }
inline OpenFile& file_of(const fuse_file_info& info) { return *reinterpret_cast<OpenFile*>(info.fh); }

// The parts of the operations table, one file each.
void set_name_operations(fuse_lowlevel_ops& table);
void set_attribute_operations(fuse_lowlevel_ops& table);
void set_directory_operations(fuse_lowlevel_ops& table);
void set_file_operations(fuse_lowlevel_ops& table);

} // namespace feedbench::feedfs::mount
