// Where the loop's events come from: sources that others add, and the two that it makes at first use.
#include <algorithm>
#include <cassert>

#include "harness/engine/reactor.hpp"

namespace feedbench::engine {

void Reactor::add_source(EventSource& source) { sources_.push_back(&source); }
void Reactor::remove_source(EventSource& source) { std::erase(sources_, &source); }

ThreadPool& Reactor::thread_pool(unsigned at_least) {
    assert(!clock_.is_virtual());
    if (!pool_) {
        pool_ = ThreadPool::make(at_least, clock_, [this] { wake(); });
        add_source(*pool_);
    }
    pool_->grow_to(at_least);
    return *pool_;
}

Readiness& Reactor::readiness() {
    assert(!clock_.is_virtual());
    if (!readiness_) {
        readiness_ = std::make_unique<Readiness>();
        if (uring_) uring_->wake_when_readable(readiness_->epoll_descriptor());
        add_source(*readiness_);
    }
    return *readiness_;
}

} // namespace feedbench::engine
