// Access keys: where they come from, and that they never leave.
//
// Thread: any. Owner: the holder. Units: none. Errors: config_error that names every place that was looked at; no
// message, log or result ever holds a key. Source: the order and the files of AWS' own tools (AWS SDKs and Tools
// Reference Guide, "shared config and credentials files").
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/types/error.hpp"

namespace feedbench::storage::s3 {

struct Credentials {
    std::string access_key, secret_key, session_token;
    bool anonymous = false; // requests go out unsigned
    std::string origin;     // "AWS_ACCESS_KEY_ID", "profile default of /root/.aws/credentials": may be shown
};

// Reads one environment variable; tests give their own. An empty value counts as none.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// What the shared files and the environment say besides keys.
struct Surroundings {
    Credentials credentials;
    std::string region, endpoint_url,
        ca_bundle; // AWS_REGION, AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL
};

struct CredentialRequest {
    std::string file; // a file of the shared form, or of lines KEY=VALUE with AWS_ACCESS_KEY_ID and so on; empty: none
    std::string profile = {}; // empty: AWS_PROFILE, else "default"
    bool anonymous = false;
};

// 1. the file named; 2. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN (unless a profile was named);
// 3. the profile in AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), then in AWS_CONFIG_FILE (~/.aws/config).
Expected<Surroundings> find_credentials(const CredentialRequest& request, const Environment& environment);

} // namespace feedbench::storage::s3
