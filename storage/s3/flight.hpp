// A transfer under way over libcurl: its handle, or the pause before it is sent again. Internal to
// storage/s3/engine.cpp.
//
// Thread: reactor thread. Owner: the engine. Units: ns. Errors: none of its own.
#pragma once

#include "storage/s3/easy.hpp"
#include "storage/s3/engine.hpp"

namespace feedbench::storage::s3 {

// Whose answer is read to its end for the sake of its connection.
struct Nobody final : Transfer {
    void ended() override {}
};

class FlightOwner;

// One transfer under way: its handle, or the pause before it is sent again.
struct Flight final : engine::Timer, AnswerSink {
    Flight(FlightOwner& of, engine::Reactor& loop, const Config& config, const std::string& bucket)
        : owner(of), reactor(loop), easy(config, bucket) {}
    std::optional<Failure> headers_arrived() override { return transfer->headers_arrived(); }
    bool data_arrived(std::span<const std::byte> data) override {
        if (transfer->data_arrived(data)) return true;
        is_resting = true;
        rests_since_ns = reactor.now_ns();
        return false;
    }
    FlightOwner& owner;
    engine::Reactor& reactor;
    Easy easy;
    Nobody nobody;
    Transfer* transfer = nullptr;
    std::uint64_t rested_ns = 0, rests_since_ns = 0;
    bool is_added = false, is_resting = false;
};

class FlightOwner {
  public:
    virtual void pause_ended(Flight& flight) = 0;

  protected:
    ~FlightOwner() = default;
};

} // namespace feedbench::storage::s3
