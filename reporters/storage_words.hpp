// A storage and its servers in one line each, and as the page's section.
//
// Thread: any (pure functions). Owner: the caller. Units: named in the text. Errors: none; what is not known is left
// out. Source: StorageResult (harness/types/run_result.hpp).
#pragma once

#include <string>

#include "harness/types/run_result.hpp"

namespace feedbench::reporters {

// "ext4 on /data (/dev/vda; rw,relatime)", "s3 at storage.example (eth0)"; empty where nothing is known.
std::string storage_text(const StorageResult& storage);
// "http://10.0.0.1:9000: 1200 requests, 3 retries (2 throttled, 1 connection_lost), 8 connections, ..."
std::string endpoint_text(const EndpointResult& endpoint);
// "2 throttled, 1 connection_lost"
std::string retry_text(const EndpointResult& endpoint);

} // namespace feedbench::reporters
