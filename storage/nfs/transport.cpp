#include "storage/nfs/transport.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "harness/types/units.hpp"

namespace feedbench::storage::nfs {

namespace {

// What may be under way on one connection: enough to keep a link of 100 Gbit/s and 1 ms full, little enough that
// libnfs's copies of what is written stay small.
constexpr std::uint64_t kWindowBytes = 16 * kMiB;
constexpr std::uint32_t kWindowCalls = 128;
constexpr std::uint64_t kLookNs = 50'000'000, kRetryNs = 200'000'000;

} // namespace

Transport::Transport(engine::Reactor& reactor, const Settings& settings, std::string numeric_host, std::uint16_t port)
    : reactor_(reactor), settings_(settings) {
    counters_.name = settings.server_text();
    const Connection::Listener listener{[this](Connection& c, Call& call) { on_answered(c, call); },
                                        [this](Connection& c) { on_changed(c); }};
    for (unsigned i = 0; i < settings.connection_count; ++i)
        connections_.push_back(
            std::make_unique<Connection>(reactor.readiness(), settings_, numeric_host, port, listener));
    reactor_.add_source(*this);
}

Transport::~Transport() { reactor_.remove_source(*this); }

void Transport::push_back(Call& call) {
    call.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &call;
    last_ = &call;
}

Call* Transport::pop_front() {
    Call* call = first_;
    if (!call) return nullptr;
    first_ = call->next_;
    if (!first_) last_ = nullptr;
    return call;
}

void Transport::start(Call& call) {
    ++outstanding_;
    ++counters_.request_count;
    call.sent_again = false;
    push_back(call);
}

std::uint64_t Transport::max_sleep_ns() const {
    // What has been started since the last turn leaves in the next one.
    const bool can_leave = first_ && roomiest();
    return can_leave || !failed_.empty() ? 0 : kLookNs;
}

Connection* Transport::roomiest() const {
    Connection* best = nullptr;
    for (const auto& connection : connections_) {
        if (connection->state() != Connection::State::up || connection->call_count() >= kWindowCalls ||
            connection->call_bytes() >= kWindowBytes)
            continue;
        if (!best || connection->call_bytes() < best->call_bytes() ||
            (connection->call_bytes() == best->call_bytes() && connection->call_count() < best->call_count()))
            best = connection.get();
    }
    return best;
}

bool Transport::pump() {
    bool any = false;
    const std::uint64_t now = reactor_.now_ns();
    while (first_) {
        Connection* connection = roomiest();
        if (!connection) break;
        Call& call = *pop_front();
        if (!connection->send(call, now)) fail(call, EIO);
        any = true;
    }
    for (const auto& connection : connections_) connection->flush();
    return any;
}

void Transport::on_answered(Connection& connection, Call& call) {
    const std::uint64_t now = reactor_.now_ns();
    connection.quiet_since_ns = now;
    counters_.last_byte.add(now - call.sent_ns_);
    (call.writes ? counters_.bytes_sent : counters_.bytes_received) += call.bytes;
    --outstanding_;
}

void Transport::on_changed(Connection& connection) {
    if (connection.state() == Connection::State::up) {
        ++counters_.connection_count;
        lost_since_ns_ = 0;
        return;
    }
    // Its calls go first, on whatever connection is there: reads and unstable writes may be done twice.
    const std::vector<Call*> calls = connection.take_unanswered();
    for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
        Call& call = **it;
        call.sent_again = true;
        counters_.retried(RetryCause::connection_lost);
        call.next_ = first_;
        first_ = &call;
        if (!last_) last_ = &call;
    }
    const std::uint64_t now = reactor_.now_ns();
    connection.retry_at_ns = now + kRetryNs;
    if (lost_since_ns_ == 0) lost_since_ns_ = now;
}

void Transport::fail(Call& call, int error) {
    call.error_ = error;
    ++counters_.failed_request_count;
    failed_.push_back(&call);
}

bool Transport::tell_failed() {
    const std::vector<Call*> failed = std::exchange(failed_, {});
    const std::string why = why_;
    for (Call* call : failed) {
        --outstanding_;
        const bool explained = call->error_ != ECANCELED && call->error_ != EIO;
        call->failed(-call->error_, explained ? why : call->error_ == EIO ? "libnfs could not encode the call" : "");
    }
    return !failed.empty();
}

// Opens what is down and needed; gives up what has been silent too long.
bool Transport::look_at_clock(std::uint64_t now) {
    if (outstanding_ == 0) {
        lost_since_ns_ = 0;
        return false;
    }
    bool any_up = false, gave_up = false;
    const Connection* last_broken = nullptr;
    for (const auto& connection : connections_) {
        if (connection->state() == Connection::State::down && now >= connection->retry_at_ns) {
            connection->retry_at_ns = now + kRetryNs;
            connection->connect();
            if (lost_since_ns_ == 0) lost_since_ns_ = now;
        }
        any_up |= connection->state() == Connection::State::up;
        if (connection->state() != Connection::State::up && !connection->why_down().empty())
            last_broken = connection.get();
        const bool waits = connection->state() == Connection::State::up && connection->call_count() > 0;
        if (!waits || now < connection->quiet_since_ns + settings_.timeout_ns) continue;
        why_ = settings_.server_text() + " has answered nothing for " + std::to_string(settings_.timeout_ns / kNsPerS) +
               " s (option timeout)";
        connection->break_off(why_);
        for (Call* call : connection->take_unanswered()) fail(*call, ETIMEDOUT);
        connection->retry_at_ns = now;
        gave_up = true;
    }
    if (any_up || gave_up || lost_since_ns_ == 0 || now < lost_since_ns_ + settings_.timeout_ns) return gave_up;
    const int error = last_broken && last_broken->error_down() != 0 ? last_broken->error_down() : ETIMEDOUT;
    why_ = "the connection to " + settings_.server_text() + " was lost, and for " +
           std::to_string(settings_.timeout_ns / kNsPerS) + " s (option timeout) there was no other" +
           (last_broken ? ": " + last_broken->why_down() : "");
    while (Call* call = pop_front()) fail(*call, error == EIO ? ECONNRESET : error);
    lost_since_ns_ = 0;
    return true;
}

void Transport::cancel() {
    for (const auto& connection : connections_) {
        if (connection->call_count() == 0) continue;
        connection->break_off("cancelled"); // an answer must not land in memory that is somebody else's by then
        for (Call* call : connection->take_unanswered()) fail(*call, ECANCELED);
        connection->retry_at_ns = 0;
    }
    while (Call* call = pop_front()) fail(*call, ECANCELED);
}

bool Transport::poll() {
    bool any = tell_failed();
    if (const std::uint64_t now = reactor_.now_ns(); now >= next_look_ns_ || (first_ && !roomiest())) {
        next_look_ns_ = now + kLookNs;
        any |= look_at_clock(now);
    }
    any |= pump();
    return any;
}

} // namespace feedbench::storage::nfs
