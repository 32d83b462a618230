// A connection that carries GETs over plain HTTP/1.1, one at a time. Internal to storage/s3/plain_*.cpp.
//
// Thread: reactor thread. Owner: PlainEngine. Units: bytes, ns. Errors: none of its own.
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "harness/engine/readiness.hpp"
#include "storage/s3/engine.hpp"

namespace feedbench::storage::s3 {

class PlainEngine;

struct PlainLine final : engine::WatchedDescriptor {
    enum class State { idle, connecting, head, body, text };
    explicit PlainLine(PlainEngine& owner, unsigned to) : engine(owner), endpoint(to) {}
    PlainEngine& engine;
    const unsigned endpoint;
    State state = State::idle;
    Transfer* transfer = nullptr; // none while idle, or while the rest of an answer is thrown away
    Answer answer;
    std::string sent, head; // the request; what came of the answer's head
    std::uint64_t left = 0, received = 0;
    std::uint64_t start_ns = 0, first_ns = 0, last_ns = 0, rested_ns = 0;
    bool was_used = false, is_resting = false;
};

struct SocketAddress {
    sockaddr_storage address{};
    socklen_t length = 0; // 0: there is none, or it is https
};

inline SocketAddress resolve(const Endpoint& endpoint) {
    SocketAddress found;
    if (endpoint.scheme != "http") return found;
    std::string host = endpoint.host, port = "80";
    if (const std::size_t colon = host.rfind(':');
        colon != std::string::npos && host.find(']', colon) == std::string::npos) {
        port = host.substr(colon + 1);
        host.resize(colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    addrinfo wanted{}, *list = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &list) != 0) return found;
    std::copy_n(reinterpret_cast<const char*>(list->ai_addr), list->ai_addrlen,
                reinterpret_cast<char*>(&found.address));
    found.length = list->ai_addrlen;
    ::freeaddrinfo(list);
    return found;
}

} // namespace feedbench::storage::s3
