// The watchdog: notices that nothing gets on any more, whatever a rank waits for, says what is outstanding where, and
// ends the job with exit code 3.
//
// Thread: made on the main thread; looks from the reactor's loop (operations in flight) and from a thread of its own
// (the main thread itself is blocked; a rank of this host is frozen; a host is silent; all wait for each other).
// Owner: the cli's Session, as long as the communicator. Units: ns. Errors: one message for the whole job, on stderr.
// Source: DESIGN section 10; docs/failing.md has the table of waits.
//
// Whoever has the stalled operation speaks after the time-out; ranks that only wait for it give it some time more.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/cluster/communicator.hpp"
#include "harness/engine/reactor.hpp"

namespace feedbench::cluster {

// "read train/img_3.npz at offset 4096, 777 bytes, for 12.0 s", one line each, a few at most, the oldest first.
std::string describe_outstanding(const engine::Reactor& reactor, std::uint64_t now_ns);

// Notices when no operation of a reactor completes for too long. No thread, no clock of its own.
class OperationWatch {
  public:
    OperationWatch(const engine::Reactor& reactor, std::uint64_t timeout_ns)
        : reactor_(reactor), timeout_ns_(timeout_ns), last_count_(reactor.completion_count()),
          since_ns_(reactor.now_ns()) {}
    // Empty while all is well; else what has been outstanding since when, one line an operation, a few at most.
    std::string check(std::uint64_t now_ns);
    // For how long nothing has completed although something is outstanding.
    std::uint64_t quiet_ns() const { return quiet_ns_; }
    void set_timeout(std::uint64_t timeout_ns) { timeout_ns_ = timeout_ns; }

  private:
    const engine::Reactor& reactor_;
    std::uint64_t timeout_ns_;
    std::uint64_t last_count_, since_ns_; // completions, and when the last of them was noticed
    std::uint64_t quiet_ns_ = 0;
};

// The same under the virtual clock, where what stalls is a deadlock that is seen at once: the reactor asks its rescue
// whether something can be done about it. Cancelling once is; if nothing completes then, nothing ever will.
class DeadlockWatch {
  public:
    explicit DeadlockWatch(const engine::Reactor& reactor) : reactor_(reactor) {}
    // Operations are outstanding, and some have completed since this was last true: cancel them.
    bool can_cancel();
    Error error() const; // what is outstanding

  private:
    const engine::Reactor& reactor_;
    std::uint64_t cancelled_at_completion_ = ~std::uint64_t{0};
};

// What the watching thread makes of the signs that it sees, one look after another. Apart from the thread, so that it
// can be tested without waiting.
class SignReader {
  public:
    SignReader(Communicator& communicator, std::uint64_t timeout_ns);
    // `passed_ns` since the look before. Empty while all is well, else what is wrong with whom.
    std::string look(std::uint64_t passed_ns);
    void set_timeout(std::uint64_t timeout_ns) { timeout_ns_ = timeout_ns; }
    // How long ranks give others, beyond the time-out, to speak for themselves.
    static std::uint64_t grace_ns(std::uint64_t timeout_ns);

  private:
    struct Seen {
        std::uint64_t value = 0, unchanged_ns = 0;
        bool follow(std::uint64_t now_value, std::uint64_t passed_ns); // true: it changed
    };
    std::string rank_line(int local_rank) const;
    std::string others() const; // what the ranks of this host say of themselves

    Communicator& communicator_;
    std::uint64_t timeout_ns_;
    Seen own_;
    std::vector<Seen> lives_, waits_; // of the ranks of this host
    std::vector<Seen> hosts_;
};

class StallWatch {
  public:
    StallWatch(Communicator& communicator, std::uint64_t timeout_ns);
    ~StallWatch();
    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

    void set_timeout(std::uint64_t timeout_ns); // before watch()
    // Looks at the operations of this reactor too, as long as it runs. Not under a virtual clock: there a stall is a
    // deadlock, which the reactor reports by itself.
    void watch(engine::Reactor& reactor);
    // Virtual time: computing costs nothing there, so nothing can be late.
    void stand_down();

  private:
    void beat(); // in the reactor's loop
    void look_around();
    [[noreturn]] void end_job(const std::string& text, bool on_main_thread);

    Communicator& communicator_;
    std::uint64_t timeout_ns_;
    engine::Reactor* reactor_ = nullptr;
    std::unique_ptr<OperationWatch> operations_;
    bool shows_outstanding_ = false;
    std::mutex mutex_; // guards timeout_ns_, stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace feedbench::cluster
