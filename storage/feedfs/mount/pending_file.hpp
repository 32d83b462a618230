// PendingFile: a file that is written through the mount and not, or not wholly, published yet.
//
// The mount shows it under its name at once; everybody else, and the volume after a crash of the mount, not before it
// was published. It keeps its Writer until nobody has it open for writing and all of it is published.
//
// Thread: any; `io` is held around every use of the members below it, and taken before PendingFiles' lock.
// Owner: PendingFiles and open handles, together. Units: bytes. Errors: those of Writer; ESTALE once it is settled.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::feedfs::mount {

struct PendingFile {
    PendingFile(std::unique_ptr<Writer> its_writer, InodeId its_parent, std::string its_name)
        : id(its_writer->inode()), parent(its_parent), name(std::move(its_name)), writer(std::move(its_writer)) {}

    const InodeId id;
    bool has_new_name = true; // else it replaces what has its name
    InodeId replaces = 0;     // the node through which it is written too (O_TRUNC of a published file); 0: none

    std::mutex io;
    InodeId parent;
    std::string name;
    std::unique_ptr<Writer> writer;      // null: settled
    std::shared_ptr<ReadFile> published; // of a settled file that is still open
    bool dirty = true;                   // something is not published
    bool closed = false;                 // by all who wrote it: written once, unless it is emptied
    bool removed = false;                // unlinked or replaced: never published again
    bool flushed = false;                // a close has come since it was last changed

    // Guarded by PendingFiles' lock.
    unsigned writing_handles = 0, reading_handles = 0;
    bool queued = false;
    std::uint64_t queued_bytes = 0;

    // ---- with io held ----
    std::uint64_t size() const;
    Inode attributes() const;
    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into);
    Status write(std::uint64_t offset, std::span<const std::byte> bytes);
    Status set_size(std::uint64_t bytes);
    bool may_be_written() const { return writer && (!closed || writer->size() == 0); }
};

} // namespace feedbench::feedfs::mount
