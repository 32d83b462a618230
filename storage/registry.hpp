// The table of backends: scheme, what it is, options, factory.
//
// Thread: any; constant. Owner: static. Units: none. Errors: an unknown scheme names the known ones.
#pragma once

#include "storage/backend.hpp"

namespace feedbench::storage {

struct BackendEntry {
    std::string_view scheme; // "file", "null", "model", "fault", ...
    std::string_view help;
    std::span<const Option> options;
    Expected<std::unique_ptr<Backend>> (*make)(const BackendRequest& request);
};

std::span<const BackendEntry> backends();

// "/path" and "path" -> file; "null:" -> null; "model:bandwidth=1e9,latency=1ms" -> model with options; "s3://bucket/p".
struct Uri { std::string scheme, root; std::map<std::string, std::string> options; };
Expected<Uri> parse_uri(const std::string& text);

// Parses the URI in request.uri, checks the options against the entry's table, and makes the backend.
Expected<std::unique_ptr<Backend>> make_backend(BackendRequest request);

} // namespace feedbench::storage
