// One TCP connection to an NFS server, and the calls that travel on it.
//
// Thread: reactor thread. Owner: Transport owns connections; a Call belongs to who made it and stays where it is until
// answered() or failed(). Units: bytes, ns. Errors: as -errno and a sentence. Source: libnfs 4.0.0's raw interface
// (nfsc/libnfs-raw.h): one rpc_context a connection, driven by its descriptor's readiness; RFC 1813.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/engine/readiness.hpp"
#include "storage/nfs/address.hpp"
#include "storage/nfs/libnfs.hpp"

namespace feedbench::storage::nfs {

// One request. Exactly one of answered() and failed() follows a Transport::start().
class Call {
  public:
    virtual ~Call() = default;
    // Gives the request to libnfs (rpc_nfs3_..._async with `answer` and `slot`); negative: it could not be encoded.
    // Called again where the connection broke before the answer: `sent_again` is set then.
    virtual int send(rpc_context* rpc, rpc_cb answer, void* slot) = 0;
    // `result`: libnfs's result of this kind of call, gone afterwards. May start calls, this one included.
    virtual void answered(void* result) = 0;
    virtual void failed(int error, const std::string& why) = 0;

    std::uint64_t bytes = 0; // of data that travel with it, either way
    bool writes = false;     // ...to the server
    bool sent_again = false;

  private:
    friend class Connection;
    friend class Transport;
    std::uint64_t sent_ns_ = 0;
    int error_ = 0; // Transport: to be told in its turn
    Call* next_ = nullptr;
};

class Connection final : public engine::WatchedDescriptor {
  public:
    // What the connection tells its owner, from service() and so in the reactor's turn.
    struct Listener {
        std::function<void(Connection&, Call&)> answered_one; // before the call hears of it
        std::function<void(Connection&)> changed;             // came up, or broke: look at state()
    };
    enum class State : std::uint8_t { down, connecting, up };

    Connection(engine::Readiness& readiness, const Settings& settings, std::string numeric_host, std::uint16_t port,
               Listener listener);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    State state() const { return state_; }
    const std::string& why_down() const { return why_; } // empty: never failed
    int error_down() const { return error_; }            // errno

    void connect();                  // state() is connecting, or down where that failed at once
    void break_off(std::string why); // takes the calls down with it: they are unsent, see take_unanswered()
    // False: libnfs could not encode it. What was queued leaves with flush().
    bool send(Call& call, std::uint64_t now_ns);
    void flush();
    // Calls that were on a connection when it broke, oldest first.
    std::vector<Call*> take_unanswered();

    std::uint32_t call_count() const { return call_count_; }
    std::uint64_t call_bytes() const { return call_bytes_; }
    std::uint64_t quiet_since_ns = 0; // the last answer, or when it began to wait for one
    std::uint64_t retry_at_ns = 0;    // Transport's: when to connect again

  private:
    struct Slot {
        Connection* connection = nullptr;
        Call* call = nullptr;
        std::uint64_t order = 0;
    };
    static void on_answer(rpc_context* rpc, int status, void* data, void* slot);
    static void on_connected(rpc_context* rpc, int status, void* data, void* connection);
    static void on_ready(engine::WatchedDescriptor& self, unsigned events);
    void service(int poll_events);
    Call& release(Slot& slot);
    void watch_again();
    void drop_context();

    engine::Readiness& readiness_;
    const Settings& settings_;
    const std::string host_;
    const std::uint16_t port_;
    const Listener listener_;
    State state_ = State::down;
    rpc_context* rpc_ = nullptr;
    bool closing_ = false, must_flush_ = false;
    std::string why_;
    int error_ = 0;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<Slot*> free_slots_;
    std::vector<std::pair<Slot*, std::string>> refused_; // answered with an error since service() was entered
    std::uint64_t order_ = 0, call_bytes_ = 0;
    std::uint32_t call_count_ = 0;
};

// The errno that libnfs's sentence ends in, "...Connection refused(111)..."; `otherwise` where there is none.
int errno_in(const std::string& sentence, int otherwise);

} // namespace feedbench::storage::nfs
