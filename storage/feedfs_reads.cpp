#include <algorithm>
#include <cassert>
#include <cerrno>

#include "storage/feedfs/extent_reader.hpp"
#include "storage/feedfs_files.hpp"

namespace feedbench::storage {

using engine::IoOp;
using engine::Submit;

namespace {
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
} // namespace

FeedfsReadFile::FeedfsReadFile(FeedfsUnused& unused) : unused_(unused) {
    if (unused_.empty())
        opened = std::make_unique<FeedfsOpened>();
    else {
        opened = std::move(unused_.back());
        unused_.pop_back();
    }
}

FeedfsReadFile::~FeedfsReadFile() {
    constexpr std::size_t kUnusedMost = 256;
    if (unused_.size() >= kUnusedMost || opened->begins.size() > 1) return; // of large files there are few
    opened->files.clear();                                                  // a segment that is gone is not kept
    opened->blocking.reset();
    unused_.push_back(std::move(opened));
}

std::size_t FeedfsOpened::extent_at(std::uint64_t offset) const {
    return begins.empty() ? 0 : static_cast<std::size_t>(std::ranges::upper_bound(begins, offset) - begins.begin()) - 1;
}

// One operation of the caller.
struct FeedfsReads::Read {
    FeedfsReads* reads = nullptr;
    IoOp* op = nullptr;
    FeedfsOpened* file = nullptr;
    std::uint64_t next = 0, end = 0; // of the file: what is still to be queued
    std::uint32_t outstanding = 0;
    std::int64_t error = 0;
    std::uint64_t landed_ns = 0;
    Read* next_unused = nullptr;
};

// What of it lies in one extent.
struct FeedfsReads::Part {
    IoOp op;
    Read* read = nullptr;
    int fd = -1;
    std::uint64_t payload = 0, received = 0;
    Part* next_unused = nullptr;
};

// A read by the library, which copies where it must.
struct FeedfsReads::Blocking final : engine::Job {
    FeedfsReads* reads = nullptr;
    IoOp* op = nullptr;
    Blocking* next_unused = nullptr;

    void run() override {
        auto& file = *static_cast<FeedfsReadFile&>(*op->file).opened;
        {
            const std::lock_guard lock(file.blocking_mutex);
            if (!file.blocking) {
                auto opened = reads->filesystem_.open_read(file.inode, file.parent, file.name);
                if (!opened) return failed(opened.error());
                file.blocking = std::move(*opened);
            }
        }
        auto got = file.blocking->read(op->offset, {op->data, op->bytes});
        if (!got) return failed(got.error());
        op->result = static_cast<std::int64_t>(*got);
    }
    void failed(const Error& error) {
        op->result = -(error.errno_value != 0 ? error.errno_value : EIO);
        op->message = error.message;
    }
    void finished() override {
        IoOp& done = *op;
        next_unused = std::exchange(reads->unused_blockings_, this);
        done.sink->completed(done);
    }
};

FeedfsReads::FeedfsReads(feedfs::FileSystem& filesystem, engine::Reactor& reactor, FeedfsSettings settings)
    : filesystem_(filesystem), reactor_(reactor), settings_(settings),
      has_object_tier_(std::ranges::any_of(filesystem.volume().targets, [](const feedfs::TargetConfig& target) {
          return target.tier == feedfs::Tier::object;
      })) {
    reactor_.add_source(*this);
}
FeedfsReads::~FeedfsReads() { reactor_.remove_source(*this); }

// Allocates only until there are as many as were ever in flight.
template <class T>
T& FeedfsReads::take(T*& unused, std::vector<std::unique_ptr<T>>& all) {
    if (!unused) {
        all.push_back(std::make_unique<T>());
        unused = all.back().get();
    }
    T& taken = *unused;
    unused = std::exchange(taken.next_unused, nullptr);
    return taken;
}

Submit FeedfsReads::read_blocking(IoOp& op) {
    Blocking& job = take(unused_blockings_, blockings_);
    job.reads = this;
    job.op = &op;
    reactor_.thread_pool(settings_.threads).submit(job);
    return Submit::pending;
}

// Every extent of the range has a descriptor, and direct reads of it end on a block or with the file.
bool FeedfsReads::can_use_ring(FeedfsOpened& file, std::uint64_t from, std::uint64_t to) {
    const auto& extents = file.inode.content.extents;
    for (std::size_t i = file.extent_at(from); i < extents.size() && file.begin_of(i) < to; ++i) {
        const std::uint64_t end = file.begin_of(i) + extents[i].payload_bytes;
        if (settings_.direct && (file.begin_of(i) % feedfs::kBlockBytes != 0 ||
                                 (end < file.inode.size_bytes && end % feedfs::kBlockBytes != 0)))
            return false;
        if (!file.files[i]) {
            if (i > 0 && file.files[i - 1] && extents[i - 1].segment == extents[i].segment)
                file.files[i] = file.files[i - 1];
            else {
                auto opened = filesystem_.segments().open(extents[i].segment);
                if (!opened) return false; // the library looks again, or says what is wrong
                file.files[i] = std::move(*opened);
            }
        }
        if (file.files[i]->descriptor(settings_.direct) < 0) return false;
    }
    return true;
}

Submit FeedfsReads::submit(IoOp& op) {
    auto& file = *static_cast<FeedfsReadFile&>(*op.file).opened;
    const std::uint64_t unit = op.file->alignment_bytes;
    if ((op.offset | op.bytes | reinterpret_cast<std::uintptr_t>(op.data)) % unit != 0) {
        op.result = -EINVAL;
        op.message = "offset, length and memory of direct I/O must be multiples of " + std::to_string(unit) +
                     " (length " + std::to_string(op.bytes) + ")";
        return Submit::done;
    }
    if (op.bytes == 0 || op.offset >= op.file->size_bytes) {
        op.result = 0;
        return Submit::done;
    }
    const std::uint64_t end = std::min(op.offset + op.bytes, op.file->size_bytes);
    if (!settings_.uses_ring || !can_use_ring(file, op.offset, end)) return read_blocking(op);
    Read& read = take(unused_reads_, reads_);
    read.reads = this;
    read.op = &op;
    read.file = &file;
    read.next = op.offset;
    read.end = end;
    read.outstanding = 0;
    read.error = 0;
    if (!queue_parts(read) && read.outstanding == 0) {
        read.next_unused = std::exchange(unused_reads_, &read);
        return Submit::busy;
    }
    return Submit::pending;
}

bool FeedfsReads::queue_parts(Read& read) {
    FeedfsOpened& file = *read.file;
    while (read.next < read.end) {
        const std::size_t index = file.extent_at(read.next);
        const feedfs::Extent& extent = file.inode.content.extents[index];
        const std::uint64_t from = read.next - file.begin_of(index);
        Part& part = take(unused_parts_, parts_);
        part.read = &read;
        part.payload = std::min<std::uint64_t>(extent.payload_bytes - from, read.end - read.next);
        part.received = 0;
        part.fd = file.files[index]->descriptor(settings_.direct);
        part.op.offset = extent.offset + from;
        part.op.data = read.op->data + (read.next - read.op->offset);
        part.op.bytes = settings_.direct ? round_up(part.payload, feedfs::kBlockBytes) : part.payload;
        part.op.buffer_index = read.op->buffer_index;
        if (reactor_.uring()->read(part.op, part.fd, 0, {part_done, &part}) != Submit::pending) {
            part.next_unused = std::exchange(unused_parts_, &part);
            return false;
        }
        ++read.outstanding;
        read.next += part.payload;
    }
    return true;
}

void FeedfsReads::part_done(void* state, IoOp& op, std::int64_t result) {
    Part& part = *static_cast<Part*>(state);
    Read& read = *part.read;
    FeedfsReads& self = *read.reads;
    const bool again = result == -EINTR || result == -EAGAIN;
    if (result > 0) part.received += static_cast<std::uint64_t>(result);
    if (again || (result > 0 && part.received < part.payload)) {
        if (self.reactor_.uring()->read(op, part.fd, part.received, {part_done, state}) == Submit::pending) return;
        read.error = -EAGAIN; // the slot of the finished one was free, so the kernel refuses entries at all
    } else if (result <= 0 && read.error == 0) {
        read.error = result < 0 ? result : -EIO;
        if (result == 0) read.op->message = "the segment ends within a record";
    }
    part.next_unused = std::exchange(self.unused_parts_, &part);
    --read.outstanding;
    if (read.error == 0 && read.next < read.end && !self.queue_parts(read) && read.outstanding == 0)
        read.error = -EAGAIN;
    if (read.outstanding == 0 && (read.error != 0 || read.next == read.end)) self.landed_.push_back(&read);
}

bool FeedfsReads::poll() {
    if (!is_active()) return false;
    if (timed_ < landed_.size())
        for (const std::uint64_t now = reactor_.now_ns(); timed_ < landed_.size(); ++timed_)
            landed_[timed_]->landed_ns = now;
    std::uint64_t bytes = 0;
    for (std::size_t count = 0; is_active() && count < kReadsAtOnce && bytes < kBytesAtOnce; ++count) {
        Read& read = *landed_[first_landed_++];
        bytes += read.end - read.op->offset;
        finish(read);
    }
    if (!is_active()) {
        landed_.clear();
        first_landed_ = timed_ = 0;
    }
    return true;
}

void FeedfsReads::finish(Read& read) {
    IoOp& op = *read.op;
    const std::uint64_t bytes = read.end - op.offset;
    op.result = read.error != 0 ? read.error : static_cast<std::int64_t>(bytes);
    if (read.error == 0 && settings_.verify)
        if (auto status = verify(op, *read.file, bytes); !status) {
            op.result = -EIO;
            op.message =
                status.error().path + " at " + std::to_string(status.error().offset) + ": " + status.error().message;
        }
    if (op.result == -EIO &&
        has_object_tier_) { // which may have it whole: the library looks there, or says what is wrong
        op.message.clear();
        read.next_unused = std::exchange(unused_reads_, &read);
        (void)read_blocking(op);
        return;
    }
    read.next_unused = std::exchange(unused_reads_, &read);
    op.sink->completed(op);
    // The checks, and the time that it lay here, are the client's, not the storage's.
    op.complete_ns = std::clamp(read.landed_ns, op.submit_ns, op.complete_ns);
}

// Blocks that the read brought whole; of those at its edges the rest is not here.
Status FeedfsReads::verify(const IoOp& op, const FeedfsOpened& file, std::uint64_t bytes) const {
    constexpr std::uint64_t kUnit = feedfs::kCrcBlockBytes;
    const auto& content = file.inode.content;
    for (std::uint64_t at = op.offset; at < op.offset + bytes;) {
        const std::size_t index = file.extent_at(at);
        const feedfs::Extent& extent = content.extents[index];
        const std::uint64_t begin = file.begin_of(index), from = at - begin;
        const std::uint64_t to = std::min<std::uint64_t>(extent.payload_bytes, op.offset + bytes - begin);
        const std::uint64_t first = (from + kUnit - 1) / kUnit;
        const std::uint64_t last = to == extent.payload_bytes ? to : to / kUnit * kUnit;
        if (first * kUnit < last) {
            const std::byte* const data = op.data + (begin + first * kUnit - op.offset);
            auto status = feedfs::verify_blocks(extent, content.block_crcs.data() + extent.crc_first, first,
                                                {data, last - first * kUnit});
            if (!status) return status;
        }
        at = begin + to;
    }
    return {};
}

} // namespace feedbench::storage
