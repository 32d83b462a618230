#if FEEDBENCH_HAS_CURL
#include "storage/s3/client.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "harness/engine/clock.hpp"
#include "storage/s3/line.hpp"
#include "storage/s3/listing.hpp"
#include "storage/s3/multipart.hpp"

namespace feedbench::storage::s3 {

namespace {

class CurlClient final : public Client {
  public:
    CurlClient(Config config, std::string bucket)
        : config_(std::move(config)), bucket_(std::move(bucket)), counters_(config_.endpoints.size()),
          endpoint_(config_.rank % config_.endpoints.size()) {
        for (std::size_t i = 0; i < counters_.size(); ++i) counters_[i].name = config_.endpoints[i].url();
    }

    Expected<ObjectInfo> head(const std::string& key) override {
        Request request;
        request.method = Method::head;
        request.key = key;
        auto answer = perform(request, "stat");
        if (!answer) {
            // Without a body nobody says whether it is the object or the bucket that is not there.
            if (answer.error().errno_value == ENOENT)
                if (auto status = check_bucket(); !status) return status.error();
            return answer.error();
        }
        if (!answer->has_length) return error("stat", key, EPROTO, "the answer does not say how large the object is");
        return ObjectInfo{answer->body_bytes, answer->etag};
    }

    Expected<std::uint64_t> get(const std::string& key, std::uint64_t offset, std::span<std::byte> into,
                                std::string_view if_match, ObjectInfo* info) override {
        if (into.empty()) {
            auto found = head(key);
            if (!found) return found.error();
            if (info) *info = *found;
            return 0;
        }
        Request request;
        request.key = key;
        request.has_range = true;
        request.offset = offset;
        request.bytes = into.size();
        request.if_match = std::string(if_match);
        IntoSpan sink(into);
        auto answer = perform(request, "read", &sink);
        if (!answer) return answer.error();
        if (info) *info = {answer->total_bytes, answer->etag};
        return sink.filled;
    }

    Expected<ObjectInfo> put(const std::string& key, std::span<const std::byte> content) override {
        Request request = put_request(config_, key, content);
        auto answer = perform(request, "write");
        if (!answer) return answer.error();
        return ObjectInfo{content.size(), answer->etag};
    }

    Expected<ObjectInfo> put_parts(const std::string& key,
                                   const std::function<Expected<std::size_t>(std::span<std::byte>)>& next) override {
        std::vector<std::byte> buffer(config_.part_bytes);
        auto filled = next(buffer);
        if (!filled) return filled.error();
        if (*filled < buffer.size()) return put(key, std::span(buffer).first(*filled));
        Request begin = begin_upload_request(key);
        auto begun = perform(begin, "write");
        if (!begun) return begun.error();
        const std::string id = upload_id_of(*begun);
        if (id.empty()) return error("write", key, EPROTO, "the server began no multipart upload");
        auto done = send_parts(key, id, buffer, *filled, next);
        if (!done) {
            Request abort = abort_upload_request(key, id);
            (void)perform(abort, "abort").has_value(); // what failed first is what is told
        }
        return done;
    }

    Status list(const ListRequest& asked, const std::function<bool(const ListEntry&)>& each) override {
        std::string continuation;
        for (;;) {
            Request request = list_request(asked, continuation);
            auto answer = perform(request, "list");
            if (!answer) return answer.error();
            auto page = parse_list_page(answer->text);
            if (!page) return error("list", asked.prefix, page.error().errno_value, page.error().message);
            for (const ListEntry& entry : page->entries)
                if (!each(entry)) return {};
            if (!page->has_more) return {};
            continuation = page->next;
        }
    }

    Status remove(const std::string& key) override {
        Request request;
        request.method = Method::remove;
        request.key = key;
        auto answer = perform(request, "remove");
        if (!answer && answer.error().errno_value != ENOENT) return answer.error();
        return {};
    }

    Expected<std::uint64_t> abort_uploads(const std::string& prefix, bool exact) override {
        std::uint64_t count = 0;
        UploadPage page;
        do {
            Request request = uploads_request(prefix, page);
            auto answer = perform(request, "list uploads");
            if (!answer) return answer.error();
            auto next = parse_upload_page(answer->text);
            if (!next) return error("list uploads", prefix, next.error().errno_value, next.error().message);
            page = std::move(*next);
            for (const Upload& upload : page.uploads) {
                if (!upload.key.starts_with(prefix) || (exact && upload.key != prefix)) continue;
                Request abort = abort_upload_request(upload.key, upload.id);
                auto aborted = perform(abort, "abort");
                if (!aborted && aborted.error().errno_value != ESTALE && aborted.error().errno_value != ENOENT)
                    return aborted.error();
                ++count;
            }
        } while (page.has_more);
        return count;
    }

    std::vector<EndpointCounters> statistics() const override {
        const std::lock_guard lock(mutex_);
        return counters_;
    }
    const Config& config() const override { return config_; }
    const std::string& bucket() const override { return bucket_; }

  private:
    std::unique_ptr<Line> take_line() {
        std::uint64_t number = 0;
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto line = std::move(idle_.back()); // the last used: its connection is the warmest
                idle_.pop_back();
                return line;
            }
            number = ++line_count_;
        }
        return std::make_unique<Line>(config_, bucket_, number);
    }
    void give_back(std::unique_ptr<Line> line) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(line));
    }

    Error error(std::string operation, const std::string& key, int errno_value, std::string message) const {
        return storage_error(std::move(operation), "s3://" + bucket_ + (key.empty() ? "" : "/" + key), errno_value,
                             std::move(message));
    }

    Status check_bucket() {
        {
            const std::lock_guard lock(mutex_);
            if (bucket_is_there_) return {};
        }
        Request request;
        request.query = {{"list-type", "2"}, {"max-keys", "1"}};
        auto answer = perform(request, "list");
        if (!answer && answer.error().errno_value == ENXIO) return answer.error();
        const std::lock_guard lock(mutex_);
        bucket_is_there_ = true;
        return {};
    }

    Expected<ObjectInfo> send_parts(const std::string& key, const std::string& id, std::vector<std::byte>& buffer,
                                    std::size_t filled,
                                    const std::function<Expected<std::size_t>(std::span<std::byte>)>& next) {
        constexpr std::size_t kMostParts = 10'000;
        std::vector<UploadedPart> parts;
        std::uint64_t total = 0;
        while (filled > 0) {
            if (parts.size() == kMostParts)
                return error("write", key, EFBIG,
                             "S3 takes 10000 parts; storage.storage_options.part_size has to be larger");
            Request request = part_request(config_, key, id, static_cast<unsigned>(parts.size() + 1),
                                           std::span(buffer).first(filled));
            auto answer = perform(request, "write");
            if (!answer) return answer.error();
            parts.push_back({answer->etag, request.body_crc32c_base64});
            total += filled;
            if (filled < buffer.size()) break;
            auto more = next(buffer);
            if (!more) return more.error();
            filled = *more;
        }
        const std::string body = complete_upload_body(parts);
        Request complete = complete_upload_request(key, id, body);
        auto answer = perform(complete, "commit");
        if (answer) return ObjectInfo{total, answer->etag};
        if (answer.error().errno_value != ESTALE) return answer.error();
        // The first answer was lost on its way, perhaps: then the object is there, whole.
        auto found = head(key);
        if (found && found->size_bytes == total && found->etag == whole_etag(parts)) return *found;
        return answer.error();
    }

    // Sends until success or the last failure. A GET goes on where it stopped.
    Expected<Answer> perform(Request& request, const char* operation, IntoSpan* into = nullptr) {
        auto line = take_line();
        std::size_t endpoint = 0;
        {
            const std::lock_guard lock(mutex_);
            endpoint = endpoint_;
            ++counters_[endpoint].request_count;
        }
        const std::uint64_t from = request.offset, wanted = request.bytes;
        NoData nothing;
        AnswerSink& sink = into ? static_cast<AnswerSink&>(*into) : nothing;
        Answer answer;
        std::optional<Failure> failure;
        for (unsigned attempt = 1;; ++attempt) {
            const std::int64_t now_s = engine::unix_time_s();
            line->easy.aim(prepare(config_, config_.endpoints[endpoint], bucket_, line->signer, request, now_s),
                           request, answer, sink);
            const CURLcode code = curl_easy_perform(line->easy.handle());
            failure = line->easy.outcome(code, config_.endpoints[endpoint]);
            count(endpoint, *line, request, failure);
            if (!failure || !failure->retry || attempt == config_.attempts) {
                if (failure && failure->retry && attempt > 1)
                    failure->message += "; given up after " + std::to_string(attempt) + " attempts";
                break;
            }
            engine::nap_ns(line->back_off.pause_ns(attempt));
            const RetryCause cause = *failure->retry;
            const std::lock_guard lock(mutex_);
            counters_[endpoint].retried(cause);
            if (cause == RetryCause::connect || cause == RetryCause::timed_out)
                endpoint = endpoint_ = (endpoint + 1) % counters_.size();
            if (into && into->filled > 0 && wanted > into->filled) {
                request.offset = from + into->filled;
                request.bytes = wanted - into->filled;
                if (request.if_match.empty()) request.if_match = answer.etag;
            }
        }
        if (failure && failure->errno_value != ENOENT) { // that something is not there is an answer
            const std::lock_guard lock(mutex_);
            ++counters_[endpoint].failed_request_count;
        }
        give_back(std::move(line));
        if (failure) return error(operation, request.key, failure->errno_value, failure->message);
        return answer;
    }

    void count(std::size_t endpoint, const Line& line, const Request& request, const std::optional<Failure>& failure) {
        const std::lock_guard lock(mutex_);
        EndpointCounters& c = counters_[endpoint];
        c.connection_count += line.easy.connection_count();
        c.retry_count[static_cast<std::size_t>(RetryCause::connection_lost)] += line.easy.silent_retry_count();
        c.bytes_received += line.easy.received_bytes();
        c.bytes_sent += failure ? 0 : request.body.size();
        if (failure) return;
        c.first_byte.add(line.easy.first_byte_ns());
        c.last_byte.add(line.easy.whole_ns());
    }

    const Config config_;
    const std::string bucket_;
    mutable std::mutex mutex_; // all below
    std::vector<EndpointCounters> counters_;
    std::vector<std::unique_ptr<Line>> idle_;
    std::size_t endpoint_;
    std::uint64_t line_count_ = 0;
    bool bucket_is_there_ = false;
};

} // namespace

std::string Client::unavailable() { return {}; }

Expected<std::unique_ptr<Client>> Client::make(Config config, std::string bucket) {
    start_libcurl();
    return std::unique_ptr<Client>(std::make_unique<CurlClient>(std::move(config), std::move(bucket)));
}

} // namespace feedbench::storage::s3
#endif
