#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "storage/feedfs/extent_reader.hpp"
#include "storage/feedfs_files.hpp"

namespace feedbench::storage {

using engine::IoOp;
using engine::Submit;

namespace {
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The harness puts the file before it.
std::string with_place(const Error& error) {
    if (error.offset < 0) return error.message;
    return error.path + " at " + std::to_string(error.offset) + ": " + error.message;
}
} // namespace

// One operation of the caller.
struct FeedfsReads::Read {
    FeedfsReads* reads = nullptr;
    IoOp* op = nullptr;
    FeedfsOpened* file = nullptr;
    std::uint64_t next = 0, end = 0; // of the file: what is still to be queued
    std::uint32_t outstanding = 0;
    std::int64_t error = 0;
    std::uint64_t landed_ns = 0;
    Part* arrived = nullptr;
    Read* next_unused = nullptr;
};

// Of one extent: whole checksum blocks, into the caller's memory; or those at an edge of what the caller wants, which
// are read whole beside it, checked, and copied from.
struct FeedfsReads::Part {
    IoOp op;
    Read* read = nullptr;
    int fd = -1;
    std::size_t extent = 0;                            // its index
    std::uint64_t from = 0, payload = 0, received = 0; // of its payload
    std::uint64_t skip = 0, useful = 0;                // of these: what the caller wants
    feedfs::BlockBuffer edge;
    Part* next_unused = nullptr; // or the next that arrived
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
        op->message = with_place(error);
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

// A block can be checked only whole. Where it takes few blocks, one read brings all of them.
void FeedfsReads::cut_part(Part& part, std::uint64_t to, std::uint64_t payload_bytes) {
    constexpr std::uint64_t kUnit = feedfs::kCrcBlockBytes, kEdgeBytes = 2 * kUnit;
    const std::uint64_t at = part.from, first = at / kUnit * kUnit;
    const std::uint64_t last = std::min(round_up(to, kUnit), payload_bytes);
    part.skip = 0;
    part.useful = part.payload = to - at;
    if (!settings_.verify || (first == at && last == to)) return;
    if (first == at && last - first > kEdgeBytes) {
        part.useful = part.payload = to / kUnit * kUnit - at;
        return;
    }
    part.from = first;
    part.skip = at - first;
    part.payload = (last - first > kEdgeBytes ? first + kUnit : last) - first;
    part.useful = std::min(part.payload - part.skip, to - at);
    part.edge = filesystem_.memory().take(part.payload);
}

bool FeedfsReads::queue_parts(Read& read) {
    FeedfsOpened& file = *read.file;
    while (read.next < read.end) {
        const std::size_t index = file.extent_at(read.next);
        const feedfs::Extent& extent = file.inode.content.extents[index];
        Part& part = take(unused_parts_, parts_);
        part.read = &read;
        part.extent = index;
        part.from = read.next - file.begin_of(index);
        part.received = 0;
        cut_part(part, std::min<std::uint64_t>(extent.payload_bytes, read.end - file.begin_of(index)),
                 extent.payload_bytes);
        part.fd = file.files[index]->descriptor(settings_.direct);
        part.op.offset = extent.offset + part.from;
        part.op.data = part.edge ? part.edge.data() : read.op->data + (read.next - read.op->offset);
        part.op.bytes = settings_.direct ? round_up(part.payload, feedfs::kBlockBytes) : part.payload;
        part.op.buffer_index = part.edge ? -1 : read.op->buffer_index;
        if (reactor_.uring()->read(part.op, part.fd, 0, {part_done, &part}) != Submit::pending) {
            give_back(part);
            return false;
        }
        ++read.outstanding;
        read.next += part.useful;
    }
    return true;
}

void FeedfsReads::give_back(Part& part) {
    part.edge.release();
    part.next_unused = std::exchange(unused_parts_, &part);
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
    part.next_unused = std::exchange(read.arrived, &part);
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
    op.result = read.error != 0 ? read.error : static_cast<std::int64_t>(read.end - op.offset);
    while (Part* const part = read.arrived) {
        read.arrived = part->next_unused;
        if (op.result >= 0)
            if (auto status = bring(*part); !status) {
                op.result = -EIO;
                op.message = with_place(status.error());
            }
        give_back(*part);
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

// Checked, and in the caller's memory.
Status FeedfsReads::bring(const Part& part) const {
    const auto& content = part.read->file->inode.content;
    const feedfs::Extent& extent = content.extents[part.extent];
    if (settings_.verify) {
        auto status = feedfs::verify_blocks(extent, content.block_crcs.data() + extent.crc_first,
                                            part.from / feedfs::kCrcBlockBytes, {part.op.data, part.payload});
        if (!status) return status;
    }
    if (part.edge) {
        const IoOp& op = *part.read->op;
        const std::uint64_t at = part.read->file->begin_of(part.extent) + part.from + part.skip;
        std::memcpy(op.data + (at - op.offset), part.edge.data() + part.skip, part.useful);
    }
    return {};
}

} // namespace feedbench::storage
