// What a client library counts of one server while it works: requests, retries by cause, connections, times.
//
// Thread: one user at a time. Owner: the library that talks to the server; backends hand out copies
// (storage::Backend::statistics). Units: ns, bytes. Errors: none. Source: DESIGN section 8; issue 6 (per endpoint: time
// to first and to last byte, retries, connections). Ranks' counters of one server are merged by its name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/histogram.hpp"

namespace feedbench {

// Why a request was sent again.
enum class RetryCause : std::uint8_t {
    connect,         // no connection was made
    connection_lost, // reset or closed before the answer was whole
    timed_out,       // no answer in time
    throttled,       // 429, 503, SlowDown; NFS: jukebox
    server_error,    // any other 5xx
    short_body,      // fewer bytes than announced
    wrong_checksum,  // ETag, MD5 or CRC is not that of the bytes
    other,
};
inline constexpr std::array<std::string_view, 8> kRetryCauses{
    "connect", "connection_lost", "timed_out", "throttled", "server_error", "short_body", "wrong_checksum", "other"};

struct EndpointCounters {
    std::string name;                                 // "http://10.0.0.1:9000", "nfs://server": without credentials
    std::uint64_t request_count = 0;                  // asked for by the layer above; a retry is no request
    std::uint64_t failed_request_count = 0;           // given up, after the retries or at once
    std::uint64_t connection_count = 0;               // opened, in all
    std::uint64_t bytes_received = 0, bytes_sent = 0; // of bodies; what was thrown away counts, too
    std::array<std::uint64_t, kRetryCauses.size()> retry_count{};
    // Of requests that were answered in full, from the moment at which the last attempt was sent.
    Histogram first_byte, last_byte;

    void retried(RetryCause cause) { ++retry_count[static_cast<std::size_t>(cause)]; }
    void merge(const EndpointCounters& other); // of the same name
    std::string serialise() const;             // for gathering over ranks
    static EndpointCounters parse(const std::string& bytes);
};

// As RunResult holds it; causes that never came are left out.
EndpointResult endpoint_result(const EndpointCounters& counters, std::uint32_t rank_count);

} // namespace feedbench
