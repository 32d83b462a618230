// What one blocking call needs while it runs: a handle with its kept connection, and a place for the answer. Internal
// to storage/s3/client.cpp.
//
// Thread: one at a time. Owner: the client. Units: bytes. Errors: none.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "storage/s3/back_off.hpp"
#include "storage/s3/easy.hpp"

namespace feedbench::storage::s3 {

struct NoData final : AnswerSink {
    bool data_arrived(std::span<const std::byte>) override { return true; }
};

struct IntoSpan final : AnswerSink {
    explicit IntoSpan(std::span<std::byte> into) : room(into) {}
    bool data_arrived(std::span<const std::byte> data) override {
        const std::size_t bytes = std::min(data.size(), room.size() - filled); // a server without ranges sends more
        if (bytes > 0) std::memcpy(room.data() + filled, data.data(), bytes);
        filled += bytes;
        return true;
    }
    std::span<std::byte> room;
    std::size_t filled = 0;
};

// What one call needs while it runs: a handle with its kept connection.
struct Line {
    Line(const Config& config, const std::string& bucket, std::uint64_t number)
        : easy(config, bucket), signer(config.credentials, config.region), back_off(config, number) {}
    Easy easy;
    Signer signer;
    BackOff back_off;
};

} // namespace feedbench::storage::s3
