// What comes over a line: connection, head, body or text of an answer.
#if FEEDBENCH_HAS_CURL
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "storage/s3/answer_lines.hpp"
#include "storage/s3/plain_engine.hpp"

namespace feedbench::storage::s3 {

namespace {
constexpr std::size_t kHeadBytes = 16 * 1024;        // of an answer; some body comes with it
constexpr std::uint64_t kBytesPerTurn = 1 << 20;     // of one connection, so that others have their turn
constexpr std::uint64_t kMostErrorBytes = 64 * 1024; // of an error
} // namespace

void PlainEngine::connect(PlainLine& line) {
    const SocketAddress& to = addresses_[line.endpoint];
    line.was_used = false;
    line.state = PlainLine::State::connecting;
    line.fd = ::socket(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int one = 1;
    if (line.fd >= 0) ::setsockopt(line.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    line.ready = [](engine::WatchedDescriptor& watched, unsigned) {
        auto& self = static_cast<PlainLine&>(watched);
        self.engine.ready(self);
    };
    if (line.fd < 0 ||
        (::connect(line.fd, reinterpret_cast<const sockaddr*>(&to.address), to.length) != 0 && errno != EINPROGRESS) ||
        !reactor_.readiness().watch(line, engine::kWritable)) {
        pass_on_later(line);
        return;
    }
    ++counters_[line.endpoint].connection_count;
}

void PlainEngine::send(PlainLine& line) {
    line.state = PlainLine::State::head;
    const ssize_t sent = ::send(line.fd, line.sent.data(), line.sent.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(line.sent.size())) return;
    if (line.was_used)
        reconnect(line); // closed by the server while it lay idle
    else
        pass_on_later(line);
}

void PlainEngine::reconnect(PlainLine& line) {
    shut(line);
    connect(line);
}

void PlainEngine::ready(PlainLine& line) {
    line.last_ns = reactor_.now_ns();
    switch (line.state) {
    case PlainLine::State::idle: // nothing is expected but its end
        close(line);
        return;
    case PlainLine::State::connecting: {
        int error = 0;
        socklen_t length = sizeof error;
        ::getsockopt(line.fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error != 0 || !reactor_.readiness().watch(line, engine::kReadable))
            pass_on_later(line); // libcurl finds the words
        else
            send(line);
        return;
    }
    case PlainLine::State::head:
        receive_head(line);
        return;
    case PlainLine::State::body:
        receive_body(line);
        return;
    case PlainLine::State::text:
        receive_text(line);
        return;
    }
}

void PlainEngine::receive_head(PlainLine& line) {
    std::array<char, kHeadBytes> buffer;
    const ssize_t got = ::recv(line.fd, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 && line.was_used && line.head.empty()) {
        counters_[line.endpoint].retried(RetryCause::connection_lost); // it goes out again at once, on a new one
        return reconnect(line);
    }
    if (got <= 0) return lost(line);
    if (line.first_ns == 0) line.first_ns = line.last_ns;
    line.head.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t end = line.head.find("\r\n\r\n");
    if (end == std::string::npos) {
        if (line.head.size() > kHeadBytes) pass_on_later(line);
        return;
    }
    std::string_view lines = std::string_view(line.head).substr(0, end + 4);
    while (!lines.empty()) {
        const std::size_t next = lines.find('\n') + 1;
        take_answer_line(lines.substr(0, next), line.answer);
        lines.remove_prefix(next);
    }
    end_head(line, end + 4);
}

void PlainEngine::end_head(PlainLine& line, std::size_t head_bytes) {
    Transfer& transfer = *line.transfer;
    transfer.answer = line.answer;
    if (line.answer.status < 200 || line.answer.is_encoded || !line.answer.has_length) return pass_on_later(line);
    line.left = line.answer.body_bytes;
    const std::string_view rest = std::string_view(line.head).substr(head_bytes);
    if (rest.size() > line.left) return pass_on_later(line);
    if (!is_data_answer(transfer.request, line.answer)) {
        if (line.left > kMostErrorBytes) return pass_on_later(line);
        line.state = PlainLine::State::text;
        line.left -= rest.size();
        transfer.answer.text = rest;
        if (line.left == 0) finish(line);
        return;
    }
    auto refused = judge(config_, bucket_, transfer.request, line.answer, engine::unix_time_s());
    if (!refused) refused = transfer.headers_arrived();
    if (refused) return failed(line, std::move(*refused));
    line.state = PlainLine::State::body;
    line.left -= rest.size();
    line.received += rest.size();
    std::span<const std::byte> data = std::as_bytes(std::span(rest));
    while (!data.empty()) { // first where it belongs
        const std::span<std::byte> room = transfer.room();
        if (room.empty()) break;
        const std::size_t bytes = std::min(room.size(), data.size());
        std::copy_n(data.begin(), bytes, room.begin());
        transfer.placed(bytes);
        data = data.subspan(bytes);
    }
    if (!data.empty()) (void)transfer.data_arrived(data);
    if (line.left == 0) return finish(line);
    // A server without TCP_NODELAY holds the end of the body back until what it has sent is acknowledged, which this
    // side puts off by up to 40 ms once it has answered something itself. Said anew after each request.
    const int one = 1;
    (void)::setsockopt(line.fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
    // What was cut by the buffer comes in the next turn: then the reader has said where it wants it.
}

void PlainEngine::receive_body(PlainLine& line) {
    for (std::uint64_t turn = 0; line.left > 0 && turn < kBytesPerTurn;) {
        if (line.transfer == nullptr && scratch_.empty()) scratch_.resize(64 * 1024);
        std::span<std::byte> room = line.transfer ? line.transfer->room() : std::span(scratch_);
        if (room.empty()) {
            if (turn > 0) return; // the reader's next read mostly comes before the next look
            return rest(line);
        }
        room = room.first(std::min<std::uint64_t>(room.size(), line.left));
        const ssize_t got = ::recv(line.fd, room.data(), room.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return lost(line);
        const auto bytes = static_cast<std::size_t>(got);
        line.left -= bytes;
        line.received += bytes;
        turn += bytes;
        if (line.transfer) line.transfer->placed(bytes);
        if (bytes < room.size()) break; // nothing more has come yet
    }
    if (line.left == 0) finish(line);
}

void PlainEngine::receive_text(PlainLine& line) {
    std::array<char, kHeadBytes> buffer;
    const ssize_t got = ::recv(line.fd, buffer.data(), std::min<std::uint64_t>(buffer.size(), line.left), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return lost(line);
    line.left -= static_cast<std::uint64_t>(got);
    line.transfer->answer.text.append(buffer.data(), static_cast<std::size_t>(got));
    if (line.left == 0) finish(line);
}

void PlainEngine::rest(PlainLine& line) {
    line.is_resting = true;
    line.rested_ns -= line.last_ns; // until wake()
    reactor_.readiness().forget(line);
}

void PlainEngine::wake(PlainLine& line) {
    line.is_resting = false;
    line.last_ns = reactor_.now_ns();
    line.rested_ns += line.last_ns;
    (void)reactor_.readiness().watch(line, engine::kReadable).has_value(); // it was watched before
}

void PlainEngine::shut(PlainLine& line) {
    if (line.fd < 0) return;
    reactor_.readiness().forget(line);
    ::close(std::exchange(line.fd, -1));
    line.is_resting = false;
}

} // namespace feedbench::storage::s3
#endif
