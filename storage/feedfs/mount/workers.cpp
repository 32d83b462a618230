#include "storage/feedfs/mount/workers.hpp"

namespace feedbench::feedfs::mount {

Workers::Workers(unsigned count) {
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { loop(); });
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    work_.notify_one();
}

void Workers::loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return over_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }
}

} // namespace feedbench::feedfs::mount
