// The fields of storages and their servers, with the macro that lists fields: the first part of result_fields.hpp,
// which is what to include (and which ends the macro).
//
// Thread: any. Owner: none. Units: every key names its own. Errors: those of the visitor. Source:
// reporters/schema/result.schema.json.
#pragma once

#include <type_traits>

#include "harness/types/run_result.hpp"

namespace feedbench::reporters {

// V: visitor called as visit("key", member). T: the struct, const for a writer.
#define FEEDBENCH_FIELDS(Type)                                                                                         \
    template <class V, class T>                                                                                        \
    requires std::is_same_v<std::remove_const_t<T>, Type>                                                              \
    void fields(V& visit, T& x)

FEEDBENCH_FIELDS(HistogramData) {
    visit("key", x.key);
    visit("count", x.count);
    visit("min_ns", x.min_ns);
    visit("max_ns", x.max_ns);
    visit("mean_ns", x.mean_ns);
    visit("p50_ns", x.p50_ns);
    visit("p95_ns", x.p95_ns);
    visit("p99_ns", x.p99_ns);
    visit("p999_ns", x.p999_ns);
    visit("buckets_ns_count", x.buckets); // pairs: lower bound in ns, count
}
FEEDBENCH_FIELDS(RetryResult) {
    visit("cause", x.cause);
    visit("count", x.count);
}
FEEDBENCH_FIELDS(EndpointResult) {
    visit("name", x.name);
    visit("rank_count", x.rank_count);
    visit("request_count", x.request_count);
    visit("failed_request_count", x.failed_request_count);
    visit("retry_count", x.retry_count);
    visit("connection_count", x.connection_count);
    visit("bytes_received", x.bytes_received);
    visit("bytes_sent", x.bytes_sent);
    visit("retries", x.retries);
    visit("histograms", x.histograms);
}
FEEDBENCH_FIELDS(StorageResult) {
    visit("use", x.use);
    visit("backend", x.backend);
    visit("place", x.place);
    visit("hosts", x.hosts);
    visit("filesystem_type", x.filesystem_type);
    visit("device", x.device);
    visit("mount_point", x.mount_point);
    visit("mount_options", x.mount_options);
    visit("is_network", x.is_network);
    visit("is_memory", x.is_memory);
    visit("server", x.server);
    visit("network_interface", x.network_interface);
    visit("total_bytes", x.total_bytes);
    visit("free_bytes", x.free_bytes);
    visit("note", x.note);
    visit("endpoints", x.endpoints);
}
} // namespace feedbench::reporters
