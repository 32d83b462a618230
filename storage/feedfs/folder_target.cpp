#include "storage/feedfs/folder_target.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace feedbench::feedfs {

Status FolderTarget::list(const std::function<bool(const std::string&, std::uint64_t)>& each) {
    std::error_code code;
    for (std::filesystem::directory_iterator at(folder_, code), end; !code && at != end; at.increment(code)) {
        const std::string name = at->path().filename().string();
        std::error_code size_code; // of one that goes meanwhile
        if (!is_shown(name) || !at->is_regular_file(size_code)) continue;
        const std::uint64_t size = at->file_size(size_code);
        if (!size_code && !each(name, size)) return {};
    }
    return code ? missing_or("list", folder_, code.value()) : Status{};
}

Status FolderTarget::remove(const std::string& name) {
    if (::unlink(path(name).c_str()) != 0 && errno != ENOENT) return storage_error("remove", path(name), errno);
    return {};
}

Expected<TargetSpace> FolderTarget::space() {
    struct statvfs status {};
    if (::statvfs(folder_.c_str(), &status) != 0) return missing_or("stat", folder_, errno);
    return TargetSpace{.total_bytes = status.f_blocks * status.f_frsize,
                       .free_bytes = status.f_bavail * status.f_frsize,
                       .filesystem_id = status.f_fsid};
}

Error FolderTarget::missing_or(const char* operation, const std::string& where, int error) const {
    if (error == ENOENT && !std::filesystem::exists(folder_))
        return storage_error(operation, folder_, ENODEV,
                             "the folder of " + called_ + " of the feedfs volume is missing");
    return storage_error(operation, where, error);
}

Status sync_name(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return storage_error("open", folder, errno);
    const int result = ::fsync(directory);
    const int error = errno;
    ::close(directory);
    return result == 0 ? Status{} : storage_error("fsync", folder, error);
}

} // namespace feedbench::feedfs
