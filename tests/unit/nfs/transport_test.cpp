#include "storage/nfs/transport.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "harness/engine/sync.hpp"
#include "harness/types/units.hpp"
#include "storage/nfs/calls3.hpp"

using namespace feedbench;
using namespace feedbench::storage::nfs;

namespace {

// Somebody who listens, and never says a word; or nobody (a port that was free a moment ago).
struct Port {
    explicit Port(bool listens) {
        fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0);
        socklen_t length = sizeof place;
        REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &length) == 0);
        number = ntohs(place.sin_port);
        if (listens) {
            REQUIRE(::listen(fd, 8) == 0);
        }
    }
    ~Port() { ::close(fd); }
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    int fd = -1;
    std::uint16_t number = 0;
};

struct Asking final : Call {
    explicit Asking(engine::Reactor& reactor) : over(reactor) {}
    int send(rpc_context* rpc, rpc_cb answer, void* slot) override {
        ++sent;
        return Sender{rpc, answer, slot}.attributes(handle);
    }
    void answered(void*) override { over.set(); }
    void failed(int code, const std::string& text) override {
        error = code;
        why = text;
        over.set();
    }
    Handle handle;
    engine::Event over;
    int sent = 0, error = 0;
    std::string why;
};

engine::Task<void> wait_for(Asking& call) { co_await call.over.wait(); }

struct World {
    explicit World(std::uint16_t port) {
        settings.address.host = "127.0.0.1";
        settings.nfs_port = port;
        settings.connection_count = 2;
        settings.timeout_ns = kNsPerS / 5;
        transport = std::make_unique<Transport>(*reactor, settings, "127.0.0.1", port);
    }
    std::unique_ptr<engine::Clock> clock = engine::make_real_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {}));
    Settings settings;
    std::unique_ptr<Transport> transport;
};

} // namespace

TEST_CASE("nfs: where nobody listens a call fails after the time-out, in words") {
    const Port port(false);
    World w(port.number);
    Asking call(*w.reactor);
    w.transport->start(call);
    CHECK(call.error == 0); // never inside start()
    CHECK(w.reactor->run(wait_for(call)));
    CHECK(call.error == -ECONNREFUSED);
    CHECK(call.why.find("was lost, and for 0 s (option timeout) there was no other") != std::string::npos);
    CHECK(call.sent == 0);
    CHECK_FALSE(w.transport->is_active());
    CHECK(w.transport->counters().failed_request_count == 1);
}

TEST_CASE("nfs: a server that accepts and says nothing is given up after the time-out") {
    const Port port(true);
    World w(port.number);
    Asking first(*w.reactor), second(*w.reactor);
    w.transport->start(first);
    w.transport->start(second);
    CHECK(w.reactor->run(wait_for(first)));
    CHECK(w.reactor->run(wait_for(second)));
    CHECK(first.error < 0);
    CHECK(second.error < 0);
    CHECK_FALSE(w.transport->is_active());
}

TEST_CASE("nfs: cancelled calls end in the next turn with ECANCELED, and later ones start anew") {
    const Port port(true);
    World w(port.number);
    Asking call(*w.reactor);
    w.transport->start(call);
    w.transport->poll();
    w.transport->cancel();
    CHECK(call.error == 0); // not inside cancel()
    CHECK(w.reactor->run(wait_for(call)));
    CHECK(call.error == -ECANCELED);
    Asking next(*w.reactor);
    w.transport->start(next);
    CHECK(w.reactor->run(wait_for(next)));
    CHECK(next.error < 0);
    CHECK(next.error != -ECANCELED);
}

TEST_CASE("nfs: errno in libnfs's sentences") {
    CHECK(errno_in("rpc_service: socket error Connection refused(111).", EIO) == ECONNREFUSED);
    CHECK(errno_in("NFS4: (path /x) failed with NFS4ERR_ACCESS(-13)", EIO) == EACCES);
    CHECK(errno_in("no number (here)", EIO) == EIO);
    CHECK(errno_in("", ETIMEDOUT) == ETIMEDOUT);
    CHECK(error_of(NFS3_OK) == 0);
    CHECK(error_of(NFS3ERR_STALE) == ESTALE);
    CHECK(error_of(NFS3ERR_NOSPC) == ENOSPC);
    CHECK(error_of(NFS3ERR_ROFS) == EROFS);
    CHECK(error_of(NFS3ERR_JUKEBOX) == EAGAIN);
    CHECK(error_of(NFS3ERR_NAMETOOLONG) == ENAMETOOLONG);
}
