// StopSignals: SIGINT, SIGTERM and SIGHUP are taken by a thread of their own, which may unmount and wait.
//
// Thread: made on the main thread before any other thread is started (they inherit its mask). Owner: the session.
// Units: none. Errors: none.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace feedbench::feedfs::mount {

class StopSignals {
  public:
    StopSignals(); // from now on they wait
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    // Calls `stop` for each that comes, then wakes the thread that called watch from what it waits for.
    void watch(std::function<void()> stop);
    void end();

  private:
    sigset_t set_{}, before_{};
    std::thread thread_;
};

} // namespace feedbench::feedfs::mount
