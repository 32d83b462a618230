// posix: any mounted filesystem, buffered or O_DIRECT, by io_uring or by threads. Here: its options and its factory.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "harness/engine/reactor.hpp"
#include "harness/types/option_reader.hpp"
#include "storage/posix_base.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

constexpr Option kPosixOptions[] = {
    {"readahead", OptionType::text, "", "normal",
     "what the kernel is told of buffered reads: normal (nothing, as numpy and tf.data do), sequential, off"},
    {"preallocate", OptionType::boolean, "", "false", "reserve a new file's blocks before its first byte (fallocate)"},
};

Expected<std::string> absolute(std::string root) {
    if (!root.starts_with('/')) {
        char here[PATH_MAX];
        if (!::getcwd(here, sizeof here)) return storage_error("getcwd", root, errno);
        while (root.starts_with("./")) root.erase(0, 2);
        root = root == "." || root.empty() ? std::string(here) : std::string(here) + "/" + root;
    }
    while (root.ends_with('/')) root.pop_back();
    return root;
}

} // namespace

Expected<PosixPlace> posix_place(const std::string& given) {
    auto root = absolute(given);
    if (!root) return root.error();
    const std::string shown = root->empty() ? "/" : *root;
    struct stat status {};
    if (::stat(shown.c_str(), &status) != 0) {
        if (errno != ENOENT) return storage_error("open", shown, errno); // not there: datagen makes it
    } else if (!S_ISDIR(status.st_mode))
        return storage_error("open", shown, ENOTDIR, "a folder is expected, and this is a file");
    auto filesystem = filesystem_at(shown);
    if (!filesystem) return filesystem.error();
    return PosixPlace{std::move(*root), std::move(*filesystem)};
}

std::span<const Option> posix_options() { return kPosixOptions; }

Expected<std::unique_ptr<Backend>> make_posix_backend(const BackendRequest& request) {
    PosixSettings settings;
    auto place = posix_place(request.root);
    if (!place) return place.error();
    settings.root = std::move(place->root);
    settings.odirect = request.odirect;
    OptionReader reader(kPosixOptions, request.options, request.uri);
    static constexpr std::array<std::string_view, 3> kReadahead{"normal", "sequential", "off"};
    settings.readahead = static_cast<Readahead>(reader.choice("readahead", kReadahead));
    settings.preallocate = reader.boolean("preallocate");
    if (auto status = reader.status(); !status) return status.error();

    if (!request.reactor || request.reactor->clock().is_virtual())
        return config_error("real storage cannot run under the virtual clock; use null: or model:", request.uri);
    if (request.io_engine == IoEngine::threads)
        return make_posix_threads(std::move(settings), std::move(place->filesystem), *request.reactor,
                                  std::max(request.io_threads, 1U));
    if (!request.reactor->uring())
        return config_error("reader.io_engine=uring is asked for, and this process has no ring", request.uri);
    return make_posix_uring(std::move(settings), std::move(place->filesystem), *request.reactor);
}

} // namespace feedbench::storage
