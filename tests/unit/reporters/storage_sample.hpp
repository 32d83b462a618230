// Storages of the sample results: an object store whose server was slow for a while, and a disk for checkpoints.
#pragma once

#include <vector>

#include "harness/types/histogram.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::reporters::test {

inline std::vector<StorageResult> storages() {
    StorageResult data;
    data.use = "data";
    data.backend = data.filesystem_type = "s3";
    data.place = "s3://bucket/unet3d";
    data.hosts = {"client-1", "client-2"};
    data.is_network = true;
    data.server = "10.0.0.9";
    data.network_interface = "eth0";
    data.note = "path-style";
    EndpointResult endpoint;
    endpoint.name = "http://10.0.0.9:9000";
    endpoint.rank_count = 2;
    endpoint.request_count = 1200;
    endpoint.failed_request_count = 1;
    endpoint.retry_count = 3;
    endpoint.connection_count = 8;
    endpoint.bytes_received = 24'000'000'000;
    endpoint.bytes_sent = 4096;
    endpoint.retries = {{"throttled", 2}, {"connection_lost", 1}};
    Histogram times;
    for (const std::uint64_t ms : {1, 50, 100}) times.add(ms * 1'000'000);
    endpoint.histograms = {times.data("time_to_first_byte"), times.data("time_to_last_byte")};
    data.endpoints.push_back(endpoint);
    StorageResult checkpoints;
    checkpoints.use = "checkpoints";
    checkpoints.backend = "posix";
    checkpoints.place = "/scratch";
    checkpoints.filesystem_type = "ext4";
    checkpoints.hosts = {"client-1"};
    checkpoints.device = "/dev/nvme0n1";
    checkpoints.mount_point = "/";
    checkpoints.mount_options = "rw,relatime";
    checkpoints.total_bytes = 1'000'000'000'000;
    checkpoints.free_bytes = 250'000'000'000;
    return {data, checkpoints};
}

} // namespace feedbench::reporters::test
