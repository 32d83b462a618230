#include "storage/s3/request.hpp"

#include <algorithm>
#include <cerrno>

#include "storage/s3/address.hpp"

namespace feedbench::storage::s3 {

std::string_view method_name(Method method) {
    switch (method) {
    case Method::get:
        return "GET";
    case Method::head:
        return "HEAD";
    case Method::put:
        return "PUT";
    case Method::post:
        return "POST";
    case Method::remove:
        return "DELETE";
    }
    return "?";
}

Prepared prepare(const Config& config, const Endpoint& endpoint, const std::string& bucket, Signer& signer,
                 const Request& request, std::int64_t unix_s) {
    const bool in_path = config.addressing == Addressing::path;
    const std::string host = in_path ? endpoint.host : bucket + "." + endpoint.host;
    std::string path = endpoint.base + (in_path ? "/" + bucket : "");
    if (!request.key.empty() || !in_path) path += "/" + encode(request.key, true);
    const std::string query = canonical_query(request.query);
    Prepared out;
    out.url = endpoint.scheme + "://" + host + path + (query.empty() ? "" : "?" + query);
    Headers& headers = out.headers;
    headers.reserve(8);
    if (!request.body_crc32c_base64.empty()) headers.emplace_back("x-amz-checksum-crc32c", request.body_crc32c_base64);
    if (!request.body_md5_base64.empty()) headers.emplace_back("content-md5", request.body_md5_base64);
    const bool begins_upload = request.method == Method::post && request.query.size() == 1;
    if (config.checksum == Checksum::crc32c && begins_upload && request.query.front().first == "uploads")
        headers.emplace_back("x-amz-checksum-algorithm", "CRC32C");
    if (!signer.credentials().anonymous) {
        const std::string_view content(reinterpret_cast<const char*>(request.body.data()), request.body.size());
        std::string hash(kEmptyPayload);
        if (!content.empty()) hash = config.sign_payload ? sha256_hex(content) : std::string(kUnsignedPayload);
        headers.emplace_back("host", host);
        headers.emplace_back("x-amz-content-sha256", hash);
        headers.emplace_back("x-amz-date", amz_date(unix_s));
        if (!signer.credentials().session_token.empty())
            headers.emplace_back("x-amz-security-token", signer.credentials().session_token);
        std::string authorization = signer.authorization({.method = method_name(request.method),
                                                          .path = path,
                                                          .query = query,
                                                          .headers = headers,
                                                          .payload_hash = hash,
                                                          .unix_s = unix_s});
        std::erase_if(headers, [](const auto& header) { return header.first == "host"; }); // the URL says it
        headers.emplace_back("authorization", std::move(authorization));
    }
    if (request.has_range)
        headers.emplace_back("range",
                             "bytes=" + std::to_string(request.offset) + "-" +
                                 (request.bytes == 0 ? "" : std::to_string(request.offset + request.bytes - 1)));
    if (!request.if_match.empty()) headers.emplace_back("if-match", request.if_match);
    return out;
}

} // namespace feedbench::storage::s3
