#include "storage/feedfs/mount/stop_signals.hpp"

#include <pthread.h>

namespace feedbench::feedfs::mount {

namespace {

constexpr int kEnd = SIGUSR1;  // to our thread: no more
constexpr int kWake = SIGUSR2; // to the waiting thread: look again whether it is over

} // namespace

StopSignals::StopSignals() {
    sigemptyset(&set_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, kEnd}) sigaddset(&set_, one);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    sigaction(kWake, &nothing, nullptr); // without SA_RESTART: the wait ends
    signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
    end();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::watch(std::function<void()> stop) {
    const pthread_t waiting = pthread_self();
    thread_ = std::thread([this, waiting, stop = std::move(stop)] {
        for (int which = 0; sigwait(&set_, &which) == 0 && which != kEnd;) {
            stop();
            pthread_kill(waiting, kWake);
        }
    });
}

void StopSignals::end() {
    if (!thread_.joinable()) return;
    pthread_kill(thread_.native_handle(), kEnd);
    thread_.join();
}

} // namespace feedbench::feedfs::mount
