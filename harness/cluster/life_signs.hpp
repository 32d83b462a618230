// What each rank of a host lets the others see of itself: that it lives, that it gets on, what it is doing, what it
// waits for.
//
// Thread: progress(), say(), wait_begins(), wait_ends(), show_outstanding(): the rank's main thread; live(): its
// watching thread; the rest: any, also of other processes (the memory is shared between the ranks of a host).
// Owner: the Communicator. Units: counts; texts are cut to what fits. Errors: none.
// Source: DESIGN section 10 (nothing waits without a watchdog, which says what is outstanding where).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace feedbench::cluster {

class LifeSigns {
  public:
    static std::size_t memory_bytes(int rank_count);
    // `memory` must be zero before the first rank makes its object, and 64-byte aligned.
    LifeSigns(void* memory, int rank_count, int local_rank);
    // Of one process, with memory of its own.
    static std::unique_ptr<LifeSigns> alone();

    // This rank's.
    void progress() { add_one(mine().progress); }
    void live() { add_one(mine().life); }
    void say(std::string_view doing) { mine().doing.put(doing); }
    void show_outstanding(std::string_view text) { mine().outstanding.put(text); }
    // Between these it waits for other ranks: for whoever has not arrived where it stands.
    void wait_begins() { set_waiting(true); }
    void wait_ends() { set_waiting(false); }
    bool waits() const { return (mine().wait.load(std::memory_order_relaxed) & 1) != 0; }

    // Everybody's, by position among the ranks of the host. Counters: compare them with what they were before.
    int rank_count() const { return rank_count_; }
    int local_rank() const { return local_rank_; }
    std::uint64_t life_of(int rank) const { return of(rank).life.load(std::memory_order_relaxed); }
    std::uint64_t progress_of(int rank) const { return of(rank).progress.load(std::memory_order_relaxed); }
    std::uint64_t wait_of(int rank) const { return of(rank).wait.load(std::memory_order_relaxed); } // odd: it waits
    std::string doing_of(int rank) const { return of(rank).doing.text(); }
    std::string outstanding_of(int rank) const { return of(rank).outstanding.text(); }

    // True for the first rank of this host that asks: it is the one that speaks.
    bool claim_last_word();

  private:
    // Single letters as atomics: a reader may see half of a new text, and never anything undefined.
    template <std::size_t kBytes>
    struct Text {
        std::atomic<char> letters[kBytes];
        void put(std::string_view text) {
            const std::size_t size = text.size() < kBytes ? text.size() : kBytes - 1;
            for (std::size_t i = 0; i < size; ++i) letters[i].store(text[i], std::memory_order_relaxed);
            letters[size].store(0, std::memory_order_relaxed);
        }
        std::string text() const {
            std::string out;
            for (const auto& letter : letters) {
                const char c = letter.load(std::memory_order_relaxed);
                if (c == 0) break;
                out += c;
            }
            return out;
        }
    };
    struct alignas(64) Sign {
        std::atomic<std::uint64_t> life, progress, wait;
        Text<256> doing;
        Text<512> outstanding;
    };
    struct alignas(64) Board {
        std::atomic<std::uint32_t> claimed;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

    // One writer each.
    static void add_one(std::atomic<std::uint64_t>& counter) {
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void set_waiting(bool waits_now) {
        if (waits() != waits_now) add_one(mine().wait);
    }
    Sign& mine() { return signs_[local_rank_]; }
    const Sign& mine() const { return signs_[local_rank_]; }
    const Sign& of(int rank) const { return signs_[rank]; }

    struct Memory;
    std::shared_ptr<Memory> own_; // of alone()
    Board& board_;
    Sign* signs_;
    int rank_count_, local_rank_;
};

// Says what the rank does while this lives, then again what it did before: for whatever may block outside the loop.
class Doing {
  public:
    Doing(LifeSigns& signs, std::string_view what) : signs_(signs), before_(signs.doing_of(signs.local_rank())) {
        signs_.say(what);
        signs_.progress();
    }
    ~Doing() {
        signs_.say(before_);
        signs_.progress();
    }
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;

  private:
    LifeSigns& signs_;
    std::string before_;
};

} // namespace feedbench::cluster
