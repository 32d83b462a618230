// Drops the page cache on a thread of its own, so that the loop goes on and a drop that hangs can be left behind.
//
// Thread: reactor thread; the drop itself runs on a detached thread (under the virtual clock: on this one). Owner:
// TrainingRun; what an abandoned drop still needs, it owns itself. Units: ns, s. Errors: none; the outcome says.
// Source: DESIGN section 8; case C2: a drop that ran out of time is `timeout`, and is tried again next epoch.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/engine/reactor.hpp"
#include "storage/backend.hpp"

namespace feedbench::workloads {

// Outcomes in the words of CacheEvidence::drop_outcome.
struct DropReport {
    std::string outcome = "not asked";
    double duration_s = 0;
};
// Of two ranks of one host: the worse outcome, the longer time.
DropReport worse(const DropReport& a, const DropReport& b);

class CacheDropper {
  public:
    // Puts the path of the next file ("" = everything) into its argument; false = there is none. Called on the dropping
    // thread, never after drop() has come back or the dropper is gone.
    using NextPath = std::function<bool(std::string& path)>;

    CacheDropper(engine::Reactor& reactor, storage::CacheDrop drop, std::uint64_t limit_ns)
        : reactor_(reactor), drop_(std::move(drop)), limit_ns_(limit_ns) {}
    ~CacheDropper();
    CacheDropper(const CacheDropper&) = delete;
    CacheDropper& operator=(const CacheDropper&) = delete;

    // Waits until all is dropped, the limit has passed, or `stopping` has become true. An earlier drop that is still
    // running is waited for first, within the same limit: two at a time would hinder each other, and the earlier one
    // says nothing about what was read since.
    engine::Task<DropReport> drop(NextPath next, const bool& stopping);

  private:
    struct Work;
    static bool start_thread(const std::shared_ptr<Work>& work); // false: there is no thread to be had
    engine::Task<bool> finished(std::shared_ptr<Work> work, std::uint64_t deadline_ns, const bool& stopping);

    engine::Reactor& reactor_;
    const storage::CacheDrop drop_;
    const std::uint64_t limit_ns_;
    std::shared_ptr<Work> running_; // out of time, and not yet back
};

} // namespace feedbench::workloads
