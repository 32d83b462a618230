// The connections to one NFS server: spreads calls over them, opens broken ones again, gives up in time.
//
// Thread: reactor thread. Owner: the backend; destroyed after the last call was answered, failed or cancelled. Units:
// bytes, ns. Errors: a call fails with -ETIMEDOUT, or the errno of the last attempt to connect, when the server has not
// been heard of for Settings::timeout_ns. Source: what kernel clients do (nfs(5): nconnect, timeo), with an end to it:
// libnfs by itself would try for ever.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "harness/types/endpoint_counters.hpp"
#include "storage/nfs/connection.hpp"

namespace feedbench::storage::nfs {

class Transport final : public engine::EventSource {
  public:
    Transport(engine::Reactor& reactor, const Settings& settings, std::string numeric_host, std::uint16_t port);
    ~Transport() override;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // Never answers inside: the call hears in a later turn.
    void start(Call& call);
    // Every call that was started fails with -ECANCELED in the next turn. The connections are given up and opened again
    // at need.
    void cancel();
    const EndpointCounters& counters() const { return counters_; }

    bool poll() override;
    bool is_active() const override { return outstanding_ > 0; }
    std::uint64_t max_sleep_ns() const override;

  private:
    void on_answered(Connection& connection, Call& call);
    void on_changed(Connection& connection);
    bool pump();
    bool look_at_clock(std::uint64_t now_ns);
    bool tell_failed();
    void fail(Call& call, int error);
    Connection* roomiest() const;
    void push_back(Call& call);
    Call* pop_front();

    engine::Reactor& reactor_;
    const Settings& settings_;
    std::vector<std::unique_ptr<Connection>> connections_;
    Call* first_ = nullptr; // waiting for room, or for a connection
    Call* last_ = nullptr;
    std::vector<Call*> failed_; // to be told in the next turn
    std::string why_;           // of those with -ETIMEDOUT and the like
    std::uint32_t outstanding_ = 0;
    std::uint64_t lost_since_ns_ = 0; // since when there is no connection at all; 0: there is one, or none was needed
    std::uint64_t next_look_ns_ = 0;
    EndpointCounters counters_;
};

} // namespace feedbench::storage::nfs
