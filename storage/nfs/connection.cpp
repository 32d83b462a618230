#include "storage/nfs/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "storage/nfs/libnfs.hpp"

namespace feedbench::storage::nfs {

int errno_in(const std::string& sentence, int otherwise) {
    for (std::size_t at = sentence.find('('); at != std::string::npos; at = sentence.find('(', at + 1)) {
        char* end = nullptr;
        const long number = std::strtol(sentence.c_str() + at + 1, &end, 10);
        if (*end == ')' && number != 0 && std::abs(number) < 4096) return static_cast<int>(std::abs(number));
    }
    return otherwise;
}

Connection::Connection(engine::Readiness& readiness, const Settings& settings, std::string numeric_host,
                       std::uint16_t port, Listener listener)
    : readiness_(readiness), settings_(settings), host_(std::move(numeric_host)), port_(port),
      listener_(std::move(listener)) {
    ready = on_ready;
}

Connection::~Connection() { drop_context(); }

void Connection::drop_context() {
    readiness_.forget(*this);
    if (!rpc_) return;
    closing_ = true; // libnfs cancels what is queued by calling back
    rpc_destroy_context(rpc_);
    closing_ = false;
    rpc_ = nullptr;
    fd = -1;
}

void Connection::connect() {
    drop_context();
    rpc_ = rpc_init_context();
    if (!rpc_) {
        why_ = "no memory for a connection";
        error_ = ENOMEM;
        return;
    }
    if (settings_.user >= 0) rpc_set_uid(rpc_, settings_.user);
    if (settings_.group >= 0) rpc_set_gid(rpc_, settings_.group);
    state_ = State::connecting;
    if (rpc_connect_port_async(rpc_, host_.c_str(), port_, NFS_PROGRAM, settings_.version, on_connected, this) < 0) {
        const char* text = rpc_get_error(rpc_);
        return break_off(text ? text : "connect failed");
    }
    watch_again();
}

void Connection::break_off(std::string why) {
    error_ = errno_in(why, ECONNRESET);
    why_ = std::move(why);
    state_ = State::down;
    must_flush_ = false;
    drop_context();
}

std::vector<Call*> Connection::take_unanswered() {
    std::vector<Slot*> waiting;
    for (const auto& slot : slots_)
        if (slot->call) waiting.push_back(slot.get());
    std::sort(waiting.begin(), waiting.end(), [](const Slot* a, const Slot* b) { return a->order < b->order; });
    std::vector<Call*> calls;
    for (Slot* slot : waiting) {
        calls.push_back(slot->call);
        slot->call = nullptr;
        free_slots_.push_back(slot);
    }
    call_count_ = 0;
    call_bytes_ = 0;
    return calls;
}

bool Connection::send(Call& call, std::uint64_t now_ns) {
    if (free_slots_.empty()) {
        slots_.push_back(std::make_unique<Slot>());
        slots_.back()->connection = this;
        free_slots_.push_back(slots_.back().get());
    }
    Slot* slot = free_slots_.back();
    if (call.send(rpc_, on_answer, slot) < 0) return false;
    free_slots_.pop_back();
    slot->call = &call;
    slot->order = ++order_;
    if (call_count_++ == 0) quiet_since_ns = now_ns;
    call_bytes_ += call.bytes;
    call.sent_ns_ = now_ns;
    must_flush_ = true;
    return true;
}

void Connection::flush() {
    if (!must_flush_ || state_ != State::up) return;
    must_flush_ = false;
    service(POLLOUT);
}

void Connection::on_answer(rpc_context* rpc, int status, void* data, void* private_data) {
    Slot& slot = *static_cast<Slot*>(private_data);
    Connection& self = *slot.connection;
    if (self.closing_ || !slot.call) return;
    if (status != RPC_STATUS_SUCCESS) {
        // Either the connection breaks or the server refused this one call; service() knows which.
        const char* text = data ? static_cast<const char*>(data) : rpc_get_error(rpc);
        self.refused_.push_back({&slot, text ? text : "no reason given"});
        return;
    }
    self.release(slot).answered(data);
}

Call& Connection::release(Slot& slot) {
    Call& call = *slot.call;
    slot.call = nullptr;
    free_slots_.push_back(&slot);
    --call_count_;
    call_bytes_ -= call.bytes;
    listener_.answered_one(*this, call);
    return call;
}

void Connection::on_connected(rpc_context* rpc, int status, void* data, void* connection) {
    Connection& self = *static_cast<Connection*>(connection);
    if (self.closing_) return;
    if (status == RPC_STATUS_SUCCESS) {
        self.state_ = State::up;
        return;
    }
    const char* text = data ? static_cast<const char*>(data) : rpc_get_error(rpc);
    self.error_ = errno_in(text ? text : "", ECONNREFUSED);
    self.why_ = text ? text : "connection failed";
    self.state_ = State::down; // service() goes on from here
}

void Connection::on_ready(engine::WatchedDescriptor& descriptor, unsigned events) {
    auto& self = static_cast<Connection&>(descriptor);
    int poll_events = 0;
    if (events & engine::kReadable) poll_events |= POLLIN;
    if (events & engine::kWritable) poll_events |= POLLOUT;
    // Also of a connection that the server has closed the last answers are still there to be read.
    if ((events & engine::kBroken) && !(events & engine::kReadable)) poll_events |= POLLERR;
    self.service(poll_events);
}

void Connection::service(int poll_events) {
    const State before = state_;
    const bool alive = rpc_service(rpc_, poll_events) >= 0 && state_ != State::down;
    if (!alive) {
        refused_.clear(); // their slots stay filled, so that take_unanswered() finds the calls
        const char* text = rpc_get_error(rpc_);
        std::string why = !why_.empty() && before == State::connecting && state_ == State::down ? why_
                          : text && *text                                                       ? std::string(text)
                                          : "the server closed the connection";
        break_off(std::move(why));
        return listener_.changed(*this);
    }
    const auto refused = std::exchange(refused_, {});
    for (const auto& [slot, why] : refused) release(*slot).failed(-EIO, "the server refused the call: " + why);
    watch_again();
    if (state_ != before) {
        why_.clear();
        listener_.changed(*this);
    }
}

void Connection::watch_again() {
    const int now_fd = rpc_get_fd(rpc_);
    if (now_fd != fd) {
        readiness_.forget(*this);
        fd = now_fd;
    }
    const int asked = rpc_which_events(rpc_);
    const unsigned events = ((asked & POLLIN) ? engine::kReadable : 0U) | ((asked & POLLOUT) ? engine::kWritable : 0U);
    if (auto status = readiness_.watch(*this, events); !status) {
        break_off(status.error().describe());
        listener_.changed(*this);
    }
}

} // namespace feedbench::storage::nfs
