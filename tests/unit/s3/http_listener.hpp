// A small HTTP/1.1 server for tests: loopback, one thread a connection, requests answered by a function.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace feedbench::test {

struct HttpRequest {
    std::string method, path, query;            // as they were sent
    std::map<std::string, std::string> headers; // names in lower case
    std::string body;
};

struct HttpAnswer {
    int status = 200;
    std::map<std::string, std::string> headers;
    std::string body;
    bool hangs_up = false;                     // closes without a word
    std::size_t cut_after = ~std::size_t{0};   // closes after so many bytes of the body
    std::size_t stall_after = ~std::size_t{0}; // falls silent after so many
    bool is_chunked = false;
    bool closes = false; // the connection, behind the answer
};

class HttpListener {
  public:
    using Handler = std::function<HttpAnswer(const HttpRequest&)>;
    explicit HttpListener(Handler handler) : handler_(std::move(handler)), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(fd_, 128) != 0) std::abort();
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept_all(); });
    }
    ~HttpListener() {
        is_stopping_ = true;
        ::shutdown(fd_, SHUT_RDWR);
        acceptor_.join();
        ::close(fd_);
        {
            const std::lock_guard lock(mutex_);
            for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
        }
        for (std::thread& thread : threads_) thread.join();
    }
    HttpListener(const HttpListener&) = delete;
    HttpListener& operator=(const HttpListener&) = delete;
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    unsigned connection_count() const { return connections_; }

  private:
    void accept_all() {
        while (!is_stopping_) {
            const int fd = ::accept(fd_, nullptr, nullptr);
            if (fd < 0) continue;
            ++connections_;
            const std::lock_guard lock(mutex_);
            open_.push_back(fd);
            threads_.emplace_back([this, fd] {
                std::string buffer;
                while (!is_stopping_ && serve(fd, buffer)) {
                }
                const std::lock_guard close_lock(mutex_);
                open_.remove(fd);
                ::close(fd);
            });
        }
    }
    static bool receive(int fd, std::string& buffer) {
        char piece[65536];
        const ssize_t got = ::recv(fd, piece, sizeof piece, 0);
        if (got <= 0) return false;
        buffer.append(piece, static_cast<std::size_t>(got));
        return true;
    }
    static bool send_all(int fd, std::string_view text) {
        while (!text.empty()) {
            const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    static HttpRequest parse(std::string_view head) {
        HttpRequest request;
        std::size_t end = head.find("\r\n");
        const std::string_view line = head.substr(0, end);
        const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
        request.method = line.substr(0, first);
        const std::string_view target = line.substr(first + 1, second - first - 1);
        const std::size_t question = std::min(target.find('?'), target.size());
        request.path = target.substr(0, question);
        request.query = target.substr(std::min(question + 1, target.size()));
        while (end != std::string_view::npos) {
            head.remove_prefix(end + 2);
            end = head.find("\r\n");
            const std::string_view header = head.substr(0, end);
            const std::size_t colon = header.find(": ");
            if (colon == std::string_view::npos) continue;
            std::string name(header.substr(0, colon));
            std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
            request.headers[name] = header.substr(colon + 2);
        }
        return request;
    }
    bool serve(int fd, std::string& buffer) {
        std::size_t end = 0;
        while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
            if (!receive(fd, buffer)) return false;
        HttpRequest request = parse(std::string_view(buffer).substr(0, end));
        buffer.erase(0, end + 4);
        const auto length = request.headers.find("content-length");
        const std::size_t bytes = length == request.headers.end() ? 0 : std::stoull(length->second);
        while (buffer.size() < bytes)
            if (!receive(fd, buffer)) return false;
        request.body = buffer.substr(0, bytes);
        buffer.erase(0, bytes);
        return answer(fd, request);
    }
    bool answer(int fd, const HttpRequest& request) {
        HttpAnswer a = handler_(request);
        if (a.hangs_up) return false;
        std::string head = "HTTP/1.1 " + std::to_string(a.status) + " Said\r\n";
        if (!a.headers.contains("Content-Length") && a.status != 204 && !a.is_chunked)
            a.headers["Content-Length"] = std::to_string(a.body.size());
        if (a.is_chunked) a.headers["Transfer-Encoding"] = "chunked";
        for (const auto& [name, value] : a.headers) head += name + ": " + value + "\r\n";
        if (!send_all(fd, head + "\r\n")) return false;
        if (request.method == "HEAD") return true;
        std::string_view body = a.body;
        if (a.is_chunked) {
            char size[32];
            std::snprintf(size, sizeof size, "%zx\r\n", body.size());
            return send_all(fd, size + std::string(body) + "\r\n0\r\n\r\n");
        }
        const std::size_t until = std::min(a.cut_after, a.stall_after);
        if (!send_all(fd, body.substr(0, until)) || a.closes) return false;
        if (a.cut_after < body.size()) return false;
        if (a.stall_after < body.size()) {
            char nothing;
            (void)!::recv(fd, &nothing, 1, 0); // until the client has had enough
            return false;
        }
        return true;
    }

    Handler handler_;
    int fd_;
    int port_ = 0;
    std::atomic<bool> is_stopping_{false};
    std::atomic<unsigned> connections_{0};
    std::thread acceptor_;
    std::mutex mutex_;
    std::list<int> open_;
    std::list<std::thread> threads_;
};

} // namespace feedbench::test
