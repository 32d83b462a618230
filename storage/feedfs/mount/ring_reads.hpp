// RingReads: small reads of published files, many in flight, by a thread that waits for none of them.
//
// A request is answered when its bytes have come and their CRCs hold. What the ring cannot do, or what did not go well,
// is done once more by the library on a worker's thread, which knows the way round and what to say.
//
// Ahead: where look-ups are mostly followed by a read of the file, its read begins with the look-up, while the program
// has yet to wake up and ask. Only of files of at most 64 KiB, which the kernel then reads whole.
//
// Thread: that of its loop. Owner: the loop; drained before it goes. Units: bytes. Errors: none of its own.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "harness/engine/uring.hpp"
#include "storage/feedfs/mount/reply.hpp"
#include "storage/feedfs/mount/workers.hpp"

namespace feedbench::feedfs::mount {

struct ReadRequest {
    fuse_req_t request = nullptr;
    InodeId node = 0;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
};

// On the thread that calls, however long it takes.
void answer_read(Door& door, const ReadRequest& asked, OpenFile* handle = nullptr);

class RingReads {
  public:
    RingReads(Door& door, engine::Uring& ring, Workers& workers);
    ~RingReads();
    RingReads(const RingReads&) = delete;
    RingReads& operator=(const RingReads&) = delete;

    // The kernel is being told of this entry. True: its bytes are under way.
    bool looked_up(const Inode& inode, InodeId parent, const std::string& name);
    void begin(const ReadRequest& asked);
    // Disks answer in batches: of what has come some are checked and answered, so that what is asked for next is at the
    // disk while the rest is. True: any was.
    bool answer_some();
    // Of the loop that runs on this thread; nullptr: none does.
    static RingReads* of_this_thread();

  private:
    struct Read;
    static void arrive(void* state, engine::IoOp& op, std::int64_t result);
    bool queue(const ReadRequest& asked, ReadFile& file);
    bool join_ahead(const ReadRequest& asked);
    bool make_room_ahead();
    void answer(Read& read);
    void hand_over(const ReadRequest& asked);
    Read& take();
    void give_back(Read& read);

    Door& door_;
    engine::Uring& ring_;
    Workers& workers_;
    // Where reads of small files land: pages of 2 MiB that the kernel has been told of, so that it need not look them
    // up for each read, and the disk gets each file as one piece. What finds no room here has a buffer of its own.
    const BlockBuffer slots_;
    std::vector<std::byte*> unused_slots_;
    bool slots_are_registered_ = false;
    std::vector<std::unique_ptr<Read>> reads_; // as many as were ever in flight
    Read* unused_ = nullptr;
    Read *first_arrived_ = nullptr, *last_arrived_ = nullptr; // a list, by next
    std::unordered_map<InodeId, Read*> ahead_;                // that nobody has asked for yet
    std::deque<InodeId> ahead_order_; // the oldest first; some of them are not in ahead_ any more
    int reads_expected_ = 0;          // how sure it is that a look-up is followed by a read
};

} // namespace feedbench::feedfs::mount
