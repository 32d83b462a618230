// posix: any mounted filesystem, buffered or O_DIRECT, by io_uring or by threads. Here: its options and its factory.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "harness/engine/reactor.hpp"
#include "storage/posix_base.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

constexpr Option kOptions[] = {
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

std::span<const Option> posix_options() { return kOptions; }

Expected<std::unique_ptr<Backend>> make_posix_backend(const BackendRequest& request) {
    PosixSettings settings;
    auto root = absolute(request.root);
    if (!root) return root.error();
    settings.root = std::move(*root);
    settings.odirect = request.odirect;
    const std::string& readahead = request.options.at("readahead");
    if (readahead == "sequential")
        settings.readahead = Readahead::sequential;
    else if (readahead == "off")
        settings.readahead = Readahead::off;
    else if (readahead != "normal")
        return config_error("storage option 'readahead': '" + readahead + "' is none of normal, sequential, off",
                            request.uri);
    settings.preallocate = request.options.at("preallocate") == "true";

    const std::string shown = settings.root.empty() ? "/" : settings.root;
    struct stat status {};
    if (::stat(shown.c_str(), &status) != 0) {
        if (errno != ENOENT) return storage_error("open", shown, errno); // not there: datagen makes it
    } else if (!S_ISDIR(status.st_mode))
        return storage_error("open", shown, ENOTDIR, "a folder is expected, and this is a file");
    auto filesystem = filesystem_at(shown);
    if (!filesystem) return filesystem.error();

    if (!request.reactor || request.reactor->clock().is_virtual())
        return config_error("real storage cannot run under the virtual clock; use null: or model:", request.uri);
    if (request.io_engine == IoEngine::threads)
        return make_posix_threads(std::move(settings), std::move(*filesystem), *request.reactor,
                                  std::max(request.io_threads, 1U));
    if (!request.reactor->uring())
        return config_error("reader.io_engine=uring is asked for, and this process has no ring", request.uri);
    return make_posix_uring(std::move(settings), std::move(*filesystem), *request.reactor);
}

} // namespace feedbench::storage
