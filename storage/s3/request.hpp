// One request to an object store and its answer, before and after HTTP; no I/O.
//
// Thread: any; plain values. Owner: the caller. Units: bytes. Errors: Failure says what an answer means.
// Source: Amazon S3 API Reference (REST).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/types/endpoint_counters.hpp"
#include "storage/s3/config.hpp"
#include "storage/s3/signer.hpp"

namespace feedbench::storage::s3 {

enum class Method : std::uint8_t { get, head, put, post, remove };
std::string_view method_name(Method method);

struct Request {
    Method method = Method::get;
    std::string key;        // empty: the bucket itself
    Query query;            // "uploads", "partNumber", "list-type", ...
    bool has_range = false; // GET: bytes [offset, offset + bytes); bytes 0 = to the end
    std::uint64_t offset = 0, bytes = 0;
    std::string if_match;                            // ETag that the object must still have
    std::span<const std::byte> body;                 // PUT, POST: stays where it is until the end
    std::string body_crc32c_base64, body_md5_base64; // sent where not empty
};

struct Answer {
    long status = 0;
    std::string etag, region, date; // headers: ETag with its quotes, x-amz-bucket-region, Date
    std::uint64_t total_bytes = 0;  // of the object: Content-Range's total, else Content-Length
    std::uint64_t body_bytes = 0;   // Content-Length
    std::uint64_t body_offset = 0;  // Content-Range's first
    bool has_length = false, has_range = false, has_total = false;
    bool is_encoded = false, keeps_connection = true; // Transfer-Encoding, Connection: close
    std::string text;                                 // body of what is not object data: XML, errors (bounded)
};

// What an attempt came to, where it did not succeed.
struct Failure {
    std::optional<RetryCause> retry; // try again for this reason; none: final
    int errno_value = 0;             // ENOENT, EACCES, ESTALE (changed while read), ETIMEDOUT, ECONNREFUSED, ...
    std::string message;             // one clear sentence
};

// What goes out: URL, signed headers.
struct Prepared {
    std::string url;
    Headers headers; // all, Authorization last
};
Prepared prepare(const Config& config, const Endpoint& endpoint, const std::string& bucket, Signer& signer,
                 const Request& request, std::int64_t unix_s);

// Judges an answer by its status, headers and body: none = success. `wall_s`: this host's time, for clock skew.
std::optional<Failure> judge(const Config& config, const std::string& bucket, const Request& request,
                             const Answer& answer, std::int64_t wall_s);

} // namespace feedbench::storage::s3
