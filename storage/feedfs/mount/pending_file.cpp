#include "storage/feedfs/mount/pending_file.hpp"

#include <cerrno>

namespace feedbench::feedfs::mount {

std::uint64_t PendingFile::size() const {
    if (writer) return writer->size();
    return published ? published->inode().size_bytes : 0;
}

Inode PendingFile::attributes() const {
    if (writer) return writer->attributes();
    return published ? published->inode() : Inode{};
}

Expected<std::uint64_t> PendingFile::read(std::uint64_t offset, std::span<std::byte> into) {
    if (writer) return writer->read(offset, into);
    if (published) return published->read(offset, into);
    return storage_error("read", name, ESTALE);
}

Status PendingFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (!may_be_written())
        return storage_error("write", name, EOPNOTSUPP, "a feedfs file that was closed cannot be changed",
                             static_cast<std::int64_t>(offset));
    if (bytes.empty()) return {};
    dirty = true;
    closed = flushed = false;
    return writer->write(offset, bytes);
}

Status PendingFile::set_size(std::uint64_t bytes) {
    if (writer && bytes == writer->size()) return {};
    if (!writer || (bytes != 0 && !may_be_written()))
        return storage_error("truncate", name, EOPNOTSUPP,
                             "a feedfs file that was closed keeps its size, or becomes empty");
    dirty = true;
    flushed = false;
    if (bytes != 0) closed = false;
    return writer->truncate(bytes);
}

} // namespace feedbench::feedfs::mount
