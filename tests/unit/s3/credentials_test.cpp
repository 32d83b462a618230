#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "storage/s3/config.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::storage::s3;

struct Home {
    std::string path;
    std::map<std::string, std::string> variables;
    Home() {
        char name[] = "/tmp/feedbench-home-XXXXXX";
        path = ::mkdtemp(name);
        std::filesystem::create_directory(path + "/.aws");
        variables["HOME"] = path;
    }
    ~Home() { std::filesystem::remove_all(path); }
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path + "/" + name) << text;
        return path + "/" + name;
    }
    Environment environment() const {
        return [this](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        };
    }
    Expected<Surroundings> find(const CredentialRequest& request = {}) const {
        return find_credentials(request, environment());
    }
};

TEST_CASE("credentials: the environment, then the shared files") {
    Home home;
    home.write(".aws/credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key=fs\n"
                                   "[other]\n# comment\naws_access_key_id=OTHER\naws_secret_access_key = o=s\n"
                                   "aws_session_token=tok\n");
    home.write(".aws/config", "[default]\nregion = eu-west-3\n[profile other]\nregion=ap-1\n"
                              "s3 =\n  addressing_style = path\nendpoint_url = http://h:1\n");
    auto found = home.find();
    REQUIRE(found);
    CHECK(found->credentials.access_key == "FILE");
    CHECK(found->region == "eu-west-3");
    CHECK(found->credentials.origin.find("profile default") != std::string::npos);

    found = home.find({.file = {}, .profile = "other"});
    REQUIRE(found);
    CHECK(found->credentials.access_key == "OTHER");
    CHECK(found->credentials.secret_key == "o=s");
    CHECK(found->credentials.session_token == "tok");
    CHECK(found->region == "ap-1");
    CHECK(found->endpoint_url == "http://h:1");

    home.variables["AWS_ACCESS_KEY_ID"] = "ENV";
    home.variables["AWS_SECRET_ACCESS_KEY"] = "es";
    home.variables["AWS_REGION"] = "us-7";
    found = home.find();
    REQUIRE(found);
    CHECK(found->credentials.access_key == "ENV");
    CHECK(found->region == "us-7");
    CHECK(home.find({.file = {}, .profile = "other"})->credentials.access_key == "OTHER"); // who names one means it
    home.variables["AWS_PROFILE"] = "other";
    CHECK(home.find()->credentials.access_key == "ENV");
}

TEST_CASE("credentials: a file that was named comes first, in both forms") {
    Home home;
    home.variables["AWS_ACCESS_KEY_ID"] = "ENV";
    home.variables["AWS_SECRET_ACCESS_KEY"] = "es";
    const std::string plain = home.write("keys", "export AWS_ACCESS_KEY_ID=\"PLAIN\"\nAWS_SECRET_ACCESS_KEY='p s'\n");
    auto found = home.find({.file = plain});
    REQUIRE(found);
    CHECK(found->credentials.access_key == "PLAIN");
    CHECK(found->credentials.secret_key == "p s");
    CHECK(found->credentials.origin == plain);
    const std::string sections = home.write("sections", "[default]\naws_access_key_id=S\naws_secret_access_key=x\n");
    CHECK(home.find({.file = sections})->credentials.access_key == "S");
    CHECK_FALSE(home.find({.file = home.path + "/missing"}));
    CHECK_FALSE(home.find({.file = home.write("empty", "\n")}));
}

TEST_CASE("credentials: none, or half of a pair, is an error that names places and no key") {
    Home home;
    auto found = home.find();
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == ErrorKind::config);
    for (const char* place : {"AWS_ACCESS_KEY_ID", "/.aws/credentials", "/.aws/config", "anonymous"})
        CHECK(found.error().message.find(place) != std::string::npos);
    home.variables["AWS_SECRET_ACCESS_KEY"] = "hush";
    found = home.find();
    REQUIRE_FALSE(found);
    CHECK(found.error().describe().find("hush") == std::string::npos);
    CHECK(home.find({.file = {}, .profile = {}, .anonymous = true}));
}

TEST_CASE("config: what DLIO's S3 workloads say is understood; keys in them are not used") {
    Home home;
    home.variables["AWS_ACCESS_KEY_ID"] = "ENV";
    home.variables["AWS_SECRET_ACCESS_KEY"] = "es";
    const std::map<std::string, std::string> said{
        {"access_key_id", "access-key"}, {"secret_access_key", "secret-key"}, {"endpoint_url", "http://localhost:9020"},
        {"region", "us-east-1"},         {"s3_force_path_style", "False"},    {"s3_max_attempts", "5"}};
    const auto config = make_config(said, home.environment());
    REQUIRE(config);
    CHECK(config->credentials.access_key == "ENV");
    CHECK(config->endpoints.front().url() == "http://localhost:9020");
    CHECK(config->attempts == 5);
    CHECK(config->addressing == Addressing::path); // a host of one's own has no names for buckets
    CHECK(config->sign_payload);
}

TEST_CASE("config: endpoints, addressing, limits") {
    Home home;
    const auto make = [&](std::map<std::string, std::string> options) {
        options["anonymous"] = "true";
        return make_config(options, home.environment());
    };
    CHECK(make({{"region", "eu-2"}})->endpoints.front().url() == "https://s3.eu-2.amazonaws.com");
    CHECK(make({})->addressing == Addressing::virtual_host);
    CHECK(make({{"s3_force_path_style", "true"}})->addressing == Addressing::path);
    CHECK_FALSE(make({})->sign_payload); // https
    const auto two = make({{"endpoint_url", "http://A:80/x/, https://b:443"}});
    REQUIRE(two);
    REQUIRE(two->endpoints.size() == 2);
    CHECK(two->endpoints[0].url() == "http://a/x");
    CHECK(two->endpoints[1].host == "b");
    CHECK(make({{"endpoint_url", "http://a"}, {"addressing", "virtual_host"}})->addressing == Addressing::virtual_host);
    for (const auto& [key, value] : std::map<std::string, std::string>{{"endpoint_url", "localhost:9000"},
                                                                       {"endpoint_url", "http://k:s@host"},
                                                                       {"part_size", "1MiB"},
                                                                       {"parts_in_flight", "0"},
                                                                       {"s3_max_attempts", "many"},
                                                                       {"checksum", "sha1"},
                                                                       {"idle_timeout", "0"},
                                                                       {"verify_tls", "maybe"}}) {
        INFO(key << "=" << value);
        const auto wrong = make({{key, value}});
        REQUIRE_FALSE(wrong);
        CHECK(wrong.error().message.find(key) != std::string::npos);
    }
    for (const Option& option : config_options()) CHECK_FALSE(option.help.empty());
}

} // namespace
