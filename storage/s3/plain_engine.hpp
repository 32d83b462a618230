// GETs over plain HTTP/1.1 with data received where its reader wants it: the class behind make_plain_engine
// (engine.hpp). Internal to storage/s3/plain_*.cpp.
//
// Thread: reactor thread. Owner: the backend, as an Engine. Units: bytes, ns. Errors: a first attempt that fails is
// judged like any other, and what is to be tried again goes to the engine below.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "storage/s3/back_off.hpp"
#include "storage/s3/plain_line.hpp"

namespace feedbench::storage::s3 {

class PlainEngine final : public Engine {
  public:
    PlainEngine(engine::Reactor& reactor, const Config& config, std::string bucket, std::unique_ptr<Engine> below);
    ~PlainEngine() override;
    PlainEngine(const PlainEngine&) = delete;
    PlainEngine& operator=(const PlainEngine&) = delete;

    void start(Transfer& transfer) override;
    void resume(Transfer& transfer) override;
    void abandon(Transfer& transfer) override;
    void cancel_all() override;
    std::vector<EndpointCounters> statistics() const override;

  private:
    struct Patience : engine::Timer {
        PlainEngine* engine = nullptr;
    };
    // A transfer that goes to the engine below after its pause.
    struct Waiting : engine::Timer {
        PlainEngine* engine = nullptr;
        Transfer* transfer = nullptr;
    };

    std::string request_text(Transfer& transfer);

    // ---- a line from its request to its answer's end ----

    PlainLine* idle_line(unsigned endpoint);
    void begin(PlainLine& line, Transfer& transfer);
    void connect(PlainLine& line);
    void send(PlainLine& line);
    void reconnect(PlainLine& line);

    void ready(PlainLine& line);

    void receive_head(PlainLine& line);
    void end_head(PlainLine& line, std::size_t head_bytes);
    void receive_body(PlainLine& line);
    void receive_text(PlainLine& line);

    void rest(PlainLine& line);
    void wake(PlainLine& line);

    // ---- ends ----

    void finish(PlainLine& line);
    void lost(PlainLine& line);
    void failed(PlainLine& line, Failure failure);
    // Tried again by the engine below, or told.
    void conclude(Transfer& transfer, Failure failure, std::uint64_t received);
    void end(Transfer& transfer, std::optional<Failure> failure);
    // Nothing for this engine, and no attempt: the one below begins anew, from the loop.
    void pass_on_later(PlainLine& line);
    void wait_and_pass_on(Transfer& transfer, std::uint64_t until_ns);
    void forget_waiting(const Transfer& transfer);

    void shut(PlainLine& line);
    void close(PlainLine& line);

    void watch_for_silence();
    void look_for_silence();

    engine::Reactor& reactor_;
    const Config config_;
    const std::string bucket_;
    std::unique_ptr<Engine> below_;
    Signer signer_;
    BackOff back_off_;
    std::vector<EndpointCounters> counters_;
    std::vector<SocketAddress> addresses_; // of the endpoints
    std::list<PlainLine> lines_;
    std::list<Waiting> waiting_;
    std::vector<std::byte> scratch_;
    Patience patience_;
    bool is_cancelled_ = false;
};

} // namespace feedbench::storage::s3
