// The requests of a multipart upload, and what is made of its answers.
//
// Thread: any; plain values. Owner: the caller. Units: bytes. Errors: none; an empty upload id means that the server
// gave none. Source: Amazon S3 API Reference: CreateMultipartUpload, UploadPart, CompleteMultipartUpload,
// AbortMultipartUpload.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/s3/request.hpp"

namespace feedbench::storage::s3 {

struct UploadedPart {
    std::string etag, crc32c; // of the part; crc32c base64 or empty
};

// The checksums that `config` asks for; sets request.body, too.
void set_body(Request& request, const Config& config, std::span<const std::byte> body);

Request put_request(const Config& config, const std::string& key, std::span<const std::byte> content);
Request begin_upload_request(const std::string& key);
std::string upload_id_of(const Answer& answer);
Request part_request(const Config& config, const std::string& key, const std::string& upload_id, unsigned number,
                     std::span<const std::byte> content); // numbers count from 1
std::string complete_upload_body(std::span<const UploadedPart> parts);
// `body` of complete_upload_body: stays where it is until the end.
Request complete_upload_request(const std::string& key, const std::string& upload_id, const std::string& body);
// "\"<MD5 of the parts' MD5s>-<count>\"", as stores make it that do not encrypt with keys of their own; "" where the
// parts' ETags are no MD5s. Tells, where the answer to a completion was lost, that the object is this upload.
std::string whole_etag(std::span<const UploadedPart> parts);
Request abort_upload_request(const std::string& key, const std::string& upload_id);

} // namespace feedbench::storage::s3
