// How this project talks to libhdf5: one lock around every call, handles that close themselves, errors as sentences.
//
// Thread: any; a Library object holds the lock for its life, so keep it short and never call back into foreign code
// under it. Owner: the stack frame. Units: none. Errors: the library's own innermost message, never printed by the
// library. Source: HDF5 1.10 C API. Debian's serial build may or may not be thread safe: one process-wide lock does not
// depend on it.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace feedbench::formats::hdf5 {

// Every call of libhdf5 happens while one of these lives.
class Library {
  public:
    Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library();
    // What the first call that failed said about its cause; empty = none failed. Handles may have been closed since.
    const std::string& message() const { return message_; }

  private:
    static herr_t note_failure(hid_t stack, void* library);

    std::lock_guard<std::mutex> lock_;
    std::string message_;
};

// An identifier of libhdf5 with the function that closes it. Destroy it while a Library lives.
class Handle {
  public:
    using Close = herr_t (*)(hid_t);
    Handle() = default;
    Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() { (void)close(); }
    bool is_valid() const { return id_ >= 0; }
    hid_t get() const { return id_; }
    // Closing a file writes it: this is where that failure can be seen.
    bool close() { return id_ < 0 || close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

  private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

} // namespace feedbench::formats::hdf5
