// Everything that a client of an object store is told: endpoints, region, credentials, sizes, patience.
//
// Thread: any; constant once made. Owner: the holder. Units: ns, bytes. Errors: config_error names the option.
// Source: docs/s3.md; keys of storage.storage_options as DLIO's S3 workloads write them, and ours.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/option.hpp"
#include "storage/s3/credentials.hpp"

namespace feedbench::storage::s3 {

struct Endpoint {
    std::string scheme; // "http" or "https"
    std::string host;   // "127.0.0.1:9000", "s3.eu-central-1.amazonaws.com"; the port only where it is not the scheme's
    std::string base;   // path below which buckets lie: "" or "/gateway"
    std::string url() const { return scheme + "://" + host + base; }
};
Expected<Endpoint> parse_endpoint(std::string_view text);

enum class Addressing : std::uint8_t { path, virtual_host };
enum class Checksum : std::uint8_t { none, crc32c, md5 };

struct Config {
    std::vector<Endpoint> endpoints; // at least one
    std::string region = "us-east-1";
    Addressing addressing = Addressing::path;
    Credentials credentials;
    std::string ca_file;      // empty: the system's
    bool verify_tls = true;   // false: any certificate will do
    bool sign_payload = true; // SHA-256 of what is put; else UNSIGNED-PAYLOAD
    Checksum checksum = Checksum::none;
    unsigned attempts = 5; // of one request, the first included
    std::uint64_t back_off_first_ns = 50'000'000, back_off_most_ns = 5'000'000'000;
    std::uint64_t connect_timeout_ns = 5'000'000'000;
    std::uint64_t idle_timeout_ns = 30'000'000'000; // no byte in either direction for so long: given up, tried again
    std::uint64_t part_bytes = 8 << 20;             // of multipart PUTs; reads larger than this are cut into such GETs
    unsigned parts_in_flight = 4;                   // of one file or read
    std::uint64_t open_bytes = 1 << 20;             // the GET that opens an object asks for its first so many
    std::uint64_t buffer_bytes = 256 << 10;         // libcurl's receive buffer
    bool in_place = true;                           // GETs over http:// pass libcurl by (plain_engine.hpp)
    std::uint64_t seed = 0;                         // of the back-off's jitter
    unsigned rank = 0;                              // chooses the endpoint, with the accelerator
};

// The keys of storage.storage_options.
std::span<const Option> config_options();
// `options`: every key of config_options() (make_backend fills in defaults) or none of them: each then has its default.
Expected<Config> make_config(const std::map<std::string, std::string>& options, const Environment& environment);

} // namespace feedbench::storage::s3
