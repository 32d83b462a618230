// What an answer means: success, try again, or one clear sentence.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "storage/s3/request.hpp"
#include "storage/s3/xml.hpp"

namespace feedbench::storage::s3 {

namespace {

// "Mon, 30 Nov 2026 19:00:00 GMT"; 0: no such date.
std::int64_t unix_time_of(const std::string& date) {
    std::tm parts{};
    if (::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S", &parts) == nullptr) return 0;
    return static_cast<std::int64_t>(::timegm(&parts));
}

struct Case {
    const Config& config;
    const std::string& bucket;
    const Request& request;
    const Answer& answer;
    std::int64_t wall_s;
    std::string code, said;

    // The server's own words, for what has no sentence of its own.
    std::string told() const {
        std::string text = "the server answered " + std::to_string(answer.status);
        if (!code.empty()) text += " " + code;
        if (!said.empty()) text += " (" + said + ")";
        return text;
    }
    Failure final(int errno_value, std::string message) const {
        return {std::nullopt, errno_value, std::move(message)};
    }
    Failure again(RetryCause cause, int errno_value) const { return {cause, errno_value, told()}; }

    std::optional<Failure> clock_skew() const {
        const std::int64_t server_s = unix_time_of(answer.date);
        const std::int64_t off_s = server_s == 0 ? 0 : wall_s - server_s;
        constexpr std::int64_t kAllowedS = 15 * 60; // as AWS checks it
        const bool is_denied = answer.status == 400 || answer.status == 401 || answer.status == 403;
        if (code != "RequestTimeTooSkewed" && !(is_denied && std::abs(off_s) > kAllowedS)) return std::nullopt;
        return final(EACCES, "this host's clock and the server's are " + std::to_string(std::abs(off_s)) +
                                 " s apart (this host's is " + (off_s > 0 ? "ahead" : "behind") +
                                 "), and signatures are good for 15 minutes: set the clock");
    }
    std::optional<Failure> wrong_region() const {
        std::string wanted = answer.region;
        if (wanted.empty() && code == "AuthorizationHeaderMalformed") wanted = first_text(answer.text, "Region");
        const bool redirected = answer.status == 301 || answer.status == 307 || code == "PermanentRedirect" ||
                                code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException";
        if (!redirected || (answer.status < 400 && wanted.empty() && code.empty())) return std::nullopt;
        if (wanted == config.region) return std::nullopt;
        return final(EACCES, "the bucket '" + bucket + "' is not in the region '" + config.region + "'" +
                                 (wanted.empty() ? "" : " but in '" + wanted + "'") +
                                 ": set storage.storage_options.region and its endpoint (" + told() + ")");
    }
    Failure forbidden() const {
        if (code == "InvalidAccessKeyId")
            return final(EACCES, "the server does not know the access key of " + config.credentials.origin);
        if (code == "SignatureDoesNotMatch")
            return final(EACCES, "the secret key of " + config.credentials.origin +
                                     " does not belong to its access key: the server computed another signature");
        if (code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired")
            return final(EACCES, "the session token of " + config.credentials.origin + " has expired or is not valid");
        return final(EACCES, "access to the bucket '" + bucket + "' was refused with the keys of " +
                                 config.credentials.origin + "; " + told());
    }
    Failure not_found() const {
        if (code == "NoSuchBucket")
            return final(ENXIO, "there is no bucket '" + bucket + "' at " + config.endpoints.front().url());
        if (code == "NoSuchUpload") return final(ESTALE, "the upload is gone: it was completed or aborted meanwhile");
        return final(ENOENT, "there is no such object");
    }
    std::optional<Failure> refusal() const {
        static constexpr std::array<std::string_view, 4> kThrottled{"SlowDown", "ServiceUnavailable", "Throttling",
                                                                    "RequestLimitExceeded"};
        static constexpr std::array<std::string_view, 3> kFull{"QuotaExceeded", "XMinioStorageFull",
                                                               "InsufficientCapacity"};
        if (auto skew = clock_skew()) return skew;
        if (auto region = wrong_region()) return region;
        if (code == "RequestTimeout" || answer.status == 408) return again(RetryCause::timed_out, ETIMEDOUT);
        if (std::count(kFull.begin(), kFull.end(), code) > 0 || answer.status == 507)
            return final(ENOSPC, "the bucket is full: " + told());
        if (std::count(kThrottled.begin(), kThrottled.end(), code) > 0 || answer.status == 429 || answer.status == 503)
            return again(RetryCause::throttled, EBUSY);
        if (code == "BadDigest" || code == "XAmzContentSHA256Mismatch" || code == "InvalidDigest")
            return again(RetryCause::wrong_checksum, EIO);
        if (answer.status == 501 || code == "NotImplemented")
            return final(EOPNOTSUPP, "this server cannot do what was asked: " + told());
        if (answer.status >= 500 || code == "InternalError") return again(RetryCause::server_error, EIO);
        if (answer.status == 403 || answer.status == 401 || code == "InvalidAccessKeyId") return forbidden();
        if (answer.status == 404) return not_found();
        if (answer.status == 412)
            return final(ESTALE,
                         "the object was replaced while it was being read: its ETag is no longer " + request.if_match);
        if (answer.status == 409) return again(RetryCause::other, EBUSY);
        return final(EIO, told());
    }

    Failure wrong_body(const std::string& found) const {
        return {RetryCause::short_body, EIO,
                found + " of " + std::to_string(answer.body_bytes) + " bytes at " + std::to_string(request.offset) +
                    " of an object of " + std::to_string(answer.total_bytes)};
    }
    // Of object data: is it the range that was asked for, of the object it was asked of?
    std::optional<Failure> data() const {
        if (!answer.has_length)
            return Failure{RetryCause::short_body, EIO,
                           "the answer does not say how long it is, so that nobody could tell whether it is whole"};
        if (!request.if_match.empty() && !answer.etag.empty() && answer.etag != request.if_match)
            return final(ESTALE, "the object was replaced while it was being read: its ETag was " + request.if_match +
                                     " and is " + answer.etag);
        const std::uint64_t total = answer.total_bytes;
        if (answer.status == 200) {
            if (request.has_range && request.offset > 0)
                return final(EOPNOTSUPP, "the server ignores ranges: it answered 200 with the whole object");
            return std::nullopt;
        }
        if (!answer.has_range || answer.body_offset != request.offset)
            return wrong_body("the answer is another range than the one asked for:");
        const std::uint64_t left = total > request.offset ? total - request.offset : 0;
        const std::uint64_t wanted = request.bytes == 0 ? left : std::min(request.bytes, left);
        if (answer.body_bytes != wanted) return wrong_body("the answer is shorter or longer than the range asked for:");
        return std::nullopt;
    }
};

} // namespace

std::optional<Failure> judge(const Config& config, const std::string& bucket, const Request& request,
                             const Answer& answer, std::int64_t wall_s) {
    Case c{config, bucket, request, answer, wall_s, {}, {}};
    const bool is_data = request.method == Method::get && !request.key.empty() && request.query.empty();
    // Past the end of the object: nothing is there, and its size has been told.
    if (answer.status == 416 && is_data && request.has_range) return std::nullopt;
    const bool good = answer.status >= 200 && answer.status < 300;
    if (good && is_data) return c.data();
    if (!answer.text.empty() && (!good || answer.text.find("<Error>") != std::string::npos)) {
        c.code = first_text(answer.text, "Code");
        c.said = first_text(answer.text, "Message");
        if (good) return c.code.empty() ? std::nullopt : std::optional(c.again(RetryCause::server_error, EIO));
    }
    if (good) return std::nullopt;
    return c.refusal();
}

} // namespace feedbench::storage::s3
