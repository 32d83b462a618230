#include "storage/feedfs/metadata/redis_connection.hpp"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace feedbench::feedfs {

namespace {

timeval to_timeval(std::uint32_t milliseconds) {
    return {static_cast<time_t>(milliseconds / 1000), static_cast<suseconds_t>(milliseconds % 1000 * 1000)};
}

RedisReply to_reply(const redisReply& reply) {
    RedisReply result;
    switch (reply.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        result.kind = RedisReply::Kind::text;
        result.text.assign(reply.str, static_cast<std::size_t>(reply.len));
        break;
    case REDIS_REPLY_ERROR:
        result.kind = RedisReply::Kind::error;
        result.text.assign(reply.str, static_cast<std::size_t>(reply.len));
        break;
    case REDIS_REPLY_INTEGER:
        result.kind = RedisReply::Kind::number;
        result.number = reply.integer;
        break;
    case REDIS_REPLY_ARRAY:
        result.kind = RedisReply::Kind::list;
        result.items.reserve(reply.elements);
        for (std::size_t i = 0; i < reply.elements; ++i) result.items.push_back(to_reply(*reply.element[i]));
        break;
    default:
        break;
    }
    return result;
}

struct ErrorWord {
    std::string_view begins;
    int errno_value;
    const char* meaning;
};
constexpr ErrorWord kErrorWords[] = {
    {"OOM", ENOSPC, "Redis has reached its maxmemory"},
    {"NOAUTH", EACCES, "Redis asks for a password (FEEDFS_REDIS_PASSWORD, or option password_env or password_file)"},
    {"WRONGPASS", EACCES, "Redis does not accept the user or password"},
    {"ERR invalid password", EACCES, "Redis does not accept the password"},
    {"ERR AUTH", EACCES, "Redis does not accept the password"},
    {"NOPERM", EACCES, "the Redis user may not do this"},
    {"READONLY", EROFS, "this Redis is a replica: give the address of its primary"},
    {"MISCONF", EIO, "Redis refuses writes because it cannot save to its disk"},
    {"LOADING", EAGAIN, "Redis is still loading its data"},
    {"BUSY", EBUSY, "Redis is busy with a script"},
    {"MOVED", EOPNOTSUPP, "this is a Redis Cluster: feedfs needs a single primary"},
    {"CLUSTERDOWN", EIO, "the Redis Cluster is down"},
};

Error error_reply(const RedisAddress& address, const std::string& text) {
    for (const ErrorWord& word : kErrorWords)
        if (text.starts_with(word.begins))
            return storage_error("redis", address.shown(), word.errno_value,
                                 std::string(word.meaning) + " (" + text + ")");
    return storage_error("redis", address.shown(), EIO, "Redis answered: " + text);
}

// For another try: no event will tell that a server is back.
void wait_ms(std::uint32_t milliseconds) { poll(nullptr, 0, static_cast<int>(milliseconds)); }

// hiredis writes to a socket whose other end may be gone, which would end the process. What was pending before stays
// so.
class WithoutSigpipe {
  public:
    WithoutSigpipe() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        if (!was_pending_) pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~WithoutSigpipe() {
        if (was_pending_) return;
        const timespec at_once{0, 0};
        while (sigtimedwait(&set_, nullptr, &at_once) < 0 && errno == EINTR) {
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    WithoutSigpipe(const WithoutSigpipe&) = delete;
    WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

  private:
    sigset_t set_;
    sigset_t before_;
    bool was_pending_;
};

bool is_gone(int errno_value) {
    return errno_value == ENOTCONN || errno_value == ECONNREFUSED || errno_value == EAGAIN;
}

Expected<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        if (text[i] != '%') {
            out += text[i];
        } else if (i + 2 < text.size() + 0 &&
                   std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
            out += static_cast<char>(value);
            i += 2;
        } else {
            return config_error(
                "a Redis address has % without two hexadecimal digits behind it in its user or password");
        }
    }
    return out;
}

bool to_number(std::string_view text, int& number) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    return code == std::errc() && end == text.data() + text.size() && number >= 0;
}

constexpr const char* kAddressForm =
    "a Redis address is redis://[user@]host[:port][/database] or redis+unix:///path[?db=n]";

Expected<RedisAddress> parse_socket(std::string_view rest) {
    RedisAddress address;
    const std::size_t question = rest.find('?');
    address.host = std::string(rest.substr(0, question));
    if (question != std::string_view::npos) {
        std::string_view query = rest.substr(question + 1);
        if (!query.starts_with("db=") || !to_number(query.substr(3), address.database))
            return config_error(kAddressForm);
    }
    if (!address.host.starts_with('/')) return config_error(kAddressForm);
    return address;
}

} // namespace

Expected<RedisAddress> parse_redis_address(std::string_view url) {
    constexpr std::string_view kTcp = "redis://";
    constexpr std::string_view kUnix = "redis+unix://";
    if (url.starts_with(kUnix)) return parse_socket(url.substr(kUnix.size()));
    if (!url.starts_with(kTcp)) return config_error(kAddressForm); // what was given may hold a password: not shown
    url.remove_prefix(kTcp.size());
    RedisAddress address;
    address.port = 6379;
    if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
        const std::string_view login = url.substr(0, at);
        const std::size_t colon = login.find(':');
        auto user = percent_decoded(login.substr(0, colon));
        if (!user) return std::move(user.error());
        address.user = *user;
        if (colon != std::string_view::npos) {
            auto password = percent_decoded(login.substr(colon + 1));
            if (!password) return std::move(password.error());
            address.password = *password;
        }
        url.remove_prefix(at + 1);
    }
    if (const std::size_t slash = url.find('/'); slash != std::string_view::npos) {
        if (slash + 1 < url.size() && !to_number(url.substr(slash + 1), address.database))
            return config_error(kAddressForm);
        url = url.substr(0, slash);
    }
    const std::size_t bracket = url.find(']'); // [::1]:6379
    const std::size_t colon = url.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon != std::string_view::npos) {
        if (!to_number(url.substr(colon + 1), address.port) || address.port < 1 || address.port > 65535)
            return config_error(kAddressForm);
        url = url.substr(0, colon);
    }
    if (url.starts_with('[') && url.ends_with(']')) url = url.substr(1, url.size() - 2);
    if (url.empty()) return config_error(kAddressForm);
    address.host = std::string(url);
    return address;
}

std::string RedisAddress::shown() const {
    const std::string db = std::to_string(database);
    if (port == 0) return "redis+unix://" + host + "?db=" + db;
    return "redis://" + (user.empty() ? "" : user + "@") + host + ":" + std::to_string(port) + "/" + db;
}

void RedisConnection::Close::operator()(redisContext* context) const { redisFree(context); }

RedisConnection::RedisConnection(RedisAddress address) : address_(std::move(address)) {}
RedisConnection::~RedisConnection() = default;

Error RedisConnection::broken(const char* operation) const {
    const int code = errno;
    const std::string text = context_ && context_->err != 0 ? context_->errstr : "no memory";
    if (context_ && context_->err == REDIS_ERR_IO && (code == EAGAIN || code == EWOULDBLOCK || code == ETIMEDOUT))
        return storage_error(operation, address_.shown(), ETIMEDOUT,
                             "Redis gave no answer within " + std::to_string(address_.timeout_ms) + " ms");
    return storage_error(operation, address_.shown(), ENOTCONN, "the connection to Redis broke: " + text);
}

Status RedisConnection::connect() {
    const timeval timeout = to_timeval(address_.timeout_ms);
    context_.reset(address_.port == 0 ? redisConnectUnixWithTimeout(address_.host.c_str(), timeout)
                                      : redisConnectWithTimeout(address_.host.c_str(), address_.port, timeout));
    if (!context_ || context_->err != 0) {
        const std::string text = context_ ? context_->errstr : "no memory";
        context_.reset();
        return storage_error("connect", address_.shown(), ECONNREFUSED, "no Redis answers here: " + text);
    }
    redisSetTimeout(context_.get(), timeout);
    Status greeted = greet();
    if (!greeted) context_.reset();
    return greeted;
}

Status RedisConnection::greet() {
    if (!address_.password.empty()) {
        std::vector<std::string_view> words{"AUTH"};
        if (!address_.user.empty()) words.push_back(address_.user);
        words.push_back(address_.password);
        if (auto reply = command_once(words); !reply) return std::move(reply.error());
    }
    const std::string database = std::to_string(address_.database);
    const std::string_view select[] = {"SELECT", database};
    if (auto reply = command_once(select); !reply) return std::move(reply.error());
    return {};
}

Expected<RedisReply> RedisConnection::command_once(std::span<const std::string_view> words) {
    std::vector<const char*> pointers;
    std::vector<std::size_t> lengths;
    pointers.reserve(words.size());
    lengths.reserve(words.size());
    for (const std::string_view word : words) {
        pointers.push_back(word.data() == nullptr ? "" : word.data());
        lengths.push_back(word.size());
    }
    const WithoutSigpipe guard;
    errno = 0;
    const std::unique_ptr<redisReply, void (*)(redisReply*)> raw(
        static_cast<redisReply*>(
            redisCommandArgv(context_.get(), static_cast<int>(words.size()), pointers.data(), lengths.data())),
        [](redisReply* reply) { freeReplyObject(reply); });
    if (!raw) {
        Error error = broken("redis");
        context_.reset(); // a late answer must not be taken for the next one's
        return error;
    }
    RedisReply reply = to_reply(*raw);
    if (reply.kind == RedisReply::Kind::error && !reply.text.starts_with("NOSCRIPT"))
        return error_reply(address_, reply.text);
    return reply;
}

Expected<RedisReply> RedisConnection::command(std::span<const std::string_view> words) {
    for (std::uint32_t waited = 0, wait = 10;; wait = std::min<std::uint32_t>(wait * 2, 250)) {
        MaybeError error;
        if (!context_) {
            if (Status connected = connect(); !connected) error = std::move(connected.error());
        }
        if (!error) {
            auto reply = command_once(words);
            if (reply) {
                address_.is_down->store(false);
                return reply;
            }
            error = std::move(reply.error());
        }
        if (!is_gone(error->errno_value)) return std::move(*error);
        if (address_.is_down->load() || waited >= address_.retry_ms) {
            address_.is_down->store(true);
            return std::move(*error);
        }
        wait_ms(wait);
        waited += wait;
    }
}

} // namespace feedbench::feedfs
