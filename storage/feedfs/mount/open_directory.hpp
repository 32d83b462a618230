// OpenDirectory: a listing that a program goes through, page by page, with the mount's unpublished files among the
// rest.
//
// Positions ("cookies") count entries: 1 is behind ".", 2 behind "..", 3 behind the first name. A listing goes forwards
// without ever holding more than a page; a jump back begins again from the start.
//
// Thread: one at a time (its lock). Owner: the request that opened it, until released. Units: entries.
// Errors: those of FileSystem::read_directory.
#pragma once

#include <mutex>
#include <vector>

#include "storage/feedfs/mount/door.hpp"

namespace feedbench::feedfs::mount {

class OpenDirectory {
  public:
    OpenDirectory(Door& door, InodeId id) : door_(door), id_(id) {}
    std::mutex mutex;
    InodeId id() const { return id_; }
    // The entry whose number is `index` (0 = first name), or nullptr at the end. Valid until the next call.
    Expected<const DirectoryEntry*> entry(std::uint64_t index);
    // Once more from the start, as rewinddir asks.
    void restart();

  private:
    Status next_page();

    static constexpr std::size_t kPageEntries = 1024;
    Door& door_;
    const InodeId id_;
    std::vector<DirectoryEntry> page_, published_, pending_;
    std::uint64_t first_ = 0; // number of page_'s first entry
    std::string after_;
    bool complete_ = false; // nothing behind page_
};

} // namespace feedbench::feedfs::mount
