#include "formats/hdf5_library.hpp"

#if defined(__SANITIZE_ADDRESS__)
// The library forgets some 400 bytes at each open of a damaged file: its own, and a run ends there anyway.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace feedbench::formats::hdf5 {

namespace {
std::mutex& library_mutex() {
    static std::mutex mutex;
    // A file that could not be written (disk full) cannot be closed either, and the library's own cleaning up at exit
    // then crashes on it. Everything of ours is closed by its Handle, so there is nothing to clean up. Before its first
    // use.
    [[maybe_unused]] static const herr_t once = H5dont_atexit();
    return mutex;
}

// Walking upward visits the innermost failure first: that is the cause, the rest only passes it on.
herr_t keep_first(unsigned n, const H5E_error2_t* entry, void* out) {
    if (n == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
    return 0;
}
} // namespace

// The library's answer to a failed call, instead of printing it. A property of the thread in a thread-safe build: set
// at each entry. Noted at once, for the next call (an identifier that closes itself) forgets it.
Library::Library() : lock_(library_mutex()) { H5Eset_auto2(H5E_DEFAULT, note_failure, this); }
Library::~Library() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

herr_t Library::note_failure(hid_t stack, void* library) {
    std::string& message = static_cast<Library*>(library)->message_;
    if (message.empty()) H5Ewalk2(stack, H5E_WALK_UPWARD, keep_first, &message);
    return 0;
}

} // namespace feedbench::formats::hdf5
