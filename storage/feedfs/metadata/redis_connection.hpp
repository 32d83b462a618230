// One connection to a Redis server: address, password, commands and their replies, reconnecting.
//
// Thread: one at a time. Owner: the engine in redis.cpp. Units: milliseconds where the name says so.
// Errors: ECONNREFUSED: not reachable; ENOTCONN: the connection broke and did not come back within retry_ms; ETIMEDOUT:
// no reply within timeout_ms; EACCES: password; ENOSPC: maxmemory; EROFS: a replica; EIO: Redis cannot persist. No
// message holds a password. Source: the Redis protocol as hiredis 0.14 speaks it, error codes of Redis 7.0.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/feedfs/metadata/engine.hpp"

struct redisContext;

namespace feedbench::feedfs {

struct RedisAddress {
    std::string host; // or the path of a socket
    int port = 0;     // 0: a socket
    int database = 0;
    std::string user;
    std::string password;
    std::uint32_t timeout_ms = 5000; // of connecting, and of a reply
    std::uint32_t retry_ms = 3000;   // how long a broken connection is tried again
    // Shared by all connections of an engine: retry_ms were in vain once, so nobody else waits for them again until a
    // command gets through. Else a job of many threads and commands ends minutes after its server.
    std::shared_ptr<std::atomic<bool>> is_down = std::make_shared<std::atomic<bool>>(false);

    std::string shown() const; // without the password
};

// redis://[user[:password]@]host[:port][/database] and redis+unix:///path[?db=n]; %xx in user and password. A password
// may instead come from the environment (option password_env, otherwise FEEDFS_REDIS_PASSWORD) or a file
// (password_file).
Expected<RedisAddress> parse_redis_address(std::string_view url);

struct RedisReply {
    enum class Kind : std::uint8_t { nil, text, number, list, error };
    Kind kind = Kind::nil;
    std::string text;
    std::int64_t number = 0;
    std::vector<RedisReply> items;
};

class RedisConnection {
  public:
    explicit RedisConnection(RedisAddress address);
    ~RedisConnection();
    RedisConnection(const RedisConnection&) = delete;
    RedisConnection& operator=(const RedisConnection&) = delete;

    Status connect(); // once, without retries
    // Sends and waits; after a broken connection again, until retry_ms are over: commands must bear being carried out
    // twice. An error reply is an Error, except NOSCRIPT, which comes back as a reply of kind error.
    Expected<RedisReply> command(std::span<const std::string_view> words);
    const RedisAddress& address() const { return address_; }

  private:
    struct Close {
        void operator()(redisContext* context) const;
    };
    Status greet();                                                             // password and database
    Expected<RedisReply> command_once(std::span<const std::string_view> words); // of a living connection
    Error broken(const char* operation) const;

    RedisAddress address_;
    std::unique_ptr<redisContext, Close> context_;
};

} // namespace feedbench::feedfs
