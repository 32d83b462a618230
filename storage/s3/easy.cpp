#if FEEDBENCH_HAS_CURL
#include "storage/s3/easy.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>

#include "harness/engine/clock.hpp"
#include "storage/s3/answer_lines.hpp"

namespace feedbench::storage::s3 {

namespace {

constexpr std::size_t kMostText = std::size_t{16} << 20; // of a listing; errors are far smaller

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
    curl_easy_setopt(handle, option, value);
}

long seconds_up(std::uint64_t ns) { return static_cast<long>((ns + 999'999'999) / 1'000'000'000); }

} // namespace

void start_libcurl() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

Easy::Easy(const Config& config, const std::string& bucket)
    : config_(config), bucket_(bucket), handle_(curl_easy_init()) {
    if (handle_ == nullptr) throw std::bad_alloc();
    set(handle_, CURLOPT_ERRORBUFFER, error_.data());
    set(handle_, CURLOPT_NOSIGNAL, 1L);
    set(handle_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
    set(handle_, CURLOPT_FOLLOWLOCATION, 0L);
    set(handle_, CURLOPT_PROXY, "");      // what is measured is the storage, not a proxy that the environment names
    set(handle_, CURLOPT_PATH_AS_IS, 1L); // keys may hold "//" and ".."
    set(handle_, CURLOPT_TCP_NODELAY, 1L);
    set(handle_, CURLOPT_TCP_KEEPALIVE, 1L);
    set(handle_, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
    set(handle_, CURLOPT_BUFFERSIZE, static_cast<long>(config.buffer_bytes));
    set(handle_, CURLOPT_UPLOAD_BUFFERSIZE, static_cast<long>(config.buffer_bytes));
    set(handle_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(config.connect_timeout_ns / 1'000'000 + 1));
    set(handle_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(handle_, CURLOPT_LOW_SPEED_TIME, seconds_up(config.idle_timeout_ns));
    set(handle_, CURLOPT_USERAGENT, "feedbench/" FEEDBENCH_VERSION);
    if (!config.ca_file.empty()) set(handle_, CURLOPT_CAINFO, config.ca_file.c_str());
    if (!config.verify_tls) {
        set(handle_, CURLOPT_SSL_VERIFYPEER, 0L);
        set(handle_, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    set(handle_, CURLOPT_PREREQFUNCTION, on_send);
    set(handle_, CURLOPT_PREREQDATA, static_cast<void*>(this));
    set(handle_, CURLOPT_HEADERFUNCTION, on_header);
    set(handle_, CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(handle_, CURLOPT_WRITEFUNCTION, on_body);
    set(handle_, CURLOPT_WRITEDATA, static_cast<void*>(this));
}

Easy::~Easy() {
    curl_easy_cleanup(handle_);
    curl_slist_free_all(headers_);
}

void Easy::aim(const Prepared& prepared, const Request& request, Answer& answer, AnswerSink& sink) {
    request_ = &request;
    answer_ = &answer;
    sink_ = &sink;
    answer = Answer{};
    refused_.reset();
    received_bytes_ = send_count_ = 0;
    is_object_data_ = false;
    error_[0] = '\0';
    curl_slist_free_all(headers_);
    headers_ = nullptr;
    for (const auto& [name, value] : prepared.headers)
        headers_ = curl_slist_append(headers_, (name + ": " + value).c_str());
    set(handle_, CURLOPT_URL, prepared.url.c_str());
    set(handle_, CURLOPT_HTTPGET, 1L); // also ends what NOBODY and POST had set
    set(handle_, CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
    switch (request.method) {
    case Method::get:
        break;
    case Method::head:
        set(handle_, CURLOPT_NOBODY, 1L);
        break;
    case Method::remove:
        set(handle_, CURLOPT_CUSTOMREQUEST, "DELETE");
        break;
    case Method::put:
    case Method::post:
        set(handle_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        set(handle_, CURLOPT_POSTFIELDS,
            request.body.empty() ? "" : reinterpret_cast<const char*>(request.body.data()));
        if (request.method == Method::put) set(handle_, CURLOPT_CUSTOMREQUEST, "PUT");
        headers_ = curl_slist_append(headers_, "Expect:"); // no waiting for "100 Continue"
        headers_ = curl_slist_append(headers_, request.method == Method::put ? "Content-Type: application/octet-stream"
                                                                             : "Content-Type: application/xml");
        break;
    }
    set(handle_, CURLOPT_HTTPHEADER, headers_);
}

void Easy::redirect(const Request& request, Answer& answer, AnswerSink& sink) {
    request_ = &request;
    answer_ = &answer;
    sink_ = &sink;
}

int Easy::on_send(void* self, char*, char*, int, int) {
    ++static_cast<Easy*>(self)->send_count_;
    return CURL_PREREQFUNC_OK;
}

std::size_t Easy::on_header(char* line, std::size_t size, std::size_t count, void* self) {
    Easy& easy = *static_cast<Easy*>(self);
    const bool is_end = take_answer_line({line, size * count}, *easy.answer_);
    if (is_end && easy.answer_->status >= 200 && !easy.end_headers()) return 0;
    return size * count;
}

bool Easy::end_headers() {
    is_object_data_ = is_data_answer(*request_, *answer_);
    if (!is_object_data_) return true;
    refused_ = judge(config_, bucket_, *request_, *answer_, engine::unix_time_s());
    if (!refused_) refused_ = sink_->headers_arrived();
    return !refused_;
}

std::size_t Easy::on_body(char* data, std::size_t size, std::size_t count, void* self) {
    Easy& easy = *static_cast<Easy*>(self);
    const std::size_t bytes = size * count;
    if (easy.is_object_data_) {
        easy.received_bytes_ += bytes;
        if (!easy.sink_->data_arrived({reinterpret_cast<const std::byte*>(data), bytes}))
            curl_easy_pause(easy.handle_, CURLPAUSE_RECV);
        return bytes;
    }
    if (easy.answer_->text.size() + bytes > kMostText) return 0;
    easy.answer_->text.append(data, bytes);
    return bytes;
}

std::uint64_t Easy::info_ns(CURLINFO what) const {
    curl_off_t us = 0;
    curl_easy_getinfo(handle_, what, &us);
    return us < 0 ? 0 : static_cast<std::uint64_t>(us) * 1000;
}

std::uint64_t Easy::connection_count() const {
    long count = 0;
    curl_easy_getinfo(handle_, CURLINFO_NUM_CONNECTS, &count);
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

std::optional<Failure> Easy::outcome(CURLcode code, const Endpoint& endpoint) const {
    if (refused_) return refused_;
    if (auto failure = transport_failure(code, endpoint)) return failure;
    if (is_object_data_) return std::nullopt; // judged when its headers were there
    return judge(config_, bucket_, *request_, *answer_, engine::unix_time_s());
}

std::optional<Failure> Easy::transport_failure(CURLcode code, const Endpoint& endpoint) const {
    const std::string where = endpoint.url();
    const std::string detail = error_[0] != '\0' ? std::string(error_.data()) : std::string(curl_easy_strerror(code));
    switch (code) {
    case CURLE_OK:
        return std::nullopt;
    case CURLE_COULDNT_CONNECT:
        return Failure{RetryCause::connect, ECONNREFUSED, "nothing answers at " + where + " (" + detail + ")"};
    case CURLE_COULDNT_RESOLVE_HOST:
        return Failure{RetryCause::connect, EHOSTUNREACH,
                       "the name of the endpoint " + where + " is not known (" + detail + ")"};
    case CURLE_OPERATION_TIMEDOUT: {
        const bool connected = info_ns(CURLINFO_CONNECT_TIME_T) > 0;
        return Failure{connected ? RetryCause::timed_out : RetryCause::connect, ETIMEDOUT,
                       (connected ? "no byte came from " : "no connection could be made to ") + where + " (" + detail +
                           ")"};
    }
    case CURLE_PARTIAL_FILE:
        return Failure{RetryCause::short_body, EIO,
                       where + " closed the connection in the middle of a body (" + detail + ")"};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
        return Failure{std::nullopt, EPROTO,
                       "the certificate of " + where + " cannot be trusted (" + detail +
                           "); storage.storage_options.ca_file names certificates to trust"};
    case CURLE_SSL_CONNECT_ERROR:
        return Failure{std::nullopt, EPROTO, "there is no TLS at " + where + " (" + detail + "): is it http://?"};
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return Failure{std::nullopt, EPROTO, "what answers at " + where + " speaks no HTTP (" + detail + ")"};
    case CURLE_WRITE_ERROR:
        return Failure{std::nullopt, EIO, "the answer was larger than anything that was asked for (" + detail + ")"};
    default:
        return Failure{RetryCause::connection_lost, ECONNRESET,
                       "the connection to " + where + " was lost (" + detail + ")"};
    }
}

} // namespace feedbench::storage::s3
#endif
