#include <catch2/catch.hpp>

#include "storage/s3/signer.hpp"

namespace {

using namespace feedbench::storage::s3;

// The examples of AWS' documentation, "Authenticating Requests: Using the Authorization Header (Signature Version 4)".
constexpr std::int64_t kThen = 1369353600; // 2013-05-24 00:00:00 GMT
constexpr const char* kHost = "examplebucket.s3.amazonaws.com";

Signer example_signer() {
    Credentials keys;
    keys.access_key = "AKIAIOSFODNN7EXAMPLE";
    keys.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    return Signer(keys, "us-east-1");
}

std::string signature_of(const std::string& authorization) {
    return authorization.substr(authorization.find("Signature=") + 10);
}

TEST_CASE("signer: AWS' example, GET of a range") {
    Signer signer = example_signer();
    const Headers headers{{"host", kHost},
                          {"range", "bytes=0-9"},
                          {"x-amz-content-sha256", std::string(kEmptyPayload)},
                          {"x-amz-date", amz_date(kThen)}};
    CHECK(signer.authorization({"GET", "/test.txt", "", headers, kEmptyPayload, kThen}) ==
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
          "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_CASE("signer: AWS' example, PUT of an object whose key needs encoding") {
    Signer signer = example_signer();
    const std::string hash = sha256_hex("Welcome to Amazon S3.");
    CHECK(hash == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    const Headers headers{{"x-amz-storage-class", "REDUCED_REDUNDANCY"}, // sorted by the signer
                          {"date", "Fri, 24 May 2013 00:00:00 GMT"},
                          {"host", kHost},
                          {"x-amz-content-sha256", hash},
                          {"x-amz-date", amz_date(kThen)}};
    CHECK(signature_of(signer.authorization({"PUT", "/test%24file.text", "", headers, hash, kThen})) ==
          "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST_CASE("signer: AWS' examples, a query without and with values") {
    Signer signer = example_signer();
    const Headers headers{
        {"host", kHost}, {"x-amz-content-sha256", std::string(kEmptyPayload)}, {"x-amz-date", amz_date(kThen)}};
    const auto sign = [&](const Query& query) {
        const std::string text = canonical_query(query);
        return signature_of(signer.authorization({"GET", "/", text, headers, kEmptyPayload, kThen}));
    };
    CHECK(sign({{"lifecycle", ""}}) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    CHECK(sign({{"prefix", "J"}, {"max-keys", "2"}}) == // in any order
          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("signer: another day, another key; blanks in values count once") {
    Signer signer = example_signer();
    const Headers headers{{"host", kHost}}, padded{{"host", std::string("  ") + kHost + " "}};
    const auto at = [&](const Headers& h, std::int64_t s) {
        return signer.authorization({"GET", "/", "", h, kEmptyPayload, s});
    };
    const std::string first = at(headers, kThen);
    CHECK(at(headers, kThen + 86400).find("/20130525/us-east-1/") != std::string::npos);
    CHECK(at(headers, kThen) == first); // and back
    CHECK(at(padded, kThen) == first);
}

TEST_CASE("signer: queries are encoded and sorted") {
    CHECK(canonical_query({{"b", "x y"}, {"a", "1+2/3"}, {"a", ""}}) == "a=&a=1%2B2%2F3&b=x%20y");
    CHECK(canonical_query({}).empty());
    // encodeURIComponent and others leave !'()* as they are, which SigV4 does not.
    CHECK(canonical_query({{"prefix", "it's (1)!*/"}, {"delimiter", "/"}}) ==
          "delimiter=%2F&prefix=it%27s%20%281%29%21%2A%2F");
    CHECK(canonical_query({{"prefix", "\xc3\xbc&=?#%~"}}) == "prefix=%C3%BC%26%3D%3F%23%25~");
}

} // namespace
