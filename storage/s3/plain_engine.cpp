// Which transfers go over lines, and what becomes of those that end; how bytes come: plain_receive.cpp.
#if FEEDBENCH_HAS_CURL
#include "storage/s3/plain_engine.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "storage/s3/answer_lines.hpp"

namespace feedbench::storage::s3 {

namespace {
constexpr std::uint64_t kReadToItsEnd = 256 * 1024; // so much of an answer is read to its end to keep one
}

PlainEngine::PlainEngine(engine::Reactor& reactor, const Config& config, std::string bucket,
                         std::unique_ptr<Engine> below)
    : reactor_(reactor), config_(config), bucket_(std::move(bucket)), below_(std::move(below)),
      signer_(config.credentials, config.region), back_off_(config, ~std::uint64_t{1}),
      counters_(config.endpoints.size()) {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
        counters_[i].name = config_.endpoints[i].url();
        // Buckets in the host's name are hosts of their own: libcurl looks them up.
        addresses_.push_back(config.addressing == Addressing::path ? resolve(config_.endpoints[i]) : SocketAddress{});
    }
    patience_.engine = this;
    patience_.late_allowed_ns = 10'000'000;
    patience_.fire = [](engine::Timer& timer) { static_cast<Patience&>(timer).engine->look_for_silence(); };
}

PlainEngine::~PlainEngine() {
    reactor_.cancel_timer(patience_);
    for (Waiting& waiting : waiting_) reactor_.cancel_timer(waiting);
    while (!lines_.empty()) close(lines_.front());
}

void PlainEngine::start(Transfer& transfer) {
    const bool is_plain = transfer.takes_in_place && addresses_[transfer.endpoint].length > 0 && !is_cancelled_;
    transfer.is_passed_on = false;
    transfer.is_on_plain_line = is_plain;
    if (!is_plain) {
        below_->start(transfer);
        return;
    }
    transfer.failure.reset();
    transfer.attempt = 1;
    ++counters_[transfer.endpoint].request_count;
    PlainLine* line = idle_line(transfer.endpoint);
    if (line == nullptr) line = &lines_.emplace_back(*this, transfer.endpoint);
    line->sent = request_text(transfer);
    begin(*line, transfer);
}

void PlainEngine::resume(Transfer& transfer) {
    if (!transfer.is_on_plain_line) return below_->resume(transfer);
    if (auto* line = static_cast<PlainLine*>(transfer.engine_state); line != nullptr && line->is_resting) wake(*line);
}

void PlainEngine::abandon(Transfer& transfer) {
    if (!transfer.is_on_plain_line) return below_->abandon(transfer);
    auto* line = static_cast<PlainLine*>(std::exchange(transfer.engine_state, nullptr));
    if (line == nullptr) { // between two attempts
        forget_waiting(transfer);
        return;
    }
    line->transfer = nullptr;
    if (line->state != PlainLine::State::body || line->left > kReadToItsEnd)
        close(*line);
    else if (line->is_resting)
        wake(*line);
}

void PlainEngine::cancel_all() {
    is_cancelled_ = true;
    std::vector<Transfer*> all;
    for (PlainLine& line : lines_)
        if (line.transfer) all.push_back(line.transfer);
    for (Waiting& waiting : waiting_) all.push_back(waiting.transfer);
    for (Transfer* transfer : all) {
        abandon(*transfer);
        end(*transfer, Failure{std::nullopt, ECANCELED, "the run is being stopped"});
    }
    below_->cancel_all();
}

std::vector<EndpointCounters> PlainEngine::statistics() const {
    std::vector<EndpointCounters> all = below_->statistics();
    for (std::size_t i = 0; i < all.size(); ++i) all[i].merge(counters_[i]);
    return all;
}

std::string PlainEngine::request_text(Transfer& transfer) {
    const Endpoint& endpoint = config_.endpoints[transfer.endpoint];
    const Prepared prepared = prepare(config_, endpoint, bucket_, signer_, transfer.request, engine::unix_time_s());
    const std::size_t path = prepared.url.find('/', endpoint.scheme.size() + 3);
    std::string text = "GET " + prepared.url.substr(path) + " HTTP/1.1\r\nHost: " + endpoint.host +
                       "\r\nUser-Agent: feedbench/" FEEDBENCH_VERSION "\r\nAccept: */*\r\n";
    for (const auto& [name, value] : prepared.headers) text.append(name).append(": ").append(value).append("\r\n");
    return text + "\r\n";
}

PlainLine* PlainEngine::idle_line(unsigned endpoint) {
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
        if (line->state == PlainLine::State::idle && line->endpoint == endpoint && line->fd >= 0) return &*line;
    return nullptr;
}

void PlainEngine::begin(PlainLine& line, Transfer& transfer) {
    line.transfer = &transfer;
    transfer.engine_state = &line;
    line.answer = Answer{};
    line.head.clear();
    line.received = line.first_ns = line.rested_ns = 0;
    line.start_ns = line.last_ns = reactor_.now_ns();
    if (patience_.heap_position == engine::Timer::kNotQueued) watch_for_silence();
    if (line.fd >= 0)
        send(line);
    else
        connect(line);
}

void PlainEngine::finish(PlainLine& line) {
    Transfer* transfer = line.transfer;
    EndpointCounters& c = counters_[line.endpoint];
    c.bytes_received += line.received;
    line.was_used = true;
    line.state = PlainLine::State::idle;
    line.transfer = nullptr;
    const bool keeps = line.answer.keeps_connection;
    const bool is_data = transfer && is_data_answer(transfer->request, line.answer);
    const std::uint64_t first = line.first_ns - line.start_ns;
    const std::uint64_t whole = reactor_.now_ns() - line.start_ns - line.rested_ns;
    if (!keeps) close(line);
    if (transfer == nullptr) return;
    transfer->engine_state = nullptr;
    if (!is_data) {
        auto failure = judge(config_, bucket_, transfer->request, transfer->answer, engine::unix_time_s());
        if (failure) return conclude(*transfer, std::move(*failure), 0);
    }
    c.first_byte.add(first);
    c.last_byte.add(whole);
    end(*transfer, std::nullopt);
}

void PlainEngine::lost(PlainLine& line) {
    const std::string& where = counters_[line.endpoint].name;
    if (line.state == PlainLine::State::body)
        failed(line, {RetryCause::short_body, EIO, where + " closed the connection in the middle of a body"});
    else
        failed(line, {RetryCause::connection_lost, ECONNRESET, "the connection to " + where + " was lost"});
}

void PlainEngine::failed(PlainLine& line, Failure failure) {
    Transfer* transfer = line.transfer;
    const std::uint64_t received = line.received;
    counters_[line.endpoint].bytes_received += received;
    close(line);
    if (transfer) conclude(*transfer, std::move(failure), received);
}

void PlainEngine::conclude(Transfer& transfer, Failure failure, std::uint64_t received) {
    transfer.engine_state = nullptr;
    if (!failure.retry || config_.attempts == 1 || is_cancelled_) return end(transfer, std::move(failure));
    EndpointCounters& c = counters_[transfer.endpoint];
    c.retried(*failure.retry);
    if (*failure.retry == RetryCause::timed_out)
        transfer.endpoint = (transfer.endpoint + 1) % static_cast<unsigned>(counters_.size());
    transfer.go_on_behind(received);
    wait_and_pass_on(transfer, reactor_.now_ns() + back_off_.pause_ns(1));
}

void PlainEngine::end(Transfer& transfer, std::optional<Failure> failure) {
    if (failure && failure->errno_value != ENOENT) ++counters_[transfer.endpoint].failed_request_count;
    transfer.failure = std::move(failure);
    transfer.ended();
}

void PlainEngine::pass_on_later(PlainLine& line) {
    Transfer* transfer = line.transfer;
    close(line);
    if (transfer == nullptr) return;
    transfer->engine_state = nullptr;
    transfer->attempt = 0;
    wait_and_pass_on(*transfer, reactor_.now_ns());
}

void PlainEngine::wait_and_pass_on(Transfer& transfer, std::uint64_t until_ns) {
    Waiting& waiting = waiting_.emplace_back();
    waiting.engine = this;
    waiting.transfer = &transfer;
    waiting.deadline_ns = until_ns;
    waiting.late_allowed_ns = 1'000'000;
    waiting.fire = [](engine::Timer& timer) {
        auto& self = static_cast<Waiting&>(timer);
        PlainEngine& engine = *self.engine;
        Transfer& next = *self.transfer;
        engine.forget_waiting(next);
        next.is_on_plain_line = false;
        next.is_passed_on = true;
        engine.below_->start(next);
    };
    reactor_.set_timer(waiting);
}

void PlainEngine::forget_waiting(const Transfer& transfer) {
    for (auto waiting = waiting_.begin(); waiting != waiting_.end(); ++waiting)
        if (waiting->transfer == &transfer) {
            reactor_.cancel_timer(*waiting);
            waiting_.erase(waiting);
            return;
        }
}

void PlainEngine::close(PlainLine& line) {
    shut(line);
    lines_.remove_if([&line](const PlainLine& each) { return &each == &line; });
}

void PlainEngine::watch_for_silence() {
    patience_.deadline_ns = reactor_.now_ns() + std::min<std::uint64_t>(config_.idle_timeout_ns / 4, 1'000'000'000);
    reactor_.set_timer(patience_);
}

void PlainEngine::look_for_silence() {
    const std::uint64_t now = reactor_.now_ns();
    std::vector<PlainLine*> silent;
    bool is_busy = false;
    for (PlainLine& line : lines_) {
        if (line.state == PlainLine::State::idle || line.is_resting) continue;
        is_busy = true;
        const bool connects = line.state == PlainLine::State::connecting;
        if (now - line.last_ns > (connects ? config_.connect_timeout_ns : config_.idle_timeout_ns))
            silent.push_back(&line);
    }
    for (PlainLine* line : silent) // an end may have closed others: those told of are still there
        if (std::any_of(lines_.begin(), lines_.end(), [line](const PlainLine& each) { return &each == line; }))
            failed(*line, {RetryCause::timed_out, ETIMEDOUT, "no byte came from " + counters_[line->endpoint].name});
    if (is_busy) watch_for_silence();
}

std::unique_ptr<Engine> make_plain_engine(engine::Reactor& reactor, const Config& config, std::string bucket,
                                          std::unique_ptr<Engine> below) {
    return std::make_unique<PlainEngine>(reactor, config, std::move(bucket), std::move(below));
}

} // namespace feedbench::storage::s3
#endif
