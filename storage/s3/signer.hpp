// AWS Signature Version 4, header form: a pure function of a request, keys and a time.
//
// Thread: any (a SigningKey: one thread at a time). Owner: the caller. Units: seconds since 1970.
// Errors: none. Source: AWS General Reference, "Signature Version 4 signing process"; test vectors in
// tests/unit/s3/signer_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/s3/credentials.hpp"

namespace feedbench::storage::s3 {

std::string sha256_hex(std::string_view bytes);
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
inline constexpr std::string_view kEmptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// "20130524T000000Z"
std::string amz_date(std::int64_t unix_s);

using Headers = std::vector<std::pair<std::string, std::string>>; // names in lower case
using Query = std::vector<std::pair<std::string, std::string>>;   // not encoded

struct SignRequest {
    std::string_view method;
    std::string_view path;         // as it is sent: encoded, with its leading '/'
    std::string_view query;        // canonical: encoded pairs, sorted (canonical_query), or empty
    const Headers& headers;        // all that are signed: host, x-amz-content-sha256, x-amz-date, ...
    std::string_view payload_hash; // hex, or kUnsignedPayload
    std::int64_t unix_s;
};
// Encoded and sorted by name, as it is both signed and sent.
std::string canonical_query(Query query);

// Derives the day's key once and keeps it.
class Signer {
  public:
    Signer(Credentials credentials, std::string region, std::string service = "s3");
    // The value of the Authorization header.
    std::string authorization(const SignRequest& request);
    const Credentials& credentials() const { return credentials_; }

  private:
    Credentials credentials_;
    std::string region_, service_, day_, scope_, key_;
};

} // namespace feedbench::storage::s3
