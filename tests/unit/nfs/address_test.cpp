#include "storage/nfs/address.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;
using namespace feedbench::storage::nfs;

namespace {

std::string refusal(const std::string& text) {
    const auto address = parse_address(text);
    return address ? "accepted" : address.error().describe();
}

} // namespace

TEST_CASE("nfs addresses: host, port, path and arguments") {
    const auto plain = parse_address("server/export/data");
    REQUIRE(plain);
    CHECK(plain->host == "server");
    CHECK(plain->port == 0);
    CHECK(plain->path == "/export/data");
    CHECK(plain->arguments.empty());
    const auto all = parse_address("10.0.0.1:20049/export//data/?version=3&mountport=111&&timeout=5s");
    REQUIRE(all);
    CHECK(all->port == 20049);
    CHECK(all->path == "/export/data");
    CHECK(all->arguments.at("version") == "3");
    CHECK(all->arguments.at("mountport") == "111");
    CHECK(all->arguments.at("timeout") == "5s");
    const auto six = parse_address("[fd00::1]:2049/x");
    REQUIRE(six);
    CHECK(six->host == "fd00::1");
    CHECK(six->port == 2049);
    Settings settings;
    settings.address = *six;
    settings.nfs_port = six->port;
    CHECK(settings.server_text() == "nfs://[fd00::1]:2049");
    const auto root = parse_address("server/");
    REQUIRE(root);
    CHECK(root->path == "/");
}

TEST_CASE("nfs addresses: names with any byte, written as percent and two digits (case O2)") {
    const auto address = parse_address("server/a%20b/50%25/%e6%bc%a2?export%3d=x%26y");
    REQUIRE(address);
    CHECK(address->path == "/a b/50%/\xe6\xbc\xa2");
    CHECK(address->arguments.at("export%3d") == "x&y"); // keys are plain words
    CHECK(parse_address("server/a+b")->path == "/a+b"); // no form encoding
    CHECK(parse_address("server/ends%41")->path == "/endsA");
    CHECK(refusal("server/50%").find("%25") != std::string::npos);
    CHECK(refusal("server/50%4").find("%25") != std::string::npos);
    CHECK(refusal("server/50%zz").find("%25") != std::string::npos);
    CHECK(refusal("server/a%00b").find("zero byte") != std::string::npos);
}

TEST_CASE("nfs addresses: what is missing or wrong is named") {
    CHECK(refusal("server").find("the export is missing: nfs://server/export/path") != std::string::npos);
    CHECK(refusal("/export").find("names a server and an export") != std::string::npos);
    CHECK(refusal("server:0/x").find("'0' is not a port") != std::string::npos);
    CHECK(refusal("server:65536/x").find("'65536' is not a port") != std::string::npos);
    CHECK(refusal("server:2o49/x").find("'2o49' is not a port") != std::string::npos);
    CHECK(refusal("[fd00::1/x").find("']'") != std::string::npos);
    CHECK(refusal("server/x?version").find("'version' is not key=value") != std::string::npos);
    CHECK(refusal("server/x?=3").find("'=3' is not key=value") != std::string::npos);
}
