#include "storage/feedfs/mount/ring_reads.hpp"

#include <algorithm>
#include <cassert>

#include "harness/types/units.hpp"

namespace feedbench::feedfs::mount {

namespace {

constexpr int kAnswersAtOnce = 16;
constexpr std::uint64_t kAheadBytesMost = 64 * 1024; // of a file
constexpr std::size_t kAheadMost = 128;              // files that nobody has asked for yet
// Each look-up of a small file takes one away, each read from a file's front gives two.
constexpr int kExpectedMost = 64, kExpectedEnough = 16;
constexpr std::size_t kSlots = 128, kSlotBytes = kAheadBytesMost; // for the reads of small files

thread_local RingReads* reads_of_this_thread = nullptr;

} // namespace

struct RingReads::Read {
    engine::IoOp op;
    RingReads* reads = nullptr;
    ReadRequest asked;         // no request: nobody has asked yet
    ReadPlan plan;             // begins at asked.offset
    std::byte* slot = nullptr; // where it lands; or
    BlockBuffer buffer;
    bool has_arrived = false;
    Read* next = nullptr; // of those that are unused, or have arrived
};

void answer_read(Door& door, const ReadRequest& asked, OpenFile* handle) {
    // Whole blocks, so that the library reads into this buffer without a copy of its own.
    const BlockBuffer buffer = door.files.memory().take(round_up(asked.bytes, kBlockBytes));
    const std::span<std::byte> into(buffer.data(), asked.bytes);
    const Expected<std::uint64_t> got = door.options.open_needs_no_call ? door.read_node(asked.node, asked.offset, into)
                                                                        : door.read(*handle, asked.offset, into);
    if (!got) {
        door.complain("read", asked.node, got.error());
        return reply_error(asked.request, got.error());
    }
    fuse_reply_buf(asked.request, reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(*got));
}

RingReads::RingReads(Door& door, engine::Uring& ring, Workers& workers)
    : door_(door), ring_(ring), workers_(workers), slots_(door.files.memory().take(kSlots * kSlotBytes)) {
    reads_of_this_thread = this;
    const std::span<std::byte> all(slots_.data(), kSlots * kSlotBytes);
    slots_are_registered_ = static_cast<bool>(ring_.register_buffers({&all, 1}));
    unused_slots_.reserve(kSlots);
    for (std::size_t i = kSlots; i > 0; --i) unused_slots_.push_back(slots_.data() + (i - 1) * kSlotBytes);
}

RingReads::~RingReads() {
    assert(ring_.in_flight() == 0 && first_arrived_ == nullptr);
    if (slots_are_registered_) (void)ring_.register_buffers({});
    reads_of_this_thread = nullptr;
}

RingReads* RingReads::of_this_thread() { return reads_of_this_thread; }

RingReads::Read& RingReads::take() {
    if (!unused_) {
        reads_.push_back(std::make_unique<Read>());
        reads_.back()->reads = this;
        unused_ = reads_.back().get();
    }
    Read& taken = *unused_;
    unused_ = std::exchange(taken.next, nullptr);
    return taken;
}

void RingReads::give_back(Read& read) {
    read.plan.file.reset();
    if (read.slot) unused_slots_.push_back(std::exchange(read.slot, nullptr)); // its lines are in the cache
    read.buffer.release();
    read.next = std::exchange(unused_, &read);
}

bool RingReads::looked_up(const Inode& inode, InodeId parent, const std::string& name) {
    if (inode.type != InodeType::file || inode.size_bytes == 0 || inode.size_bytes > kAheadBytesMost) return false;
    reads_expected_ = std::max(reads_expected_ - 1, 0);
    if (reads_expected_ < kExpectedEnough || ahead_.contains(inode.id) || !make_room_ahead()) return false;
    const Expected<std::shared_ptr<ReadFile>> file = door_.files.open_read(inode, parent, name);
    return file && queue({.request = nullptr, .node = inode.id, .offset = 0, .bytes = inode.size_bytes}, **file);
}

// The oldest goes for which nobody came, unless the disk has not even answered.
bool RingReads::make_room_ahead() {
    while (!ahead_order_.empty()) {
        const auto oldest = ahead_.find(ahead_order_.front());
        if (oldest != ahead_.end()) {
            if (ahead_.size() < kAheadMost && ahead_order_.size() < 8 * kAheadMost) return true;
            if (!oldest->second->has_arrived) return false;
            give_back(*oldest->second);
            ahead_.erase(oldest);
        }
        ahead_order_.pop_front();
    }
    return true;
}

void RingReads::begin(const ReadRequest& asked) {
    if (asked.offset == 0) reads_expected_ = std::min(reads_expected_ + 2, kExpectedMost);
    if (join_ahead(asked)) return;
    if (asked.bytes <= ReadPlan::kBytesMost) { // more is checked and copied by several threads at a time
        const Expected<std::shared_ptr<ReadFile>> file = door_.file_of_node(asked.node, asked.offset, asked.bytes);
        if (file && queue(asked, **file)) return;
    }
    hand_over(asked);
}

// What this asks for is under way, or here.
bool RingReads::join_ahead(const ReadRequest& asked) {
    const auto found = ahead_.find(asked.node);
    if (found == ahead_.end()) return false;
    Read& read = *found->second;
    if (asked.offset != 0 || asked.bytes < read.plan.useful_bytes) return false; // not all of it: another may follow
    ahead_.erase(found);
    read.asked = asked;
    if (read.has_arrived) answer(read);
    return true;
}

bool RingReads::queue(const ReadRequest& asked, ReadFile& file) {
    Read& read = take();
    bool queued = file.plan(asked.offset, asked.bytes, read.plan);
    if (queued) {
        read.asked = asked;
        read.has_arrived = false;
        if (read.plan.read_bytes <= kSlotBytes && !unused_slots_.empty()) {
            read.slot = unused_slots_.back();
            unused_slots_.pop_back();
        } else {
            read.buffer = door_.files.memory().take(read.plan.read_bytes);
        }
        read.op.offset = read.plan.offset();
        read.op.data = read.slot ? read.slot : read.buffer.data();
        read.op.buffer_index = read.slot && slots_are_registered_ ? 0 : -1;
        read.op.bytes = read.plan.read_bytes;
        queued = ring_.read(read.op, read.plan.file->descriptor(true), 0, {&arrive, &read}) == engine::Submit::pending;
    }
    if (!queued) {
        give_back(read);
    } else if (asked.request == nullptr) {
        ahead_[asked.node] = &read;
        ahead_order_.push_back(asked.node);
    }
    return queued;
}

void RingReads::arrive(void* state, engine::IoOp& op, std::int64_t result) {
    op.result = result;
    Read& read = *static_cast<Read*>(state);
    RingReads& self = *read.reads;
    read.has_arrived = true;
    if (read.asked.request == nullptr) return; // it lies in ahead_
    read.next = nullptr;
    (self.first_arrived_ ? self.last_arrived_->next : self.first_arrived_) = &read;
    self.last_arrived_ = &read;
}

bool RingReads::answer_some() {
    if (!first_arrived_) return false;
    for (int i = 0; i < kAnswersAtOnce && first_arrived_; ++i) {
        Read& read = *first_arrived_;
        first_arrived_ = read.next;
        answer(read);
    }
    return true;
}

void RingReads::answer(Read& read) {
    const ReadPlan& plan = read.plan;
    const std::byte* const data = read.op.data;
    if (read.op.result >= static_cast<std::int64_t>(plan.payload_bytes) && plan.check({data, plan.payload_bytes}))
        fuse_reply_buf(read.asked.request, reinterpret_cast<const char*>(data + plan.skip_bytes), plan.useful_bytes);
    else
        hand_over(read.asked);
    give_back(read);
}

void RingReads::hand_over(const ReadRequest& asked) {
    workers_.run([&door = door_, asked] { answer_read(door, asked); });
}

} // namespace feedbench::feedfs::mount
