// Operations on open directories.
#include <sys/stat.h>

#include <cerrno>

#include "storage/feedfs/mount/open_directory.hpp"
#include "storage/feedfs/mount/reply.hpp"

namespace feedbench::feedfs::mount {

namespace {

OpenDirectory& directory_of(const fuse_file_info& info) { return *reinterpret_cast<OpenDirectory*>(info.fh); }

void open_directory(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    auto directory = std::make_unique<OpenDirectory>(door_of(request), node);
    info->fh = reinterpret_cast<std::uint64_t>(directory.get());
    if (fuse_reply_open(request, info) == 0) directory.release(); // until release_directory
}

void release_directory(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    delete &directory_of(*info);
    fuse_reply_err(request, 0);
}

// Entries into a reply of at most `size` bytes. With attributes (plus) the kernel knows of each entry once more.
class Listing {
  public:
    Listing(fuse_req_t request, std::size_t size, bool plus) : request_(request), buffer_(size), plus_(plus) {}

    // False: it does not fit any more.
    bool add(const char* name, const fuse_entry_param& entry, off_t next) {
        const std::size_t room = buffer_.size() - used_;
        const std::size_t bytes =
            plus_ ? fuse_add_direntry_plus(request_, buffer_.data() + used_, room, name, &entry, next)
                  : fuse_add_direntry(request_, buffer_.data() + used_, room, name, &entry.attr, next);
        if (bytes > room) return false;
        used_ += bytes;
        return true;
    }
    bool empty() const { return used_ == 0; }
    void send() { fuse_reply_buf(request_, buffer_.data(), used_); }

  private:
    fuse_req_t request_;
    std::vector<char> buffer_;
    std::size_t used_ = 0;
    bool plus_;
};

// What fits, from `offset` on.
Status fill(Listing& listing, Door& door, OpenDirectory& directory, fuse_ino_t node, off_t offset, bool plus) {
    std::lock_guard lock(directory.mutex);
    if (offset == 0) directory.restart();
    for (auto at = static_cast<std::uint64_t>(offset);; ++at) {
        const auto next = static_cast<off_t>(at + 1);
        if (at < 2) {
            fuse_entry_param self{};
            self.attr.st_ino = node; // of "..": the kernel knows better
            self.attr.st_mode = S_IFDIR;
            if (!listing.add(at == 0 ? "." : "..", self, next)) return {};
            continue;
        }
        const Expected<const DirectoryEntry*> entry = directory.entry(at - 2);
        if (!entry) return listing.empty() ? Status(entry.error()) : Status(); // the next call says what is wrong
        if (!*entry) return {};
        const DirectoryEntry& one = **entry;
        Inode shown = one.inode; // attributes only
        door.add_own_names(shown);
        fuse_entry_param told = entry_of(shown, door.options);
        const bool is_pending = door.pending.by_node(one.inode.id) != nullptr;
        if (is_pending) told.attr_timeout = 0;
        if (!listing.add(one.name.c_str(), told, next)) return {};
        if (plus) door.nodes.remember(one.inode.id, node, one.name);
        if (plus && !is_pending) door.nodes.keep(one.inode);
    }
}

void list(fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset, fuse_file_info* info, bool plus) {
    Listing listing(request, size, plus);
    const Status filled = fill(listing, door_of(request), directory_of(*info), node, offset, plus);
    // With the answer the directory may be closed, and gone: nothing of it is held any more.
    if (!filled) return reply_error(request, filled.error());
    listing.send();
}

void read_directory(fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset, fuse_file_info* info) {
    list(request, node, size, offset, info, false);
}

void read_directory_plus(fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset, fuse_file_info* info) {
    list(request, node, size, offset, info, true);
}

void sync_directory(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
    reply_status(request, door_of(request).pending.sync());
}

} // namespace

void set_directory_operations(fuse_lowlevel_ops& table) {
    table.opendir = open_directory;
    table.readdir = read_directory;
    table.readdirplus = read_directory_plus;
    table.releasedir = release_directory;
    table.fsyncdir = sync_directory;
}

} // namespace feedbench::feedfs::mount
