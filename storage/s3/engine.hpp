// Requests side by side on the reactor's loop: libcurl's multi interface, connections kept, retries behind a timer.
//
// Thread: reactor thread. Owner: the backend; a Transfer belongs to its submitter and stays until its end was told.
// Units: bytes, ns. Errors: Transfer::failure after the last attempt. Source: libcurl multi_socket; DESIGN section 4.
#pragma once

#include <memory>
#include <span>

#include "harness/engine/reactor.hpp"
#include "storage/s3/request.hpp"

namespace feedbench::storage::s3 {

// One request until its success or its last failure. Callbacks come on the reactor thread, never from inside start().
class Transfer {
  public:
    virtual ~Transfer() = default;
    Request request;
    Answer answer;                  // of the attempt that counts
    std::optional<Failure> failure; // none after success
    unsigned endpoint = 0;          // index into Config::endpoints
    unsigned attempt = 0;           // from 1
    bool is_last_wish = false;      // cleaning up: sent after cancel_all, too, once and for no longer than 3 s

    // The headers of object data are there (once an attempt) and have been judged good: right range, right ETag. A
    // Failure refuses the answer.
    virtual std::optional<Failure> headers_arrived() { return std::nullopt; }
    // Object data, in order, all of which is taken (what has no place yet, the taker keeps). False: nothing more for
    // now, until Engine::resume. After a failed attempt the next goes on where the data stopped: the engine moves
    // request.offset and request.bytes, and asks for the same ETag.
    virtual bool data_arrived(std::span<const std::byte> data) {
        (void)data;
        return true;
    }
    virtual void ended() = 0; // may destroy the transfer

    // Of a transfer that says so: object data may be received straight into its memory.
    bool takes_in_place = false;
    virtual std::span<std::byte> room() { return {}; }      // for the next bytes; none: not now
    virtual void placed(std::size_t bytes) { (void)bytes; } // so many are there

    // The next attempt asks for what `received` bytes of data did not bring, of the same object.
    void go_on_behind(std::uint64_t received) {
        if (received == 0) return;
        request.has_range = true;
        request.offset += received;
        if (request.bytes > received) request.bytes -= received;
        if (request.if_match.empty()) request.if_match = answer.etag;
    }

    void* engine_state = nullptr;  // engine's own, and what follows
    bool is_on_plain_line = false; // PlainEngine has it, not the engine below
    bool is_passed_on = false;     // an attempt was made already; it is not a request more
};

class Engine {
  public:
    static Expected<std::unique_ptr<Engine>> make(engine::Reactor& reactor, const Config& config, std::string bucket);
    virtual ~Engine() = default;
    virtual void start(Transfer& transfer) = 0;
    virtual void resume(Transfer& transfer) = 0; // one that rests
    // No callback follows. An answer that is nearly whole is read to its end, to keep its connection.
    virtual void abandon(Transfer& transfer) = 0;
    // Every transfer ends soon with ECANCELED; none that is started later is sent, but last wishes.
    virtual void cancel_all() = 0;
    virtual std::vector<EndpointCounters> statistics() const = 0;
};

// An engine around another that carries GETs over http:// itself, where libcurl would copy every byte once more. What
// is not plain (TLS, any other request, chunked answers, connections that cannot be made) goes to the engine below, and
// so does every second attempt. storage/s3/plain_engine.cpp
std::unique_ptr<Engine> make_plain_engine(engine::Reactor& reactor, const Config& config, std::string bucket,
                                          std::unique_ptr<Engine> below);

} // namespace feedbench::storage::s3
