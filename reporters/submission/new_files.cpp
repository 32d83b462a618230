#include "reporters/submission/new_files.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include "reporters/ingest/lenient_json.hpp"

namespace feedbench::submission {

namespace fs = std::filesystem;

Expected<std::string> read_named(const fs::path& path, std::uintmax_t limit_bytes) {
    auto text = ingest::read_text(path, limit_bytes);
    if (text) return text;
    Error error = text.error();
    error.kind = ErrorKind::usage;
    return error;
}

Status make_folders(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return storage_error("create", path.string(), error.value());
    return {};
}

Status write_over(const fs::path& path, const std::string& text) {
    const std::string temporary = path.string() + ".tmp";
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
        const int why = errno;
        std::remove(temporary.c_str());
        return storage_error("write", path.string(), why);
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
        const int why = errno;
        std::remove(temporary.c_str());
        return storage_error("rename", path.string(), why);
    }
    return {};
}

Status write_new(const fs::path& path, const std::string& text) {
    // A link is made only where there is nothing: rename would replace what somebody else has just put there.
    const std::string temporary = path.string() + ".tmp";
    if (Status written = write_over(temporary, text); !written) return written;
    const bool linked = ::link(temporary.c_str(), path.c_str()) == 0;
    const int why = errno;
    std::remove(temporary.c_str());
    if (linked) return {};
    if (why == EEXIST) return usage_error(path.string() + " is there already: nothing is overwritten");
    return storage_error("create", path.string(), why);
}

} // namespace feedbench::submission
