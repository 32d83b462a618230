#include <catch2/catch.hpp>

#include <cerrno>

#include "storage/s3/back_off.hpp"
#include "storage/s3/checksum.hpp"
#include "storage/s3/listing.hpp"
#include "storage/s3/multipart.hpp"
#include "storage/s3/request.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::storage::s3;

constexpr std::int64_t kNow = 1'800'000'000;

Config some_config() {
    Config config;
    config.endpoints = {*parse_endpoint("http://store:9000")};
    config.credentials.origin = "the environment";
    return config;
}

Answer failing(long status, const std::string& code, const std::string& more = {}) {
    Answer answer;
    answer.status = status;
    answer.text = "<Error><Code>" + code + "</Code><Message>words</Message>" + more + "</Error>";
    return answer;
}

std::optional<Failure> judged(const Answer& answer, Request request = {}) {
    if (request.key.empty()) request.key = "k";
    return judge(some_config(), "bucket", request, answer, kNow);
}

TEST_CASE("judge: what is tried again, and why") {
    CHECK(judged(failing(503, "SlowDown"))->retry == RetryCause::throttled);
    CHECK(judged(failing(503, "ServiceUnavailable"))->retry == RetryCause::throttled);
    CHECK(judged(failing(429, ""))->retry == RetryCause::throttled);
    CHECK(judged(failing(500, "InternalError"))->retry == RetryCause::server_error);
    CHECK(judged(failing(502, ""))->retry == RetryCause::server_error);
    CHECK(judged(failing(400, "RequestTimeout"))->retry == RetryCause::timed_out);
    CHECK(judged(failing(400, "BadDigest"))->retry == RetryCause::wrong_checksum);
    Request complete = complete_upload_request("k", "id", "<x/>");
    CHECK(judged(failing(200, "InternalError"), complete)->retry ==
          RetryCause::server_error); // 200, and yet no success
}

TEST_CASE("judge: what is final says so in one sentence") {
    struct Row {
        Answer answer;
        int errno_value;
        std::vector<std::string> words;
    };
    Answer skewed = failing(403, "AccessDenied");
    skewed.date = "Fri, 15 Jan 2027 08:30:00 GMT"; // half an hour after kNow
    Answer moved = failing(301, "PermanentRedirect");
    moved.region = "eu-west-1";
    const std::vector<Row> rows{
        {failing(404, "NoSuchKey"), ENOENT, {"no such object"}},
        {failing(404, "NoSuchBucket"), ENXIO, {"no bucket 'bucket'", "http://store:9000"}},
        {failing(403, "InvalidAccessKeyId"), EACCES, {"does not know the access key", "the environment"}},
        {failing(403, "SignatureDoesNotMatch"), EACCES, {"secret key"}},
        {failing(403, "AccessDenied"), EACCES, {"refused", "bucket"}},
        {failing(403, "RequestTimeTooSkewed"), EACCES, {"clock"}},
        {skewed, EACCES, {"1800 s apart", "behind"}},
        {moved, EACCES, {"'us-east-1'", "'eu-west-1'"}},
        {failing(400, "AuthorizationHeaderMalformed", "<Region>ap-2</Region>"), EACCES, {"'ap-2'"}},
        {failing(412, "PreconditionFailed"), ESTALE, {"replaced"}},
        {failing(501, "NotImplemented"), EOPNOTSUPP, {"cannot"}},
        {failing(403, "QuotaExceeded"), ENOSPC, {"full"}},
        {failing(418, "Teapot"), EIO, {"418 Teapot", "words"}},
    };
    for (const Row& row : rows) {
        INFO(row.answer.text);
        const auto failure = judged(row.answer);
        REQUIRE(failure);
        CHECK_FALSE(failure->retry);
        CHECK(failure->errno_value == row.errno_value);
        for (const std::string& word : row.words) {
            INFO(failure->message);
            CHECK(failure->message.find(word) != std::string::npos);
        }
    }
}

TEST_CASE("judge: object data is the range that was asked for, or is not taken") {
    Request request;
    request.key = "k";
    request.has_range = true;
    request.offset = 100;
    request.bytes = 50;
    Answer good;
    good.status = 206;
    good.etag = "\"a\"";
    good.has_length = good.has_range = good.has_total = true;
    good.body_bytes = 50;
    good.body_offset = 100;
    good.total_bytes = 1000;
    CHECK_FALSE(judged(good, request));
    Answer answer = good;
    answer.body_bytes = 49;
    CHECK(judged(answer, request)->retry == RetryCause::short_body);
    answer = good;
    answer.body_offset = 0;
    CHECK(judged(answer, request)->retry == RetryCause::short_body);
    answer = good;
    answer.has_length = false;
    CHECK(judged(answer, request)->retry == RetryCause::short_body);
    answer = good;
    answer.status = 200;
    CHECK(judged(answer, request)->errno_value == EOPNOTSUPP);
    answer = good; // the object's end cuts the range
    answer.total_bytes = 120;
    answer.body_bytes = 20;
    CHECK_FALSE(judged(answer, request));
    request.if_match = "\"b\"";
    CHECK(judged(good, request)->errno_value == ESTALE);
}

TEST_CASE("back-off doubles with jitter up to its limit, the same for the same seed") {
    Config config;
    config.back_off_first_ns = 1000;
    config.back_off_most_ns = 10'000;
    config.seed = 7;
    BackOff one(config), two(config);
    std::uint64_t whole = 1000;
    for (unsigned failed = 1; failed < 40; ++failed) {
        const std::uint64_t pause = one.pause_ns(failed);
        CHECK(pause == two.pause_ns(failed));
        CHECK(pause >= whole / 2);
        CHECK(pause <= whole);
        whole = std::min<std::uint64_t>(2 * whole, 10'000);
    }
}

TEST_CASE("checksums: the published values of \"123456789\" and of nothing") {
    const std::string digits = "123456789";
    const auto bytes = std::as_bytes(std::span(digits));
    CHECK(crc32c(0, bytes) == 0xe3069283);
    CHECK(crc32c(crc32c(0, bytes.first(4)), bytes.subspan(4)) == 0xe3069283);
    CHECK(crc32c_base64(0xe3069283) == "4waSgw==");
    CHECK(md5_base64({}) == "1B2M2Y8AsgTpgAmY7PhCfg==");
}

TEST_CASE("multipart: the whole's ETag is that of its parts' sums") {
    // printf d41d8cd98f00b204e9800998ecf8427e | xxd -r -p | md5sum
    const UploadedPart empty{"\"d41d8cd98f00b204e9800998ecf8427e\"", ""};
    CHECK(whole_etag(std::vector{empty}) == "\"59adb24ef3cdbe0297f05b395827453f-1\"");
    CHECK(whole_etag(std::vector{UploadedPart{"\"abc\"", ""}}).empty());
}

TEST_CASE("listing: a page with odd keys; what is no listing is an error") {
    const auto page =
        parse_list_page("<?xml version='1.0'?><ListBucketResult xmlns='x'><EncodingType>url</EncodingType>"
                        "<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;u</NextContinuationToken>"
                        "<Contents><Key>a%2Fb+c%25</Key><Size>12</Size><ETag>\"e\"</ETag></Contents>"
                        "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListBucketResult>");
    REQUIRE(page);
    REQUIRE(page->entries.size() == 2);
    CHECK(page->entries[1].key == "a/b c%");
    CHECK(page->entries[1].object.size_bytes == 12);
    CHECK(page->entries[0].is_prefix);
    CHECK(page->has_more);
    CHECK(page->next == "t&u");
    CHECK_FALSE(parse_list_page("<html>hello</html>"));
    CHECK_FALSE(parse_list_page("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
    CHECK_FALSE(parse_list_page("<ListBucketResult><Contents>"));
}

} // namespace
