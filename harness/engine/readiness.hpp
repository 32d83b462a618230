// Which descriptors (sockets) can be read or written now, for libraries that do their own I/O on them: libcurl, libnfs.
//
// Thread: reactor thread; `ready` is called in the reactor's turn, never from inside watch() or forget(). Owner:
// Reactor (Reactor::readiness()); a WatchedDescriptor belongs to its maker and stays where it is until forget().
// Units: none. Errors: watch() where the kernel refuses the descriptor. Source: epoll(7), level triggered: what is not
// taken is told again in the next turn.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>

#include "harness/engine/event_source.hpp"
#include "harness/types/error.hpp"

namespace feedbench::engine {

inline constexpr unsigned kReadable = 1, kWritable = 2;
inline constexpr unsigned kBroken = 4; // error or hang-up; told whatever is wanted, until forget()

struct WatchedDescriptor {
    int fd = -1;
    // May watch and forget any descriptor, this one included, and may destroy `self` after forget().
    void (*ready)(WatchedDescriptor& self, unsigned events) = nullptr;

    unsigned wanted = 0; // Readiness' own from here on
    bool is_watched = false;
};

class Readiness final : public EventSource {
  public:
    Readiness();
    ~Readiness() override;
    Readiness(const Readiness&) = delete;
    Readiness& operator=(const Readiness&) = delete;

    // From now on tells of `events` (kReadable, kWritable or both; 0: only kBroken). Also for a descriptor that is
    // watched already. Where its number was closed and given to another file meanwhile: forget() it first.
    Status watch(WatchedDescriptor& descriptor, unsigned events);
    // Before the descriptor is closed, or at least before its number is used again; nothing is told of it afterwards.
    // May be called for one that is not watched.
    void forget(WatchedDescriptor& descriptor);

    int epoll_descriptor() const { return epoll_fd_; } // readable whenever poll() has something to tell
    bool poll() override;
    bool is_active() const override { return watched_count_ > 0; }

  private:
    int epoll_fd_;
    std::uint32_t watched_count_ = 0;
    std::array<epoll_event, 64> told_{}; // of the turn under way; forget() takes out what must not be told any more
    int told_count_ = 0;
};

} // namespace feedbench::engine
