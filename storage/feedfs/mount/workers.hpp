// Workers: threads for requests that may wait for a disk or for long scans, beside the loops that must not.
//
// Thread: run() from any; what is given runs on a thread of these. Owner: the session. Units: none. Errors: none of its
// own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace feedbench::feedfs::mount {

class Workers {
  public:
    explicit Workers(unsigned count);
    ~Workers(); // when all that was given is done
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    // The kernel bounds how many requests it has out, and with it what waits here.
    void run(std::function<void()> job);

  private:
    void loop();
    std::mutex mutex_;
    std::condition_variable work_;
    std::deque<std::function<void()>> jobs_;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

} // namespace feedbench::feedfs::mount
