#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "harness/engine/sync.hpp"

using namespace feedbench;
using namespace feedbench::engine;

namespace {

struct SocketPair {
    SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0); }
    ~SocketPair() {
        for (const int end : ends)
            if (end >= 0) ::close(end);
    }
    SocketPair(const SocketPair&) = delete;
    SocketPair& operator=(const SocketPair&) = delete;
    void close_far() {
        ::close(ends[1]);
        ends[1] = -1;
    }
    int ends[2] = {-1, -1};
};

// Takes what arrives at its end, and sets `arrived` at each telling.
struct Listener : WatchedDescriptor {
    Listener(Reactor& r, int descriptor) : reactor(r), arrived(r) {
        fd = descriptor;
        ready = [](WatchedDescriptor& d, unsigned e) {
            auto& self = static_cast<Listener&>(d);
            ++self.tellings;
            self.events |= e;
            char bytes[64];
            if (e & kReadable) self.taken += std::max<ssize_t>(::read(self.fd, bytes, sizeof bytes), 0);
            if (self.then) self.then();
            if (e & (kWritable | kBroken)) self.reactor.readiness().forget(self);
            self.arrived.set();
        };
    }
    Reactor& reactor;
    Event arrived;
    int tellings = 0;
    unsigned events = 0;
    ssize_t taken = 0;
    std::function<void()> then;
};

Task<void> wait_for(Listener& listener) { co_await listener.arrived.wait(); }

std::unique_ptr<Reactor> make_reactor(Clock& clock, bool use_uring) {
    auto reactor = Reactor::make(clock, {.use_uring = use_uring});
    REQUIRE(reactor);
    return std::move(*reactor);
}

} // namespace

TEST_CASE("readiness: bytes that come while the loop sleeps end its sleep, with a ring and without, again and again") {
    const auto clock = make_real_clock();
    for (const bool use_uring : {true, false}) {
        const auto reactor = make_reactor(*clock, use_uring);
        SocketPair pair;
        Listener listener(*reactor, pair.ends[0]);
        REQUIRE(reactor->readiness().watch(listener, kReadable));
        for (int round = 1; round <= 3; ++round) {
            listener.arrived.reset();
            std::thread far([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the loop is asleep by then
                CHECK(::write(pair.ends[1], "hello", 5) == 5);
            });
            // No timer is set: nothing else can wake the loop. Where it is not woken this test hangs.
            CHECK(reactor->run(wait_for(listener)));
            far.join();
            CHECK(listener.taken == 5 * round);
            CHECK(listener.events == kReadable);
        }
        reactor->readiness().forget(listener);
        CHECK_FALSE(reactor->readiness().is_active());
    }
}

TEST_CASE("readiness: what is wanted can be changed; what is not wanted is not told") {
    const auto clock = make_real_clock();
    const auto reactor = make_reactor(*clock, true);
    SocketPair pair;
    Listener listener(*reactor, pair.ends[0]);
    Readiness& readiness = reactor->readiness();
    REQUIRE(readiness.watch(listener, 0));
    REQUIRE(::write(pair.ends[1], "x", 1) == 1);
    CHECK_FALSE(readiness.poll());
    CHECK(listener.tellings == 0);
    REQUIRE(readiness.watch(listener, kReadable));
    CHECK(readiness.poll());
    CHECK(listener.taken == 1);
    CHECK_FALSE(readiness.poll());
    listener.arrived.reset();
    REQUIRE(readiness.watch(listener, kWritable)); // an empty socket can be written at once
    CHECK(reactor->run(wait_for(listener)));
    CHECK(listener.events == (kReadable | kWritable));
    CHECK_FALSE(listener.is_watched);
}

TEST_CASE("readiness: a far end that is gone is told, also to who wants nothing") {
    const auto clock = make_real_clock();
    const auto reactor = make_reactor(*clock, true);
    SocketPair pair;
    Listener listener(*reactor, pair.ends[0]);
    REQUIRE(reactor->readiness().watch(listener, 0));
    pair.close_far();
    CHECK(reactor->run(wait_for(listener)));
    CHECK((listener.events & kBroken) != 0);
}

TEST_CASE("readiness: one that was forgotten, or is gone, by the hand of another is not told in the same turn") {
    const auto clock = make_real_clock();
    const auto reactor = make_reactor(*clock, true);
    SocketPair first, second;
    auto one = std::make_unique<Listener>(*reactor, first.ends[0]);
    auto other = std::make_unique<Listener>(*reactor, second.ends[0]);
    int told = 0;
    const auto let_go = [&](std::unique_ptr<Listener>& victim) {
        ++told;
        if (!victim) return;
        reactor->readiness().forget(*victim);
        victim.reset();
    };
    one->then = [&] { let_go(other); };
    other->then = [&] { let_go(one); };
    REQUIRE(reactor->readiness().watch(*one, kReadable));
    REQUIRE(reactor->readiness().watch(*other, kReadable));
    REQUIRE(::write(first.ends[1], "x", 1) == 1);
    REQUIRE(::write(second.ends[1], "x", 1) == 1);
    CHECK(reactor->readiness().poll());
    CHECK(told == 1);
    CHECK((one == nullptr) != (other == nullptr));
    reactor->readiness().forget(one ? *one : *other);
    CHECK_FALSE(reactor->readiness().is_active());
}

TEST_CASE("readiness: a number that was closed and used again is watched anew after forget") {
    const auto clock = make_real_clock();
    const auto reactor = make_reactor(*clock, true);
    SocketPair old_pair, new_pair;
    Listener listener(*reactor, old_pair.ends[0]);
    REQUIRE(reactor->readiness().watch(listener, kReadable));
    REQUIRE(::dup2(new_pair.ends[0], old_pair.ends[0]) >= 0); // closes what was watched
    reactor->readiness().forget(listener);
    REQUIRE(reactor->readiness().watch(listener, kReadable));
    REQUIRE(::write(new_pair.ends[1], "abc", 3) == 3);
    CHECK(reactor->run(wait_for(listener)));
    CHECK(listener.taken == 3);
    reactor->readiness().forget(listener);
}

TEST_CASE("readiness: a descriptor that cannot be waited for is an error that says which") {
    const auto clock = make_real_clock();
    const auto reactor = make_reactor(*clock, true);
    Listener listener(*reactor, 987'654);
    const Status status = reactor->readiness().watch(listener, kReadable);
    REQUIRE_FALSE(status);
    CHECK(status.error().errno_value == EBADF);
    CHECK(status.error().describe().find("987654") != std::string::npos);
    CHECK_FALSE(reactor->readiness().is_active());
}
