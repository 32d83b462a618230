// What this build has of backends, and what would be used for a URI: as text and as JSON.
//
// Thread: main thread. Owner: cmd_list. Units: bytes in JSON, GB (10^9) in text. Errors: as make_backend's: an unknown
// scheme, an unknown or wrong option, a library that this build lacks.
#pragma once

#include <map>
#include <string>

#include "harness/engine/reactor.hpp"
#include "harness/types/error.hpp"

namespace feedbench::cli {

std::string backends_text();
std::string backends_json();

struct LookedAt {
    std::string uri;
    std::map<std::string, std::string> options; // storage options: endpoint_url, region, ...
    bool odirect = false;
    bool as_json = false;
};
// Makes the backend of the URI as a run would, and says what it is: kind, what was agreed, what it can do, the
// filesystem below it with device, mount options, server and interface, room, the options with their values.
Expected<std::string> look_at_uri(const LookedAt& asked, engine::Reactor& reactor);

// "key=value" from a command line; an error where there is no '='.
Status add_option_text(const std::string& text, std::map<std::string, std::string>& options);

} // namespace feedbench::cli
