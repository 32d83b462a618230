// The table of backends: scheme, what it is, options, factory.
//
// Thread: any; constant. Owner: static. Units: none. Errors: an unknown scheme names the known ones.
#pragma once

#include "storage/backend.hpp"

namespace feedbench::storage {

// What can be said of a backend before there is one; Capabilities then says it of that one.
struct Traits {
    bool has_content = true;       // reads return what was written
    bool direct_io = false;        // may pass the client's page cache by
    bool page_cached = false;      // may be served from it
    bool object_semantics = false; // no rename, no directories
    bool is_network = false;       // a server answers, and the client's own library speaks to it
    bool virtual_time = false;     // may run under the virtual clock
};

struct BackendEntry {
    std::string_view scheme; // "file", "null", "model", "fault", ...
    std::string_view help;
    std::span<const Option> options;
    Expected<std::unique_ptr<Backend>> (*make)(const BackendRequest& request);
    bool options_in_uri = false; // what follows the scheme is "key=value,key=value", not a place
    Traits traits = {};
    // Of a backend that needs a library: the sentence to print where this build lacks it, else empty. nullptr: it needs
    // none.
    std::string (*unavailable)() = nullptr;
};

std::span<const BackendEntry> backends();

// The factories, each at the end of its backend's file; tables of options beside them. model's are in model.hpp.
Expected<std::unique_ptr<Backend>> make_posix_backend(const BackendRequest& request);
Expected<std::unique_ptr<Backend>> make_null_backend(const BackendRequest& request);
Expected<std::unique_ptr<Backend>> make_fault_backend(const BackendRequest& request);
Expected<std::unique_ptr<Backend>> make_mpiio_backend(const BackendRequest& request);
std::span<const Option> mpiio_options();
Expected<std::unique_ptr<Backend>> make_nfs_backend(const BackendRequest& request);
std::span<const Option> nfs_options();
std::string nfs_unavailable();
Expected<std::unique_ptr<Backend>> make_s3_backend(const BackendRequest& request);
std::span<const Option> s3_options();
std::string s3_unavailable();
Expected<std::unique_ptr<Backend>> make_feedfs_backend(const BackendRequest& request);
std::span<const Option> feedfs_options();
std::span<const Option> null_options();
std::span<const Option> posix_options();
std::span<const Option> fault_options();

// "/path" and "path" -> file; "null:" -> null; "model:bandwidth=1e9,latency=1ms" -> model with options;
// "s3://bucket/p". "fault:error=EIO@3;inner=/path": inner takes all the rest.
struct Uri {
    std::string scheme, root;
    std::map<std::string, std::string> options;
};
Expected<Uri> parse_uri(const std::string& text);
// The entry of a scheme; nullptr where there is none.
const BackendEntry* find_backend(std::string_view scheme);
const Option* find_option(const BackendEntry& entry, std::string_view key);

// Parses the URI in request.uri, checks the options (those already in request.options, and the URI's, which win)
// against the entry's table: key known, value of its type. Then fills in defaults, so that a factory finds every key;
// and makes the backend.
Expected<std::unique_ptr<Backend>> make_backend(BackendRequest request);

} // namespace feedbench::storage
