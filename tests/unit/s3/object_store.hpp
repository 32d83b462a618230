// An object store in memory for tests: objects, ranges, listings, multipart uploads; it checks every signature, and
// answers wrongly where a rule says so.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/engine/clock.hpp"
#include "storage/s3/address.hpp"
#include "storage/s3/config.hpp"
#include "storage/s3/multipart.hpp"
#include "storage/s3/signer.hpp"
#include "tests/unit/s3/http_listener.hpp"

namespace feedbench::test {

inline constexpr const char* kAccessKey = "AKTEST";
inline constexpr const char* kSecretKey = "secret/of+the=test";

inline std::string pattern(std::size_t bytes, unsigned seed = 31) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * seed + i / 251);
    return text;
}

class ObjectStore {
  public:
    // Looks at a request before the store does; an answer (status other than 0) is given in its place.
    using Rule = std::function<HttpAnswer(const HttpRequest&, unsigned number)>;
    static HttpAnswer no_answer() {
        HttpAnswer none;
        none.status = 0;
        return none;
    }
    static HttpAnswer error(int status, const std::string& code, const std::string& more = {}) {
        HttpAnswer answer;
        answer.status = status;
        answer.body =
            "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>as told</Message>" + more + "</Error>";
        return answer;
    }

    ObjectStore() : listener_([this](const HttpRequest& request) { return answer(request); }) {}

    std::string url() const { return listener_.url(); }
    unsigned connection_count() const { return listener_.connection_count(); }
    storage::s3::Config config() const {
        storage::s3::Config config;
        config.endpoints = {*storage::s3::parse_endpoint(url())};
        config.credentials.access_key = kAccessKey;
        config.credentials.secret_key = kSecretKey;
        config.credentials.origin = "the test";
        config.back_off_first_ns = 1'000'000;
        config.back_off_most_ns = 4'000'000;
        config.idle_timeout_ns = 1'000'000'000;
        return config;
    }
    void set_rule(Rule rule) {
        const std::lock_guard lock(mutex_);
        rule_ = std::move(rule);
        ruled_ = 0;
    }
    // Changes what an answer of the store says, last of all.
    void set_spoiler(std::function<void(const HttpRequest&, HttpAnswer&)> spoiler) {
        const std::lock_guard lock(mutex_);
        spoiler_ = std::move(spoiler);
    }
    void put(const std::string& key, std::string content) {
        const std::lock_guard lock(mutex_);
        objects_[key] = std::move(content);
    }
    std::map<std::string, std::string> objects() const {
        const std::lock_guard lock(mutex_);
        return objects_;
    }
    std::size_t upload_count() const {
        const std::lock_guard lock(mutex_);
        return uploads_.size();
    }
    // "GET /bucket/key bytes=0-9", in the order in which they came.
    std::vector<std::string> seen() const {
        const std::lock_guard lock(mutex_);
        return seen_;
    }
    void forget_seen() {
        const std::lock_guard lock(mutex_);
        seen_.clear();
    }
    unsigned page_size = 1000;

  private:
    struct Upload {
        std::string key;
        std::map<unsigned, std::string> parts;
    };
    using Arguments = std::map<std::string, std::string>;

    static std::string etag_of(const std::string& content) {
        return "\"" + storage::s3::sha256_hex(content).substr(0, 32) + "\"";
    }

    static bool is_signed_right(const HttpRequest& request) {
        const auto header = [&](const std::string& name) {
            const auto found = request.headers.find(name);
            return found == request.headers.end() ? std::string() : found->second;
        };
        const std::string given = header("authorization");
        const std::size_t at = given.find("SignedHeaders="), end = given.find(',', at);
        if (at == std::string::npos || end == std::string::npos) return false;
        storage::s3::Headers headers;
        std::stringstream names(given.substr(at + 14, end - at - 14));
        for (std::string name; std::getline(names, name, ';');) headers.emplace_back(name, header(name));
        const std::string hash = header("x-amz-content-sha256");
        if (hash != storage::s3::kUnsignedPayload && hash != storage::s3::sha256_hex(request.body)) return false;
        // Signed for now: a minute either way is the server's own clock's.
        const std::int64_t now = engine::unix_time_s();
        storage::s3::Credentials keys;
        keys.access_key = kAccessKey;
        keys.secret_key = kSecretKey;
        storage::s3::Signer signer(keys, "us-east-1");
        for (std::int64_t s = now; s > now - 60; --s)
            if (storage::s3::amz_date(s) == header("x-amz-date"))
                return given == signer.authorization({request.method, request.path, request.query, headers, hash, s});
        return false;
    }

    HttpAnswer answer(const HttpRequest& request) {
        const std::lock_guard lock(mutex_);
        const auto range = request.headers.find("range");
        seen_.push_back(request.method + " " + request.path + (request.query.empty() ? "" : "?" + request.query) +
                        (range == request.headers.end() ? "" : " " + range->second));
        if (rule_)
            if (HttpAnswer ruled = rule_(request, ++ruled_); ruled.status != 0) return ruled;
        HttpAnswer given = is_signed_right(request) ? serve(request) : error(403, "SignatureDoesNotMatch");
        if (spoiler_) spoiler_(request, given);
        return given;
    }

    HttpAnswer serve(const HttpRequest& request) {
        Arguments arguments;
        std::stringstream pairs(request.query);
        for (std::string pair; std::getline(pairs, pair, '&');) {
            const std::size_t equals = std::min(pair.find('='), pair.size());
            arguments[storage::s3::decode(pair.substr(0, equals))] =
                storage::s3::decode(pair.substr(std::min(equals + 1, pair.size())));
        }
        const std::string path = storage::s3::decode(request.path);
        if (path != "/bucket" && !path.starts_with("/bucket/")) return error(404, "NoSuchBucket");
        const std::string key = path.size() > 8 ? path.substr(8) : "";
        if (key.empty()) return arguments.contains("uploads") ? list_uploads() : list(arguments);
        if (request.method == "GET" || request.method == "HEAD") return get(request, key);
        if (request.method == "PUT" && arguments.contains("uploadId")) {
            const auto upload = uploads_.find(arguments["uploadId"]);
            if (upload == uploads_.end()) return error(404, "NoSuchUpload");
            upload->second.parts[static_cast<unsigned>(std::stoul(arguments["partNumber"]))] = request.body;
            return with_etag(request.body);
        }
        if (request.method == "PUT") {
            objects_[key] = request.body;
            return with_etag(request.body);
        }
        if (request.method == "DELETE") {
            HttpAnswer done;
            done.status = 204;
            if (arguments.contains("uploadId"))
                uploads_.erase(arguments["uploadId"]);
            else
                objects_.erase(key);
            return done;
        }
        if (arguments.contains("uploads")) {
            const std::string id = "upload+" + std::to_string(++upload_number_);
            uploads_[id].key = key;
            HttpAnswer begun;
            begun.body =
                "<InitiateMultipartUploadResult><UploadId>" + id + "</UploadId></InitiateMultipartUploadResult>";
            return begun;
        }
        return complete(request, key, arguments["uploadId"]);
    }
    HttpAnswer with_etag(const std::string& content) const {
        HttpAnswer done;
        const auto found = multipart_etags_.find(content);
        done.headers["ETag"] = found == multipart_etags_.end() ? etag_of(content) : found->second;
        return done;
    }
    HttpAnswer get(const HttpRequest& request, const std::string& key) {
        const auto found = objects_.find(key);
        if (found == objects_.end()) return error(404, "NoSuchKey");
        const std::string& content = found->second;
        HttpAnswer given = with_etag(content);
        const auto match = request.headers.find("if-match");
        if (match != request.headers.end() && match->second != given.headers["ETag"])
            return error(412, "PreconditionFailed");
        if (request.method == "HEAD") {
            given.headers["Content-Length"] = std::to_string(content.size());
            return given;
        }
        const auto range = request.headers.find("range");
        if (range == request.headers.end()) {
            given.body = content;
            return given;
        }
        unsigned long long from = 0, to = ~0ULL;
        std::sscanf(range->second.c_str(), "bytes=%llu-%llu", &from, &to);
        if (from >= content.size()) {
            HttpAnswer past = error(416, "InvalidRange");
            past.headers["Content-Range"] = "bytes */" + std::to_string(content.size());
            return past;
        }
        to = std::min<unsigned long long>(to, content.size() - 1);
        given.status = 206;
        given.body = content.substr(from, to - from + 1);
        given.headers["Content-Range"] =
            "bytes " + std::to_string(from) + "-" + std::to_string(to) + "/" + std::to_string(content.size());
        return given;
    }
    HttpAnswer complete(const HttpRequest& request, const std::string& key, const std::string& id) {
        const auto upload = uploads_.find(id);
        if (upload == uploads_.end()) return error(404, "NoSuchUpload");
        std::string whole;
        for (const auto& [number, part] : upload->second.parts) {
            const std::string row = "<PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" + etag_of(part);
            if (request.body.find(row) == std::string::npos) return error(400, "InvalidPart");
            whole += part;
        }
        std::vector<storage::s3::UploadedPart> parts;
        for (const auto& [number, part] : upload->second.parts) parts.push_back({etag_of(part), {}});
        uploads_.erase(upload);
        objects_[key] = whole;
        multipart_etags_[whole] = storage::s3::whole_etag(parts);
        HttpAnswer done = with_etag(whole);
        done.body = "<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>";
        return done;
    }
    HttpAnswer list_uploads() {
        HttpAnswer given;
        given.body = "<ListMultipartUploadsResult><EncodingType>url</EncodingType>";
        for (const auto& [id, upload] : uploads_)
            given.body += "<Upload><Key>" + storage::s3::encode(upload.key, true) + "</Key><UploadId>" + id +
                          "</UploadId></Upload>";
        given.body += "</ListMultipartUploadsResult>";
        return given;
    }
    HttpAnswer list(Arguments& arguments) {
        const std::string prefix = arguments["prefix"], delimiter = arguments["delimiter"];
        std::string after = std::max(arguments["start-after"], arguments["continuation-token"]);
        std::string rows, last;
        std::set<std::string> folders;
        std::size_t count = 0;
        bool has_more = false;
        const std::size_t most = std::min<std::size_t>(page_size, std::stoul(arguments["max-keys"]));
        for (const auto& [key, content] : objects_) {
            if (!key.starts_with(prefix) || key <= after) continue;
            std::string name = key;
            const std::size_t slash = delimiter.empty() ? std::string::npos : key.find('/', prefix.size());
            if (slash != std::string::npos) {
                name = key.substr(0, slash + 1);
                if (after.starts_with(name) || !folders.insert(name).second) continue;
            }
            if (count == most) {
                has_more = true;
                break;
            }
            ++count;
            last = slash == std::string::npos ? key : name + "\xff";
            const std::string shown = storage::s3::encode(name, true);
            rows += slash != std::string::npos
                        ? "<CommonPrefixes><Prefix>" + shown + "</Prefix></CommonPrefixes>"
                        : "<Contents><Key>" + shown + "</Key><ETag>" + etag_of(content) + "</ETag><Size>" +
                              std::to_string(content.size()) + "</Size></Contents>";
        }
        HttpAnswer given;
        given.body = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                     "<EncodingType>url</EncodingType><IsTruncated>" +
                     std::string(has_more ? "true" : "false") + "</IsTruncated>" + rows +
                     (has_more ? "<NextContinuationToken>" + last + "</NextContinuationToken>" : "") +
                     "</ListBucketResult>";
        return given;
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::string> objects_;
    std::map<std::string, std::string> multipart_etags_; // by content
    std::map<std::string, Upload> uploads_;
    std::vector<std::string> seen_;
    Rule rule_;
    std::function<void(const HttpRequest&, HttpAnswer&)> spoiler_;
    unsigned ruled_ = 0, upload_number_ = 0;
    HttpListener listener_; // last: its threads use the rest
};

} // namespace feedbench::test
