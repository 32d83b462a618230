// How much of an accelerator's wait for a batch belongs to the storage: the time in which at least one operation that
// the batch needs was truly in flight. The rest (queueing in the client, checks, a busy or unscheduled thread) is the
// client's.
//
// Thread: reactor thread. Owner: a loader, one each. Units: ns. Errors: none.
// Source: DESIGN section 8 (attribution). Cost: nothing while nobody waits; no clock is read here.
//
// Worked example: asked at 0, ready at 100. Operations [10, 40] and [30, 50] of this batch, [0, 100] of a later one,
// [60, 70] of this batch: the storage's part is 40 + 10 = 50, the client's 50.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace feedbench::loader {

class WaitAccount {
  public:
    // The accelerator begins to wait. What it waits for are the operations of an order below needed_below: of steps up
    // to its own (pytorch, native) or of records up to where its batch is complete (tensorflow).
    void begin(std::uint64_t now_ns, std::uint64_t needed_below) {
        asked_ns_ = counted_from_ns_ = now_ns;
        needed_below_ = needed_below;
        folded_ns_ = 0;
        count_ = 0;
    }
    // An operation was at the storage from submit to complete. Told when its coroutine goes on, so about in the order
    // of completion.
    void count(std::uint64_t order, std::uint64_t submit_ns, std::uint64_t complete_ns) {
        if (order >= needed_below_) return;
        Stretch added{std::max(submit_ns, counted_from_ns_), complete_ns};
        if (added.to <= added.from) return;
        // Stretches are in order and apart from each other: the new one swallows those that it touches.
        std::size_t end = count_;
        while (end > 0 && stretches_[end - 1].from > added.to) --end;
        std::size_t first = end;
        for (; first > 0 && stretches_[first - 1].to >= added.from; --first) {
            added.from = std::min(added.from, stretches_[first - 1].from);
            added.to = std::max(added.to, stretches_[first - 1].to);
        }
        if (first < end) {
            stretches_[first] = added;
            erase(first + 1, end);
        } else if (count_ < stretches_.size()) {
            insert(first, added);
        } else if (first == 0) {
            folded_ns_ += added.to - added.from;
        } else {
            // The oldest is closed: an operation longer than sixteen pauses of all others would lose the first of them.
            folded_ns_ += stretches_[0].to - stretches_[0].from;
            counted_from_ns_ = stretches_[0].to;
            erase(0, 1);
            insert(first - 1, added);
        }
    }
    // The batch has come: the storage's part of the wait.
    std::uint64_t end(std::uint64_t ready_ns) {
        std::uint64_t sum = folded_ns_;
        for (std::size_t i = 0; i < count_; ++i)
            if (stretches_[i].from < ready_ns) sum += std::min(stretches_[i].to, ready_ns) - stretches_[i].from;
        needed_below_ = 0;
        return std::min(sum, ready_ns - asked_ns_);
    }

  private:
    struct Stretch {
        std::uint64_t from, to;
    };
    void insert(std::size_t at, Stretch stretch) {
        for (std::size_t i = count_++; i > at; --i) stretches_[i] = stretches_[i - 1];
        stretches_[at] = stretch;
    }
    void erase(std::size_t first, std::size_t end) {
        for (std::size_t i = end; i < count_; ++i) stretches_[first + i - end] = stretches_[i];
        count_ -= end - first;
    }

    std::uint64_t asked_ns_ = 0, needed_below_ = 0;     // needed_below_ 0: nobody waits
    std::uint64_t counted_from_ns_ = 0, folded_ns_ = 0; // stretches before it: closed, and their sum
    std::array<Stretch, 16> stretches_{};
    std::size_t count_ = 0;
};

} // namespace feedbench::loader
