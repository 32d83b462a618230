#if FEEDBENCH_HAS_CURL
#include "storage/s3/engine.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <new>

#include "harness/engine/readiness.hpp"
#include "storage/s3/back_off.hpp"
#include "storage/s3/flight.hpp"

namespace feedbench::storage::s3 {

namespace {

class CurlEngine final : public Engine, public FlightOwner {
  public:
    CurlEngine(engine::Reactor& reactor, const Config& config, std::string bucket)
        : reactor_(reactor), config_(config), bucket_(std::move(bucket)), signer_(config.credentials, config.region),
          back_off_(config, ~std::uint64_t{0}), counters_(config.endpoints.size()), multi_(curl_multi_init()) {
        if (multi_ == nullptr) throw std::bad_alloc();
        for (std::size_t i = 0; i < counters_.size(); ++i) counters_[i].name = config_.endpoints[i].url();
        set(CURLMOPT_SOCKETFUNCTION, on_socket);
        set(CURLMOPT_SOCKETDATA, static_cast<void*>(this));
        set(CURLMOPT_TIMERFUNCTION, on_timer);
        set(CURLMOPT_TIMERDATA, static_cast<void*>(this));
        set(CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
        set(CURLMOPT_MAXCONNECTS, 1024L); // kept for later requests
        clock_.engine = this;
        clock_.late_allowed_ns = 1'000'000;
        clock_.fire = [](engine::Timer& timer) { static_cast<CurlTimer&>(timer).engine->act(CURL_SOCKET_TIMEOUT, 0); };
    }
    ~CurlEngine() override {
        while (!flying_.empty()) drop(*flying_.back());
        idle_.clear();
        curl_multi_cleanup(multi_); // closes the connections, and tells of their sockets for the last time
        for (const auto& socket : sockets_) reactor_.readiness().forget(*socket);
        reactor_.cancel_timer(clock_);
    }
    CurlEngine(const CurlEngine&) = delete;
    CurlEngine& operator=(const CurlEngine&) = delete;

    void start(Transfer& transfer) override {
        if (idle_.empty()) idle_.push_back(std::make_unique<Flight>(*this, reactor_, config_, bucket_));
        Flight& flight = *idle_.back().release();
        idle_.pop_back();
        flying_.push_back(&flight);
        flight.transfer = &transfer;
        transfer.engine_state = &flight;
        transfer.failure.reset();
        if (!transfer.is_passed_on) {
            transfer.attempt = 0;
            ++counters_[transfer.endpoint].request_count;
        }
        if (is_cancelled_ && !transfer.is_last_wish)
            send_at(flight, reactor_.now_ns()); // its end is told from the loop, not from here
        else
            send(flight);
    }

    void resume(Transfer& transfer) override {
        Flight& flight = flight_of(transfer);
        if (!flight.is_resting) return;
        flight.is_resting = false;
        flight.rested_ns += reactor_.now_ns() - flight.rests_since_ns;
        flight.easy.resume();
    }

    void abandon(Transfer& transfer) override {
        constexpr std::uint64_t kWorthAConnection = 256 * 1024;
        Flight& flight = flight_of(transfer);
        if (!flight.is_added || !flight.easy.is_object_data() || flight.easy.left_bytes() > kWorthAConnection) {
            drop(flight);
            return;
        }
        flight.nobody.endpoint = transfer.endpoint;
        flight.nobody.attempt = config_.attempts;
        flight.easy.redirect(flight.nobody.request, flight.nobody.answer, flight);
        if (flight.is_resting) resume(transfer);
        transfer.engine_state = nullptr;
        flight.transfer = &flight.nobody;
    }

    void cancel_all() override {
        is_cancelled_ = true;
        const std::vector<Flight*> all = flying_;
        for (Flight* flight : all) { // an end may have abandoned others, or have begun a last wish
            const bool is_flying = std::find(flying_.begin(), flying_.end(), flight) != flying_.end();
            if (is_flying && !flight->transfer->is_last_wish) end(*flight, cancelled());
        }
    }

    std::vector<EndpointCounters> statistics() const override { return counters_; }

  private:
    struct Socket : engine::WatchedDescriptor {
        CurlEngine* engine = nullptr;
    };
    struct CurlTimer : engine::Timer {
        CurlEngine* engine = nullptr;
    };
    struct Finished {
        Flight* flight;
        CURLcode code;
    };

    template <class Value>
    void set(CURLMoption option, Value value) {
        curl_multi_setopt(multi_, option, value);
    }
    static Flight& flight_of(Transfer& transfer) {
        assert(transfer.engine_state);
        return *static_cast<Flight*>(transfer.engine_state);
    }
    static Failure cancelled() { return {std::nullopt, ECANCELED, "the run is being stopped"}; }

    // ---- a flight from its start to its end ----

    void send(Flight& flight) {
        Transfer& transfer = *flight.transfer;
        ++transfer.attempt;
        flight.easy.aim(prepare(config_, config_.endpoints[transfer.endpoint], bucket_, signer_, transfer.request,
                                engine::unix_time_s()),
                        transfer.request, transfer.answer, flight);
        flight.rested_ns = 0;
        curl_easy_setopt(flight.easy.handle(), CURLOPT_TIMEOUT_MS, is_cancelled_ ? 3000L : 0L);
        curl_easy_setopt(flight.easy.handle(), CURLOPT_PRIVATE, static_cast<void*>(&flight));
        curl_multi_add_handle(multi_, flight.easy.handle());
        flight.is_added = true;
    }

    void send_at(Flight& flight, std::uint64_t time_ns) {
        flight.deadline_ns = time_ns;
        flight.late_allowed_ns = 1'000'000;
        flight.fire = [](engine::Timer& timer) {
            auto& self = static_cast<Flight&>(timer);
            self.owner.pause_ended(self);
        };
        reactor_.set_timer(flight);
    }

    void pause_ended(Flight& flight) override {
        if (is_cancelled_ && !flight.transfer->is_last_wish)
            end(flight, cancelled());
        else
            send(flight);
    }

    void take_off_line(Flight& flight) {
        if (flight.is_added) curl_multi_remove_handle(multi_, flight.easy.handle());
        flight.is_added = flight.is_resting = false;
    }

    // Nothing is told any more.
    void drop(Flight& flight) {
        reactor_.cancel_timer(flight);
        take_off_line(flight);
        for (Finished& finished : finished_)
            if (finished.flight == &flight) finished.flight = nullptr;
        flight.transfer->engine_state = nullptr;
        flight.transfer = nullptr;
        std::erase(flying_, &flight);
        idle_.push_back(std::unique_ptr<Flight>(&flight));
    }

    void end(Flight& flight, std::optional<Failure> failure) {
        Transfer& transfer = *flight.transfer;
        if (failure && failure->errno_value != ENOENT) ++counters_[transfer.endpoint].failed_request_count;
        transfer.failure = std::move(failure);
        drop(flight);
        transfer.ended();
    }

    void finish(Flight& flight, CURLcode code) {
        Transfer& transfer = *flight.transfer;
        take_off_line(flight);
        std::optional<Failure> failure = flight.easy.outcome(code, config_.endpoints[transfer.endpoint]);
        count(flight, failure);
        if (!failure || !failure->retry || transfer.attempt >= config_.attempts || is_cancelled_) {
            if (failure && failure->retry && transfer.attempt > 1)
                failure->message += "; given up after " + std::to_string(transfer.attempt) + " attempts";
            end(flight, std::move(failure));
            return;
        }
        counters_[transfer.endpoint].retried(*failure->retry);
        if (*failure->retry == RetryCause::connect || *failure->retry == RetryCause::timed_out)
            transfer.endpoint = (transfer.endpoint + 1) % static_cast<unsigned>(counters_.size());
        transfer.go_on_behind(flight.easy.received_bytes());
        send_at(flight, reactor_.now_ns() + back_off_.pause_ns(transfer.attempt));
    }

    void count(const Flight& flight, const std::optional<Failure>& failure) {
        EndpointCounters& c = counters_[flight.transfer->endpoint];
        c.connection_count += flight.easy.connection_count();
        c.retry_count[static_cast<std::size_t>(RetryCause::connection_lost)] += flight.easy.silent_retry_count();
        c.bytes_received += flight.easy.received_bytes();
        if (failure) return;
        c.bytes_sent += flight.transfer->request.body.size();
        c.first_byte.add(flight.easy.first_byte_ns());
        const std::uint64_t whole = flight.easy.whole_ns();
        c.last_byte.add(whole > flight.rested_ns ? whole - flight.rested_ns : 0); // rest was the reader's wish
    }

    // ---- libcurl's sockets and clock ----

    void act(curl_socket_t socket, int events) {
        int running = 0;
        curl_multi_socket_action(multi_, socket, events, &running);
        int left = 0;
        finished_.clear();
        while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            void* flight = nullptr;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &flight);
            finished_.push_back({static_cast<Flight*>(flight), message->data.result});
        }
        for (std::size_t i = 0; i < finished_.size(); ++i) // an end may abandon others
            if (finished_[i].flight) finish(*finished_[i].flight, finished_[i].code);
        finished_.clear();
    }

    static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void* known) {
        static_cast<CurlEngine*>(self)->watch(fd, what, static_cast<Socket*>(known));
        return 0;
    }
    void watch(curl_socket_t fd, int what, Socket* socket) {
        if (what == CURL_POLL_REMOVE) {
            if (socket == nullptr) return;
            reactor_.readiness().forget(*socket);
            std::erase_if(sockets_, [socket](const auto& each) { return each.get() == socket; });
            return;
        }
        if (socket == nullptr) {
            socket = sockets_.emplace_back(std::make_unique<Socket>()).get();
            socket->fd = fd;
            socket->engine = this;
            socket->ready = [](engine::WatchedDescriptor& watched, unsigned events) {
                const int seen = ((events & engine::kReadable) != 0 ? CURL_CSELECT_IN : 0) |
                                 ((events & engine::kWritable) != 0 ? CURL_CSELECT_OUT : 0) |
                                 ((events & engine::kBroken) != 0 ? CURL_CSELECT_ERR : 0);
                static_cast<Socket&>(watched).engine->act(watched.fd, seen); // may destroy `watched`
            };
            curl_multi_assign(multi_, fd, socket);
        }
        const unsigned events = ((what & CURL_POLL_IN) != 0 ? engine::kReadable : 0) |
                                ((what & CURL_POLL_OUT) != 0 ? engine::kWritable : 0);
        // A descriptor that cannot be watched tells nothing: the idle time-out ends its transfer with a message.
        (void)reactor_.readiness().watch(*socket, events).has_value();
    }

    static int on_timer(CURLM*, long timeout_ms, void* self) {
        auto& e = *static_cast<CurlEngine*>(self);
        if (timeout_ms < 0) {
            e.reactor_.cancel_timer(e.clock_);
            return 0;
        }
        e.clock_.deadline_ns = e.reactor_.now_ns() + static_cast<std::uint64_t>(timeout_ms) * 1'000'000;
        e.reactor_.set_timer(e.clock_);
        return 0;
    }

    engine::Reactor& reactor_;
    const Config config_;
    const std::string bucket_;
    Signer signer_;
    BackOff back_off_;
    std::vector<EndpointCounters> counters_;
    CURLM* multi_;
    CurlTimer clock_;
    std::vector<std::unique_ptr<Socket>> sockets_;
    std::vector<std::unique_ptr<Flight>> idle_; // handles, set up; the last used is used first
    std::vector<Flight*> flying_;               // owned
    std::vector<Finished> finished_;
    bool is_cancelled_ = false;
};

} // namespace

Expected<std::unique_ptr<Engine>> Engine::make(engine::Reactor& reactor, const Config& config, std::string bucket) {
    start_libcurl();
    std::unique_ptr<Engine> engine = std::make_unique<CurlEngine>(reactor, config, bucket);
    if (!config.in_place) return engine;
    return make_plain_engine(reactor, config, std::move(bucket), std::move(engine));
}

} // namespace feedbench::storage::s3
#endif
