#include "storage/s3/credentials.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <vector>

namespace feedbench::storage::s3 {

namespace {

using Section = std::map<std::string, std::string>;
using Sections = std::map<std::string, Section>;

std::string stripped(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    return std::string(text);
}

std::string lower_case(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

// [profile], key = value; lines before any section go into "". None: the file cannot be read.
std::optional<Sections> read_sections(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    Sections sections;
    std::string line, name;
    while (std::getline(file, line)) {
        // Indented lines are nested settings ("s3 =" and what is below it): of no concern here.
        const bool is_nested = line.starts_with(' ') || line.starts_with('\t');
        const std::string text = stripped(line);
        if (text.empty() || text.front() == '#' || text.front() == ';' || is_nested) continue;
        if (text.front() == '[' && text.back() == ']') {
            name = stripped(std::string_view(text).substr(1, text.size() - 2));
            if (name.starts_with("profile ")) name = stripped(std::string_view(name).substr(8));
            continue;
        }
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) continue;
        std::string key = stripped(std::string_view(text).substr(0, equals));
        if (key.starts_with("export ")) key = stripped(std::string_view(key).substr(7));
        std::string value = stripped(std::string_view(text).substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        sections[name][lower_case(key)] = value;
    }
    return sections;
}

std::string value_of(const Section& section, const char* key) {
    const auto found = section.find(key);
    return found == section.end() ? std::string() : found->second;
}

// False: no key in it. Half a pair of keys is an error.
Expected<bool> take(const Section& section, const std::string& origin, Surroundings& found) {
    if (found.region.empty()) found.region = value_of(section, "region");
    if (found.region.empty()) found.region = value_of(section, "aws_region");
    if (found.endpoint_url.empty()) found.endpoint_url = value_of(section, "endpoint_url");
    if (found.ca_bundle.empty()) found.ca_bundle = value_of(section, "ca_bundle");
    Credentials& c = found.credentials;
    if (!c.access_key.empty() || c.anonymous) return true;
    const std::string id = value_of(section, "aws_access_key_id"), secret = value_of(section, "aws_secret_access_key");
    if (id.empty() && secret.empty()) return false;
    if (id.empty() || secret.empty())
        return config_error(origin + " has only one of aws_access_key_id and aws_secret_access_key; both are needed");
    c.access_key = id;
    c.secret_key = secret;
    c.session_token = value_of(section, "aws_session_token");
    c.origin = origin;
    return true;
}

struct Search {
    const Environment& environment;
    Surroundings found;
    std::string looked_at;

    std::string get(const char* name) const { return environment(name).value_or(""); }
    Status file(const std::string& path, const std::string& profile, bool must_have_keys) {
        looked_at += (looked_at.empty() ? "" : ", ") + ("profile " + profile + " of " + path);
        const auto sections = read_sections(path);
        if (!sections) {
            if (must_have_keys) return config_error("the file of credentials cannot be read", path);
            return {};
        }
        auto section = sections->find(profile);
        if (section == sections->end() && must_have_keys) section = sections->find("");
        if (section == sections->end()) {
            if (must_have_keys)
                return config_error("the file of credentials has neither a section [" + profile +
                                        "] nor lines AWS_ACCESS_KEY_ID=... before the first section",
                                    path);
            return {};
        }
        auto taken = take(section->second, section->first.empty() ? path : "profile " + profile + " of " + path, found);
        if (!taken) return taken.error();
        if (!*taken && must_have_keys)
            return config_error("the file of credentials holds no aws_access_key_id and aws_secret_access_key for the "
                                "profile " +
                                    profile,
                                path);
        return {};
    }
};

} // namespace

Environment process_environment() {
    return [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') return std::nullopt;
        return std::string(value);
    };
}

Expected<Surroundings> find_credentials(const CredentialRequest& request, const Environment& environment) {
    Search search{environment, {}, {}};
    Surroundings& found = search.found;
    std::string profile = request.profile.empty() ? search.get("AWS_PROFILE") : request.profile;
    if (profile.empty()) profile = "default";
    if (request.anonymous) {
        found.credentials.anonymous = true;
        found.credentials.origin = "none: requests are unsigned";
    }
    found.region = search.get("AWS_REGION");
    if (found.region.empty()) found.region = search.get("AWS_DEFAULT_REGION");
    found.endpoint_url = search.get("AWS_ENDPOINT_URL_S3");
    if (found.endpoint_url.empty()) found.endpoint_url = search.get("AWS_ENDPOINT_URL");
    found.ca_bundle = search.get("AWS_CA_BUNDLE");
    if (!request.file.empty())
        if (auto status = search.file(request.file, profile, !request.anonymous); !status) return status.error();
    if (request.profile.empty()) {
        search.looked_at += (search.looked_at.empty() ? "" : ", ") +
                            std::string("the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)");
        auto taken = take({{"aws_access_key_id", search.get("AWS_ACCESS_KEY_ID")},
                           {"aws_secret_access_key", search.get("AWS_SECRET_ACCESS_KEY")},
                           {"aws_session_token", search.get("AWS_SESSION_TOKEN")}},
                          "the environment (AWS_ACCESS_KEY_ID)", found);
        if (!taken) return taken.error();
    }
    const std::string home = search.get("HOME");
    for (const auto& [variable, file] : {std::pair{"AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"},
                                         std::pair{"AWS_CONFIG_FILE", "/.aws/config"}}) {
        std::string path = search.get(variable);
        if (path.empty() && !home.empty()) path = home + file;
        if (path.empty()) continue;
        if (auto status = search.file(path, profile, false); !status) return status.error();
    }
    if (found.credentials.access_key.empty() && !found.credentials.anonymous)
        return config_error("there are no S3 credentials; looked at: " + search.looked_at +
                            ". Keys in a workload file or on the command line are not used. For a bucket that is open "
                            "to everybody: storage.storage_options.anonymous=true");
    return found;
}

} // namespace feedbench::storage::s3
