#include "formats/hdf5_library.hpp"

namespace feedbench::formats::hdf5 {

namespace {
std::mutex& library_mutex() {
    static std::mutex mutex;
    return mutex;
}

// Walking upward visits the innermost failure first: that is the cause, the rest only passes it on.
herr_t keep_first(unsigned n, const H5E_error2_t* entry, void* out) {
    if (n == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
    return 0;
}
} // namespace

// The automatic printing of errors is a property of the thread in a thread-safe build: switched off at each entry.
Library::Library() : lock_(library_mutex()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5Eclear2(H5E_DEFAULT);
}

std::string Library::message() const {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
    return text;
}

} // namespace feedbench::formats::hdf5
