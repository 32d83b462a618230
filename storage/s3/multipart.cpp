#include "storage/s3/multipart.hpp"

#include "storage/s3/address.hpp"
#include "storage/s3/checksum.hpp"
#include "storage/s3/xml.hpp"

namespace feedbench::storage::s3 {

void set_body(Request& request, const Config& config, std::span<const std::byte> body) {
    request.body = body;
    if (config.checksum == Checksum::crc32c) request.body_crc32c_base64 = crc32c_base64(crc32c(0, body));
    if (config.checksum == Checksum::md5) request.body_md5_base64 = md5_base64(body);
}

Request put_request(const Config& config, const std::string& key, std::span<const std::byte> content) {
    Request request;
    request.method = Method::put;
    request.key = key;
    set_body(request, config, content);
    return request;
}

Request begin_upload_request(const std::string& key) {
    Request request;
    request.method = Method::post;
    request.key = key;
    request.query = {{"uploads", ""}};
    return request;
}

std::string upload_id_of(const Answer& answer) { return first_text(answer.text, "UploadId"); }

Request part_request(const Config& config, const std::string& key, const std::string& upload_id, unsigned number,
                     std::span<const std::byte> content) {
    Request request = put_request(config, key, content);
    request.query = {{"partNumber", std::to_string(number)}, {"uploadId", upload_id}};
    return request;
}

std::string complete_upload_body(std::span<const UploadedPart> parts) {
    std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string etag;
        for (const char c : parts[i].etag) etag += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
        body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + etag + "</ETag>";
        if (!parts[i].crc32c.empty()) body += "<ChecksumCRC32C>" + parts[i].crc32c + "</ChecksumCRC32C>";
        body += "</Part>";
    }
    return body + "</CompleteMultipartUpload>";
}

Request complete_upload_request(const std::string& key, const std::string& upload_id, const std::string& body) {
    Request request;
    request.method = Method::post;
    request.key = key;
    request.query = {{"uploadId", upload_id}};
    request.body = std::as_bytes(std::span(body));
    return request;
}

std::string whole_etag(std::span<const UploadedPart> parts) {
    std::string sums;
    for (const UploadedPart& part : parts) {
        std::string_view etag = part.etag;
        if (etag.starts_with('"')) etag.remove_prefix(1);
        if (etag.ends_with('"')) etag.remove_suffix(1);
        std::string escaped; // "a1b2" -> "%a1%b2" -> two bytes
        for (std::size_t i = 0; i < etag.size(); ++i) escaped += (i % 2 == 0 ? "%" : "") + std::string(1, etag[i]);
        const std::string sum = decode(escaped);
        if (sum.size() != 16) return {};
        sums += sum;
    }
    return "\"" + md5_hex(std::as_bytes(std::span(sums))) + "-" + std::to_string(parts.size()) + "\"";
}

Request abort_upload_request(const std::string& key, const std::string& upload_id) {
    Request request;
    request.method = Method::remove;
    request.key = key;
    request.query = {{"uploadId", upload_id}};
    return request;
}

} // namespace feedbench::storage::s3
