#include "harness/engine/readiness.hpp"

#include <unistd.h>

#include <cerrno>

namespace feedbench::engine {

Readiness::Readiness() : epoll_fd_(::epoll_create1(EPOLL_CLOEXEC)) {}

Readiness::~Readiness() {
    if (epoll_fd_ >= 0) ::close(epoll_fd_);
}

Status Readiness::watch(WatchedDescriptor& descriptor, unsigned events) {
    if (epoll_fd_ < 0) return storage_error("epoll_create", "", EMFILE, "sockets cannot be waited for");
    if (descriptor.is_watched && descriptor.wanted == events) return {};
    epoll_event event{};
    event.events = ((events & kReadable) ? EPOLLIN : 0U) | ((events & kWritable) ? EPOLLOUT : 0U);
    event.data.ptr = &descriptor;
    const int operation = descriptor.is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (::epoll_ctl(epoll_fd_, operation, descriptor.fd, &event) != 0)
        return storage_error("epoll_ctl", "", errno, "descriptor " + std::to_string(descriptor.fd));
    if (!descriptor.is_watched) ++watched_count_;
    descriptor.is_watched = true;
    descriptor.wanted = events;
    return {};
}

void Readiness::forget(WatchedDescriptor& descriptor) {
    if (!descriptor.is_watched) return;
    // A descriptor that was closed already has left by itself (EBADF, ENOENT).
    (void)::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, descriptor.fd, nullptr);
    for (int i = 0; i < told_count_; ++i) {
        epoll_event& event = told_[static_cast<std::size_t>(i)];
        if (event.data.ptr == &descriptor) event.data.ptr = nullptr;
    }
    descriptor.is_watched = false;
    descriptor.wanted = 0;
    --watched_count_;
}

bool Readiness::poll() {
    if (watched_count_ == 0) return false;
    told_count_ = ::epoll_wait(epoll_fd_, told_.data(), static_cast<int>(told_.size()), 0);
    bool any = false;
    for (int i = 0; i < told_count_; ++i) {
        const epoll_event& event = told_[static_cast<std::size_t>(i)];
        if (!event.data.ptr) continue; // forgotten by one of those before it
        auto& descriptor = *static_cast<WatchedDescriptor*>(event.data.ptr);
        unsigned events = 0;
        if (event.events & EPOLLIN) events |= kReadable;
        if (event.events & EPOLLOUT) events |= kWritable;
        if (event.events & (EPOLLERR | EPOLLHUP)) events |= kBroken;
        descriptor.ready(descriptor, events);
        any = true;
    }
    told_count_ = 0;
    return any;
}

} // namespace feedbench::engine
