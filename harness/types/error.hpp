// What went wrong, and Expected<T>: a value or that.
//
// Thread: any; plain values. Owner: the holder. Units: offset in bytes.
// Errors: Expected is how every layer in which data flows reports failure. Exceptions are for config, cli and start-up
// only and never leave a plug-in method, a callback or a coroutine. Source: DESIGN sections 9 (exit codes) and 10 (one
// message: host, rank, accelerator, operation, path, offset, errno).
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace feedbench {

// Decides the exit code (see exit_code below).
enum class ErrorKind : std::uint8_t {
    usage,       // command line                                    -> 2
    config,      // workload file, parameter, plan that cannot be   -> 2
    storage,     // the storage or the files on it                  -> 3
    format,      // a file whose bytes are not what its format asks -> 3
    stalled,     // a watchdog ran out                              -> 3
    invalid,     // measured, but the measurement is not valid      -> 4
    interrupted, // SIGINT, SIGTERM                                 -> 130
    internal,    // our own fault                                   -> 3
};

struct Error {
    ErrorKind kind = ErrorKind::internal;
    std::string message;      // one clear sentence: what was found and what was expected
    std::string operation;    // "open", "read", "write", "fsync", "parse", ... or empty
    std::string path;         // file, URI or key the message is about, or empty
    std::int64_t offset = -1; // bytes; -1 = not about a place in the file
    int errno_value = 0;      // 0 = no system error behind it
    std::string host;         // filled in where the error leaves its rank
    int rank = -1;
    std::int64_t accelerator = -1;

    // One line for people: "rank 2 (host h1, accelerator 5): read /data/x.npz at 262144: Input/output error (EIO):
    // ...".
    std::string describe() const;
};

// Shorthands; each fills the fields that are known where it is called.
Error config_error(std::string message, std::string path = {});
Error usage_error(std::string message);
Error storage_error(std::string operation, std::string path, int errno_value, std::string message = {},
                    std::int64_t offset = -1);
Error format_error(std::string path, std::string message, std::int64_t offset = -1);
Error internal_error(std::string message);

int exit_code(ErrorKind kind);
// "ENOSPC" for 28 and so on; the number in decimal where the name is unknown.
std::string errno_name(int errno_value);

// An Error or none, at the size of a pointer. Errors are rare and large (four strings); answers that hold one in place
// are cleared, moved and kept in coroutine frames for every read of every accelerator. Copies are deep.
class MaybeError {
  public:
    MaybeError() = default;
    MaybeError(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
    MaybeError(const MaybeError& other) : error_(other.error_ ? std::make_unique<Error>(*other.error_) : nullptr) {}
    MaybeError(MaybeError&&) noexcept = default;
    MaybeError& operator=(const MaybeError& other) {
        if (this != &other) error_ = other.error_ ? std::make_unique<Error>(*other.error_) : nullptr;
        return *this;
    }
    MaybeError& operator=(MaybeError&&) noexcept = default;
    ~MaybeError() = default;

    bool has_value() const { return error_ != nullptr; }
    explicit operator bool() const { return has_value(); }
    void reset() { error_.reset(); }
    Error& operator*() {
        assert(error_);
        return *error_;
    }
    const Error& operator*() const {
        assert(error_);
        return *error_;
    }
    Error* operator->() { return &**this; }
    const Error* operator->() const { return &**this; }

  private:
    std::unique_ptr<Error> error_;
};

template <class T>
class [[nodiscard]] Expected {
  public:
    Expected(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Expected(Error error) : content_(std::in_place_index<1>, std::move(error)) {}
    bool has_value() const { return content_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    T& value() & {
        assert(has_value());
        return *std::get_if<0>(&content_);
    }
    const T& value() const& {
        assert(has_value());
        return *std::get_if<0>(&content_);
    }
    T&& value() && {
        assert(has_value());
        return std::move(*std::get_if<0>(&content_));
    }
    Error& error() {
        assert(!has_value());
        return **std::get_if<1>(&content_);
    }
    const Error& error() const {
        assert(!has_value());
        return **std::get_if<1>(&content_);
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

  private:
    std::variant<T, MaybeError> content_;
};

template <>
class [[nodiscard]] Expected<void> {
  public:
    Expected() = default;
    Expected(Error error) : error_(std::move(error)) {}
    bool has_value() const { return !error_; }
    explicit operator bool() const { return has_value(); }
    Error& error() { return *error_; }
    const Error& error() const { return *error_; }

  private:
    MaybeError error_;
};

using Status = Expected<void>;

} // namespace feedbench
