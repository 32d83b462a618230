#include <cctype>
#include <cstring>

#include <catch2/catch.hpp>

#include "storage/s3/address.hpp"
#include "storage/s3/config.hpp"

namespace {

using namespace feedbench::storage::s3;

TEST_CASE("address: all ways of writing a root are one URI (O1)") {
    for (const char* text : {"bucket/p", "s3://bucket/p", "s3://bucket/p/", "s3://s3://bucket/p", "bucket/p///"}) {
        INFO(text);
        const auto address = parse_address(text);
        REQUIRE(address);
        CHECK(address->uri() == "s3://bucket/p");
        CHECK(address->key("train/a.npz") == "p/train/a.npz");
        CHECK(address->folder("train") == "p/train/");
    }
    for (const char* text : {"bucket", "s3://bucket", "s3://bucket/"}) {
        const auto address = parse_address(text);
        REQUIRE(address);
        CHECK(address->uri() == "s3://bucket");
        CHECK(address->key("a") == "a");
        CHECK(address->key("").empty());
        CHECK(address->folder("").empty());
    }
    CHECK(parse_address("s3://b//p")->key("x") == "/p/x"); // doubled slashes belong to the key
}

TEST_CASE("address: what names no bucket is refused") {
    for (const char* text : {"", "s3://", "/p", "s3:///p", "bu cket/p", "b?x/p"}) {
        INFO(text);
        const auto address = parse_address(text);
        REQUIRE_FALSE(address);
        CHECK(address.error().kind == feedbench::ErrorKind::config);
        CHECK(address.error().message.find("bucket") != std::string::npos);
    }
}

// SigV4's UriEncode: every byte but A-Z a-z 0-9 '-' '.' '_' '~', with hexadecimal digits in capitals. What is signed is
// sent in these very letters, so that a server that decodes and one that does not see one path.
TEST_CASE("address: encoding of keys leaves nothing but the unreserved characters") {
    CHECK(encode("it's (1)!*.npz", true) == "it%27s%20%281%29%21%2A.npz");
    CHECK(encode("a+b&c=d?e#f%g", true) == "a%2Bb%26c%3Dd%3Fe%23f%25g");
    CHECK(encode(":@$,;[]", true) == "%3A%40%24%2C%3B%5B%5D");
    CHECK(encode("a//b/./../c", true) == "a//b/./../c"); // S3 does not normalise paths
    for (int c = 1; c < 256; ++c) {
        const char one = static_cast<char>(c);
        const bool is_plain = (c < 128 && std::isalnum(c) != 0) || (c != 0 && std::strchr("-._~", c) != nullptr);
        INFO(c);
        CHECK(encode({&one, 1}, false).size() == (is_plain ? 1 : 3));
    }
}

TEST_CASE("address: encoding of keys, and back") {
    CHECK(encode("a/b c+d%e#f", true) == "a/b%20c%2Bd%25e%23f");
    CHECK(encode("a/b", false) == "a%2Fb");
    CHECK(encode("\xc3\xa4-_.~", true) == "%C3%A4-_.~");
    std::string all;
    for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
    CHECK(decode(encode(all, true)) == all);
    CHECK(decode("%zz%4") == "%zz%4"); // no escapes
    CHECK(decode("a%20") == "a ");
}

TEST_CASE("an endpoint's port is one, or it is no URL") {
    for (const char* good : {"http://h", "http://h:1", "https://h:65535", "http://[::1]", "http://[::1]:9000"}) {
        INFO(good);
        CHECK(parse_endpoint(good).has_value());
    }
    for (const char* bad :
         {"http://h:99999", "http://h:0", "http://h:abc", "http://h:", "http://:9000", "http://h:-1"}) {
        INFO(bad);
        auto refused = parse_endpoint(bad);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().message.find("is no URL") != std::string::npos);
    }
}

} // namespace
