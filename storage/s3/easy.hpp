// One libcurl handle, set up once and aimed at one request after another; internal to storage/s3.
//
// Thread: one at a time. Owner: engine or client. Units: bytes, ns. Errors: what libcurl's codes mean, as a Failure.
// Source: libcurl's easy interface; the only header that names <curl/curl.h>.
#pragma once

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "storage/s3/request.hpp"

namespace feedbench::storage::s3 {

// Where an answer goes while it comes.
class AnswerSink {
  public:
    // All headers of an answer that carries object data, judged good; a Failure refuses it.
    virtual std::optional<Failure> headers_arrived() { return std::nullopt; }
    // Object data. False: rest now (libcurl is told to pause; these bytes count as taken).
    virtual bool data_arrived(std::span<const std::byte> data) = 0;

  protected:
    ~AnswerSink() = default;
};

// curl_global_init, once.
void start_libcurl();

class Easy {
  public:
    Easy(const Config& config, const std::string& bucket); // both outlive it
    ~Easy();
    Easy(const Easy&) = delete;
    Easy& operator=(const Easy&) = delete;

    CURL* handle() { return handle_; }
    // Ready to be performed: everything stays where it is until then.
    void aim(const Prepared& prepared, const Request& request, Answer& answer, AnswerSink& sink);
    // What the attempt came to, none = success: what libcurl says, and then judge()'s word. Object data is judged by
    // its headers, before the first byte of it is handed on.
    std::optional<Failure> outcome(CURLcode code, const Endpoint& endpoint) const;
    // The rest of an answer whose headers have come goes to nobody: what aim() was given may die.
    void redirect(const Request& request, Answer& answer, AnswerSink& sink);
    std::uint64_t left_bytes() const { return answer_->body_bytes - std::min(answer_->body_bytes, received_bytes_); }
    void resume() { curl_easy_pause(handle_, CURLPAUSE_CONT); }

    bool is_object_data() const { return is_object_data_; }
    std::uint64_t received_bytes() const { return received_bytes_; } // of object data, this attempt
    std::uint64_t first_byte_ns() const { return info_ns(CURLINFO_STARTTRANSFER_TIME_T); }
    std::uint64_t whole_ns() const { return info_ns(CURLINFO_TOTAL_TIME_T); }
    // Opened for this attempt: 0 or 1.
    std::uint64_t connection_count() const;
    // libcurl sends a request again by itself where a used connection ended before the first byte of an answer.
    std::uint64_t silent_retry_count() const { return send_count_ > 1 ? send_count_ - 1 : 0; }

  private:
    static int on_send(void* self, char*, char*, int, int);
    static std::size_t on_header(char* line, std::size_t size, std::size_t count, void* self);
    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
    bool end_headers();
    std::uint64_t info_ns(CURLINFO what) const;
    std::optional<Failure> transport_failure(CURLcode code, const Endpoint& endpoint) const;

    const Config& config_;
    const std::string& bucket_;
    CURL* handle_;
    curl_slist* headers_ = nullptr;
    const Request* request_ = nullptr;
    Answer* answer_ = nullptr;
    AnswerSink* sink_ = nullptr;
    bool is_object_data_ = false;
    std::optional<Failure> refused_; // by its headers
    std::uint64_t received_bytes_ = 0, send_count_ = 0;
    std::array<char, CURL_ERROR_SIZE> error_{};
};

} // namespace feedbench::storage::s3
