#include "storage/s3/config.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/types/option_reader.hpp"

namespace feedbench::storage::s3 {

namespace {

using T = OptionType;
constexpr std::array<Option, 26> kOptions{{
    {"endpoint_url", T::text, "", "",
     "http(s)://host[:port] of the object store; several, separated by commas, are used in turn by ranks and "
     "accelerators; none: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url, else AWS' own"},
    {"region", T::text, "", "", "region that signatures name; none: AWS_REGION, the profile's, else us-east-1"},
    {"addressing", T::text, "", "auto",
     "auto|path|virtual_host: bucket in the path or in the host's name; auto: host's name at amazonaws.com, else path"},
    {"s3_force_path_style", T::boolean, "", "false", "true is addressing=path; false leaves it to addressing"},
    {"s3_max_attempts", T::integer, "", "5", "attempts of one request, the first included"},
    {"credentials_file", T::text, "", "", "file with keys: an AWS credentials file, or lines AWS_ACCESS_KEY_ID=..."},
    {"profile", T::text, "", "", "profile in the shared files, in place of AWS_PROFILE and of keys in the environment"},
    {"anonymous", T::boolean, "", "false", "requests are unsigned"},
    {"ca_file", T::text, "", "", "certificates to trust (PEM), in place of the system's; none: AWS_CA_BUNDLE"},
    {"verify_tls", T::boolean, "", "true", "false: any certificate will do; said in the result"},
    {"sign_payload", T::text, "", "auto",
     "auto|always|never: whether signatures cover what is written; auto: over http only, as AWS' tools do"},
    {"checksum", T::text, "", "none",
     "none|crc32c|md5: sent with everything that is written; the store refuses what does not match"},
    {"part_size", T::size_bytes, "bytes", "8MiB",
     "parts of a multipart PUT (5 MiB or more, as S3 asks); a read larger than this is cut into such GETs"},
    {"parts_in_flight", T::integer, "", "4", "parts under way at once, of one file that is written or of one read"},
    {"open_size", T::size_bytes, "bytes", "1MiB",
     "opening an object of unknown size gets its first so many bytes, in place of a HEAD"},
    {"buffer_size", T::size_bytes, "bytes", "256KiB", "receive buffer of a connection, 16 KiB to 512 KiB"},
    {"in_place", T::boolean, "", "true",
     "GETs over http:// are received straight into the landing buffer; false: libcurl carries and copies them, too"},
    {"connect_timeout", T::duration_s, "s", "5s", "a connection must be there after so long"},
    {"idle_timeout", T::duration_s, "s", "30s", "no byte for so long: given up and tried again"},
    {"back_off_first", T::duration_s, "s", "50ms", "pause before the second attempt; doubles, with jitter"},
    {"back_off_most", T::duration_s, "s", "5s", "the longest pause"},
    {"access_key_id", T::text, "", "", "accepted without effect: keys come from the environment or from files"},
    {"secret_access_key", T::text, "", "", "accepted without effect: keys come from the environment or from files"},
    {"session_token", T::text, "", "", "accepted without effect: keys come from the environment or from files"},
    {"storage_library", T::text, "", "", "accepted without effect: there is one client"},
    {"prefetch_window", T::text, "", "", "accepted without effect: reader.prefetch_size says how much is read ahead"},
}};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

Error refused(std::string_view key, const std::string& why) {
    return config_error("storage option '" + std::string(key) + "': " + why);
}

Expected<std::vector<Endpoint>> parse_endpoints(std::string_view text) {
    std::vector<Endpoint> all;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string_view one = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        while (one.starts_with(' ')) one.remove_prefix(1);
        while (one.ends_with(' ')) one.remove_suffix(1);
        auto endpoint = parse_endpoint(one);
        if (!endpoint) return endpoint.error();
        all.push_back(std::move(*endpoint));
    }
    return all;
}

bool is_aws(const Endpoint& endpoint) {
    return endpoint.host.ends_with(".amazonaws.com") || endpoint.host.ends_with(".amazonaws.com.cn");
}

constexpr std::uint64_t kMiB = 1 << 20;

Status set_place(Config& config, OptionReader& values, const Surroundings& found) {
    config.region = values.text("region");
    if (config.region.empty()) config.region = found.region.empty() ? "us-east-1" : found.region;
    std::string urls = values.text("endpoint_url");
    if (urls.empty()) urls = found.endpoint_url;
    if (urls.empty()) urls = "https://s3." + config.region + ".amazonaws.com";
    auto endpoints = parse_endpoints(urls);
    if (!endpoints) return endpoints.error();
    config.endpoints = std::move(*endpoints);
    static constexpr std::array<std::string_view, 3> kAddressing{"auto", "path", "virtual_host"};
    const std::size_t addressing = values.choice("addressing", kAddressing);
    const bool forced = values.boolean("s3_force_path_style");
    if (forced && addressing == 2) values.refuse("addressing", "virtual_host contradicts s3_force_path_style: true");
    const bool in_host = !forced && (addressing == 2 || (addressing == 0 && is_aws(config.endpoints.front())));
    config.addressing = in_host ? Addressing::virtual_host : Addressing::path;
    return {};
}

// "host", "host:9000", "[::1]", "[::1]:9000"
bool has_possible_port(std::string_view host) {
    const std::size_t colon = host.rfind(':');
    if (colon == std::string_view::npos || host.ends_with(']')) return true;
    if (colon == 0) return false;
    const std::string_view digits = host.substr(colon + 1);
    unsigned port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return error == std::errc() && end == digits.data() + digits.size() && port >= 1 && port <= 65535;
}

} // namespace

std::span<const Option> config_options() { return kOptions; }

Expected<Endpoint> parse_endpoint(std::string_view text) {
    Endpoint endpoint;
    const std::string whole(text);
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos || (text.substr(0, colon) != "http" && text.substr(0, colon) != "https"))
        return refused("endpoint_url",
                       "'" + whole + "' is no URL like http://127.0.0.1:9000 or https://s3.example.org");
    endpoint.scheme = std::string(text.substr(0, colon));
    text.remove_prefix(colon + 3);
    const std::size_t slash = std::min(text.find('/'), text.size());
    endpoint.host = lower(std::string(text.substr(0, slash)));
    endpoint.base = std::string(text.substr(slash));
    while (endpoint.base.ends_with('/')) endpoint.base.pop_back();
    if (endpoint.host.find('@') != std::string::npos)
        return refused("endpoint_url", "names and keys do not belong into it: it would be shown in results");
    if (endpoint.host.empty() || endpoint.base.find_first_of("?#") != std::string::npos ||
        !has_possible_port(endpoint.host))
        return refused("endpoint_url",
                       "'" + whole + "' is no URL like http://127.0.0.1:9000 or https://s3.example.org");
    const std::string usual = endpoint.scheme == "http" ? ":80" : ":443";
    if (endpoint.host.ends_with(usual)) endpoint.host.resize(endpoint.host.size() - usual.size());
    return endpoint;
}

Expected<Config> make_config(const std::map<std::string, std::string>& options, const Environment& environment) {
    OptionReader values(kOptions, options);
    Config config;
    const CredentialRequest request{values.text("credentials_file"), values.text("profile"),
                                    values.boolean("anonymous")};
    if (auto status = values.status(); !status) return status.error();
    auto found = find_credentials(request, environment);
    if (!found) return found.error();
    config.credentials = found->credentials;
    if (auto status = set_place(config, values, *found); !status) return status.error();
    config.ca_file = values.text("ca_file");
    if (config.ca_file.empty()) config.ca_file = found->ca_bundle;
    config.verify_tls = values.boolean("verify_tls");
    static constexpr std::array<std::string_view, 3> kSigned{"auto", "always", "never"}, kSums{"none", "crc32c", "md5"};
    const std::size_t sign = values.choice("sign_payload", kSigned);
    config.sign_payload = sign == 1 || (sign == 0 && config.endpoints.front().scheme == "http");
    config.checksum = static_cast<Checksum>(values.choice("checksum", kSums));
    config.attempts = static_cast<unsigned>(values.integer("s3_max_attempts", 1, 1000));
    config.part_bytes = values.bytes("part_size", 5 * kMiB, 5120 * kMiB);
    config.parts_in_flight = static_cast<unsigned>(values.integer("parts_in_flight", 1, 256));
    config.open_bytes = values.bytes("open_size", 1, 5120 * kMiB);
    config.buffer_bytes = values.bytes("buffer_size", 16 * 1024, 512 * 1024);
    config.in_place = values.boolean("in_place");
    config.connect_timeout_ns = values.duration_ns("connect_timeout", 1);
    config.idle_timeout_ns = values.duration_ns("idle_timeout", 1);
    config.back_off_first_ns = values.duration_ns("back_off_first", 1);
    config.back_off_most_ns = values.duration_ns("back_off_most", 1);
    if (auto status = values.status(); !status) return status.error();
    return config;
}

} // namespace feedbench::storage::s3
