// Pages of listings: of objects (ListObjectsV2) and of unfinished uploads.
//
// Thread: any; plain values. Owner: the caller. Units: bytes. Errors: a page that is no listing is an Error, never an
// empty one. Source: Amazon S3 API Reference: ListObjectsV2, ListMultipartUploads. Keys come percent-encoded
// (encoding-type=url) where the server can, for XML 1.0 cannot hold every key.
#pragma once

#include <string>
#include <vector>

#include "storage/s3/client.hpp"
#include "storage/s3/request.hpp"

namespace feedbench::storage::s3 {

struct ListPage {
    std::vector<ListEntry> entries; // in the order of keys
    bool has_more = false;
    std::string next; // continuation token
};
Request list_request(const ListRequest& asked, const std::string& continuation);
Expected<ListPage> parse_list_page(const std::string& xml);

struct Upload {
    std::string key, id;
};
struct UploadPage {
    std::vector<Upload> uploads;
    bool has_more = false;
    std::string next_key, next_id;
};
Request uploads_request(const std::string& prefix, const UploadPage& before);
Expected<UploadPage> parse_upload_page(const std::string& xml);

} // namespace feedbench::storage::s3
