#include "harness/types/endpoint_counters.hpp"

#include <cassert>
#include <cstring>

namespace feedbench {

namespace {

// Plain memory, for both ends are the same binary; the name and the two histograms follow.
struct Head {
    std::uint64_t name_bytes, first_byte_bytes, last_byte_bytes;
    std::uint64_t request_count, failed_request_count, connection_count, bytes_received, bytes_sent;
    std::array<std::uint64_t, kRetryCauses.size()> retry_count;
};

} // namespace

void EndpointCounters::merge(const EndpointCounters& other) {
    assert(name.empty() || name == other.name);
    name = other.name;
    request_count += other.request_count;
    failed_request_count += other.failed_request_count;
    connection_count += other.connection_count;
    bytes_received += other.bytes_received;
    bytes_sent += other.bytes_sent;
    for (std::size_t i = 0; i < retry_count.size(); ++i) retry_count[i] += other.retry_count[i];
    first_byte.merge(other.first_byte);
    last_byte.merge(other.last_byte);
}

std::string EndpointCounters::serialise() const {
    const std::string first = first_byte.serialise(), last = last_byte.serialise();
    const Head head{name.size(),      first.size(),   last.size(), request_count, failed_request_count,
                    connection_count, bytes_received, bytes_sent,  retry_count};
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + name + first + last;
}

EndpointCounters EndpointCounters::parse(const std::string& bytes) {
    EndpointCounters result;
    Head head{};
    const bool has_head = bytes.size() >= sizeof head;
    assert(has_head); // it comes from another rank's serialise(), never from a file
    if (!has_head) return result;
    std::memcpy(&head, bytes.data(), sizeof head);
    assert(bytes.size() == sizeof head + head.name_bytes + head.first_byte_bytes + head.last_byte_bytes);
    std::size_t at = sizeof head;
    const auto take = [&](std::uint64_t length) {
        std::string part = bytes.substr(at, length);
        at += length;
        return part;
    };
    result.name = take(head.name_bytes);
    result.first_byte = Histogram::parse(take(head.first_byte_bytes));
    result.last_byte = Histogram::parse(take(head.last_byte_bytes));
    result.request_count = head.request_count;
    result.failed_request_count = head.failed_request_count;
    result.connection_count = head.connection_count;
    result.bytes_received = head.bytes_received;
    result.bytes_sent = head.bytes_sent;
    result.retry_count = head.retry_count;
    return result;
}

EndpointResult endpoint_result(const EndpointCounters& counters, std::uint32_t rank_count) {
    EndpointResult result;
    result.name = counters.name;
    result.rank_count = rank_count;
    result.request_count = counters.request_count;
    result.failed_request_count = counters.failed_request_count;
    result.connection_count = counters.connection_count;
    result.bytes_received = counters.bytes_received;
    result.bytes_sent = counters.bytes_sent;
    for (std::size_t i = 0; i < kRetryCauses.size(); ++i) {
        if (counters.retry_count[i] == 0) continue;
        result.retry_count += counters.retry_count[i];
        result.retries.push_back({std::string(kRetryCauses[i]), counters.retry_count[i]});
    }
    if (counters.first_byte.count() > 0) result.histograms.push_back(counters.first_byte.data("time_to_first_byte"));
    if (counters.last_byte.count() > 0) result.histograms.push_back(counters.last_byte.data("time_to_last_byte"));
    return result;
}

} // namespace feedbench
