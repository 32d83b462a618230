#include "storage/feedfs/writer.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "storage/feedfs/extent_reader.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::uint64_t kRowRecordBytes = 1 << 20;
}

FileWriter::FileWriter(const FileContext& context, InodeId inode, InodeId parent, std::string name,
                       const WriteOptions& options)
    : context_(context), parent_(parent), name_(std::move(name)), exclusive_(options.exclusive),
      size_hint_(options.size_hint) {
    attributes_.type = InodeType::file;
    attributes_.id = inode;
    attributes_.mode = options.entry.mode & 07777;
    attributes_.uid = options.entry.uid;
    attributes_.gid = options.entry.gid;
    attributes_.mtime_ns = attributes_.ctime_ns = attributes_.atime_ns = named_ns_ = context_.now_ns();
}

Error FileWriter::refused(int error, const char* operation, std::string message) const {
    return storage_error(operation, name_, error, std::move(message));
}

std::uint64_t FileWriter::payload_of(std::uint64_t chunk) const {
    const std::uint64_t begin = chunk * chunk_bytes();
    return size() > begin ? std::min(size() - begin, chunk_bytes()) : 0;
}

// Room for a record of this payload; what is defined moves along.
void FileWriter::grow(std::uint64_t index, Chunk& chunk, std::uint64_t payload) {
    if (record_bytes(payload) <= chunk.buffer.size()) return;
    const std::uint64_t begin = index * chunk_bytes();
    const std::uint64_t hinted = size_hint_ > begin ? std::min(size_hint_ - begin, chunk_bytes()) : 0;
    std::uint64_t most = std::max(hinted, payload);
    if (chunk.buffer) most = std::max(most, std::min<std::uint64_t>(chunk.buffer.size() * 2, chunk_bytes()));
    // What is planned to be small will be stored soon, together with others.
    const bool in_row = !chunk.buffer && hinted == most && record_bytes(most) <= kRowRecordBytes;
    BlockBuffer larger =
        in_row ? context_.memory->take_in_row(record_bytes(most)) : context_.memory->take(record_bytes(most));
    if (chunk.defined > 0) std::memcpy(larger.data(), chunk.buffer.data(), chunk.defined);
    chunk.buffer = std::move(larger);
}

Expected<FileWriter::Chunk*> FileWriter::chunk_for_writing(std::uint64_t index, std::uint64_t to) {
    Chunk* chunk = chunks_.find(index);
    if (!chunk) {
        if (stored_.contains(index))
            return refused(EOPNOTSUPP, "write",
                           "feedfs files are written once: this part lies in a segment already, at byte " +
                               std::to_string(index * chunk_bytes()));
        if (chunks_.size() >= kChunksMost)
            if (auto status = store_now(chunks_.lowest()); !status) return status.error();
        chunk = &chunks_.make(index);
    }
    grow(index, *chunk, to);
    return chunk;
}

Status FileWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    if (offset + bytes.size() < offset || offset + bytes.size() > (1ULL << 62))
        return refused(EFBIG, "write", "no file is that large");
    while (!bytes.empty()) {
        const std::uint64_t index = offset / chunk_bytes(), from = offset % chunk_bytes();
        const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), chunk_bytes() - from);
        auto chunk = chunk_for_writing(index, from + count);
        if (!chunk) return chunk.error();
        Chunk& c = **chunk;
        c.copy_in(from, bytes.first(count));
        attributes_.size_bytes = std::max(size(), offset + count);
        offset += count;
        bytes = bytes.subspan(count);
        if (c.is_whole(chunk_bytes())) {
            if (auto status = store_now(index); !status) return status;
        } else if (size() == size_hint_)
            c.finish_crcs(); // nothing more is planned
    }
    if (!times_are_given_) attributes_.mtime_ns = attributes_.ctime_ns = context_.now_ns();
    return {};
}

PendingRecord FileWriter::pending(std::uint64_t index, Chunk& chunk) {
    const std::uint64_t payload = payload_of(index);
    grow(index, chunk, payload);
    assert(chunk.defined <= payload);
    if (payload > chunk.defined) std::memset(chunk.buffer.data() + chunk.defined, 0, payload - chunk.defined);
    chunk.defined = payload;
    chunk.finish_crcs();
    Stored& stored = stored_.make(index);
    stored.crcs = chunk.crcs;
    stored.extent = {};
    stored.extent.payload_bytes = static_cast<std::uint32_t>(payload);
    PendingRecord record;
    record.writer = this;
    record.chunk = index;
    record.record = {chunk.buffer.data(), record_bytes(payload)};
    record.footer.volume_id = context_.volume_id;
    record.footer.inode = inode();
    record.footer.file_offset = index * chunk_bytes();
    record.footer.payload_bytes = static_cast<std::uint32_t>(payload);
    record.footer.payload_crc = crc_of_crcs(stored.crcs);
    return record;
}

bool FileWriter::stored(std::uint64_t chunk, std::uint64_t segment, std::uint64_t offset) {
    Stored& stored = stored_.make(chunk);
    stored.extent.segment = segment;
    stored.extent.offset = offset;
    if (Chunk* const in_memory = chunks_.find(chunk)) in_memory->is_changed = false;
    if (std::ranges::find(held_, segment) != held_.end()) return false;
    held_.push_back(segment);
    return true;
}

Status FileWriter::store_now(std::uint64_t index) {
    assert(payload_of(index) == chunk_bytes()); // something behind it was written, or all of it
    PendingRecord record = pending(index, *chunks_.find(index));
    auto status = store_records(context_, {&record, 1});
    if (!status) {
        stored_.erase(index);
        return status;
    }
    chunks_.erase(index);
    return {};
}

Status FileWriter::load(std::uint64_t index) {
    const Stored& stored = *stored_.find(index);
    auto file = context_.store->open(stored.extent.segment);
    if (!file) return file.error();
    Chunk chunk;
    grow(index, chunk, stored.extent.payload_bytes);
    const std::span<std::byte> into(chunk.buffer.data(), stored.extent.payload_bytes);
    if (auto status =
            read_extent(**file, {&stored.extent, stored.crcs.data(), 0, into, chunk.buffer.size()}, *context_.memory);
        !status)
        return status;
    chunk.defined = chunk.front = into.size();
    chunks_.make(index) = std::move(chunk);
    stored_.erase(index);
    return {};
}

Expected<std::uint64_t> FileWriter::read(std::uint64_t offset, std::span<std::byte> into) {
    std::uint64_t done = 0;
    while (done < into.size() && offset + done < size()) {
        const std::uint64_t at = offset + done, index = at / chunk_bytes(), from = at % chunk_bytes();
        const std::uint64_t count = std::min({into.size() - done, chunk_bytes() - from, size() - at});
        const std::span<std::byte> to = into.subspan(done, count);
        if (const Chunk* const chunk = chunks_.find(index)) {
            const std::uint64_t known = chunk->defined > from ? std::min(count, chunk->defined - from) : 0;
            if (known > 0) std::memcpy(to.data(), chunk->buffer.data() + from, known);
            std::memset(to.data() + known, 0, count - known);
        } else if (const Stored* const stored = stored_.find(index)) {
            auto file = context_.store->open(stored->extent.segment);
            if (!file) return file.error();
            if (auto status =
                    read_extent(**file, {&stored->extent, stored->crcs.data(), from, to, count}, *context_.memory);
                !status)
                return status.error();
        } else
            std::memset(to.data(), 0, count);
        done += count;
    }
    return done;
}

Status FileWriter::truncate(std::uint64_t bytes) {
    if (bytes > (1ULL << 62)) return refused(EFBIG, "truncate", "no file is that large");
    const std::uint64_t index = bytes / chunk_bytes(), within = bytes % chunk_bytes();
    if (bytes < size()) {
        if (within > 0 && stored_.contains(index) && !chunks_.contains(index))
            if (auto status = load(index); !status) return status;
        const std::uint64_t first_gone = index + (within > 0 ? 1 : 0);
        chunks_.erase_from(first_gone);
        stored_.erase_from(first_gone);
        if (Chunk* const chunk = chunks_.find(index); chunk && within > 0) chunk->cut(within);
    } else if (bytes > size()) { // the last chunk gets longer
        const std::uint64_t last = size() / chunk_bytes();
        if (Chunk* const chunk = chunks_.find(last)) chunk->is_changed = true;
    }
    attributes_.size_bytes = bytes;
    if (!times_are_given_) attributes_.mtime_ns = attributes_.ctime_ns = context_.now_ns();
    return {};
}

void FileWriter::set_destination(InodeId parent, std::string name, bool exclusive) {
    parent_ = parent;
    name_ = std::move(name);
    exclusive_ = exclusive;
    named_ns_ = context_.now_ns();
    was_renamed_ = true;
}

void FileWriter::set_attributes(const AttributeChange& change) {
    if (change.mode) attributes_.mode = *change.mode & 07777;
    if (change.uid) attributes_.uid = *change.uid;
    if (change.gid) attributes_.gid = *change.gid;
    if (change.atime_ns) attributes_.atime_ns = *change.atime_ns;
    if (change.mtime_ns) {
        attributes_.mtime_ns = *change.mtime_ns;
        times_are_given_ = true;
    }
    attributes_.ctime_ns = context_.now_ns();
}

Status FileWriter::prepare(std::vector<PendingRecord>& records) {
    const std::uint64_t count = (size() + chunk_bytes() - 1) / chunk_bytes();
    for (std::uint64_t index = 0; index < count; ++index) {
        Chunk* const chunk = chunks_.find(index);
        const Stored* const stored = stored_.find(index);
        const bool is_lost = stored && context_.segments->is_failed(stored->extent.segment);
        if (chunk) {
            if (chunk->is_changed || is_lost) records.push_back(pending(index, *chunk));
            continue;
        }
        if (is_lost)
            return refused(EIO, "write",
                           "segment " + segment_name(stored->extent.segment) +
                               " could not be brought to stable storage, and what this file had in it is gone");
        if (stored) continue;
        Chunk& gap = chunks_.make(index); // zeros
        if (payload_of(index) == chunk_bytes()) {
            if (auto status = store_now(index); !status) return status;
        } else
            records.push_back(pending(index, gap));
    }
    return {};
}

Inode FileWriter::entry() const {
    Inode inode = attributes_;
    stored_.every([&](std::uint64_t index, const Stored& stored) {
        if (payload_of(index) == 0) return false;
        inode.content.append(stored.extent, stored.crcs.data());
        return true;
    });
    inode.extent_count = inode.content.extents.size();
    return inode;
}

bool FileWriter::is_lost() const {
    return context_.segments->has_failed() && !stored_.every([&](std::uint64_t, const Stored& stored) {
        return !context_.segments->is_failed(stored.extent.segment);
    });
}

Inode FileWriter::published() const { return entry(); }

} // namespace feedbench::feedfs
