// What `model:` can be told: the keys of its URI, their check, and the URI of given parameters.
//
// Thread: any; plain values. Owner: the caller. Units: in the names; rates in bytes/s and 1/s, 0 = without limit.
// Errors: a key whose value makes no sense, alone or beside another, is a config error that names it.
// Source: DESIGN sections 4 and 6; docs/simulate.md explains each key.
#pragma once

#include <map>
#include <span>
#include <string>

#include "harness/types/error.hpp"
#include "harness/types/option.hpp"

namespace feedbench::storage {

// The p99 of a time is either 0 (the time is constant) or not below the time itself, which is then the median of a
// lognormal distribution.
struct ModelTime {
    std::uint64_t median_ns = 0, p99_ns = 0;
    bool operator==(const ModelTime&) const = default;
};

struct ModelParameters {
    double bytes_per_second = 0, operations_per_second = 0; // of the storage, shared by all
    std::uint32_t parallel_count = 0;                       // operations that the storage works on at a time
    ModelTime latency, open_latency;
    std::uint64_t jitter_ns = 0;       // mean of an exponential time added to each latency
    std::uint64_t piece_bytes = 0;     // a longer operation is several of this size, one after another
    std::uint32_t host_count = 1;      // accelerator a is on host a mod host_count
    double link_bytes_per_second = 0;  // of each host
    std::uint64_t client_cost_ns = 0;  // that an operation takes of its host before it reaches the storage
    double cached_share = 0;           // of the files
    double cache_bytes_per_second = 0; // of each host
    std::uint64_t cache_latency_ns = 0;

    bool operator==(const ModelParameters&) const = default;
};

std::span<const Option> model_options();
// `options` as make_backend hands them over: values have their type already. `uri` is named in messages.
Expected<ModelParameters> parse_model_parameters(const std::map<std::string, std::string>& options,
                                                 const std::string& uri);
// "model:bandwidth=500MB,latency=1ms": what is not as by default.
std::string model_uri(const ModelParameters& parameters);

} // namespace feedbench::storage
