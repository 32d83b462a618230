#include "harness/cli/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fmt/core.h>
#include <fstream>

namespace feedbench::cli {

Status write_output(const std::string& path, const std::string& text) {
    if (path == "-") {
        fmt::print("{}", text);
        return {};
    }
    const std::string temporary = path + ".tmp";
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
        const int why = errno;
        std::remove(temporary.c_str());
        return storage_error("write", path, why);
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
        const int why = errno;
        std::remove(temporary.c_str());
        return storage_error("rename", path, why);
    }
    return {};
}

} // namespace feedbench::cli
