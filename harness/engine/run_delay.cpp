#include "harness/engine/run_delay.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "harness/types/units.hpp"

namespace feedbench::engine {
namespace {

class Account {
  public:
    Account() : fd_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) { (void)growth_ns(); }
    ~Account() {
        if (fd_ >= 0) ::close(fd_);
    }
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    std::uint64_t growth_ns() {
        std::array<char, 96> text{};
        if (fd_ < 0 || ::pread(fd_, text.data(), text.size() - 1, 0) <= 0) return 0;
        char* delay = nullptr;
        (void)std::strtoull(text.data(), &delay, 10); // time on a CPU
        const std::uint64_t now_ns = std::strtoull(delay, nullptr, 10);
        return now_ns - std::exchange(last_ns_, now_ns);
    }

  private:
    int fd_; // of the thread that opened it
    std::uint64_t last_ns_ = 0;
};

} // namespace

std::uint64_t cpu_wait_ns(std::uint64_t slept_ns) {
    thread_local Account account;
    if (slept_ns < kNsPerMs) return 0;
    return std::min(account.growth_ns(), slept_ns);
}

} // namespace feedbench::engine
