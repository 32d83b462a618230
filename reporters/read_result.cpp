#include "reporters/read_result.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

#include "reporters/result_json.hpp"

namespace feedbench::reporters {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

} // namespace

Expected<RunResult> read_result(const std::filesystem::path& file_or_folder) {
    std::error_code ignored; // what cannot be asked about is opened, and open says why
    const bool folder = std::filesystem::is_directory(file_or_folder, ignored);
    const std::string path = (folder ? file_or_folder / "result.json" : file_or_folder).string();
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) return storage_error("open", path, errno, folder ? "the folder holds no readable result" : "");
    std::string text;
    char piece[65536];
    for (std::size_t n = 0; (n = std::fread(piece, 1, sizeof piece, file.get())) > 0;) text.append(piece, n);
    if (std::ferror(file.get())) return storage_error("read", path, errno);
    return from_json(text, path);
}

} // namespace feedbench::reporters
