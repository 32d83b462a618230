#include "storage/feedfs/target_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "storage/feedfs/folder_target.hpp"

namespace feedbench::feedfs {

namespace {

std::vector<std::string> target_folders(const VolumeConfig& config) {
    std::vector<std::string> folders;
    for (const TargetConfig& target : config.targets)
        if (target.place.find("://") == std::string::npos) folders.push_back(config.absolute_place(target.place));
    return folders;
}

std::string mark_path(const std::string& folder) { return folder + "/" + kTargetMark; }

// Empty: there is none, or one that a mkfs did not finish.
std::string marked_uuid(const std::string& folder) {
    std::ifstream stream(mark_path(folder));
    std::string uuid;
    return stream >> uuid && uuid.size() == 36 ? uuid : std::string();
}

Error target_is_used(const std::string& folder, const std::string& found) {
    Error error = config_error("mkfs needs folders for its targets that no other volume has: " + found, folder);
    error.errno_value = EEXIST;
    return error;
}

Status write_mark(const std::string& folder, const std::string& uuid) {
    const std::string path = mark_path(folder), text = uuid + "\n";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return storage_error("create", path, errno);
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    const int error = errno;
    ::close(fd);
    if (written) return sync_name(path);
    ::unlink(path.c_str());
    return storage_error("write", path, error);
}

} // namespace

Status refuse_used_targets(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        std::error_code code;
        for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
            const std::string name = at->path().filename().string();
            if (name == kTargetMark) {
                const std::string uuid = marked_uuid(folder);
                return target_is_used(folder, "its file " + name + " says that it belongs to volume " +
                                                  (uuid.empty() ? "(no uuid is in it)" : uuid));
            }
            if (name.ends_with(".segment") || name.ends_with(".cold"))
                return target_is_used(folder, "it holds " + name + ", which is a volume's data");
        }
        if (code && code.value() != ENOENT) return storage_error("list", folder, code.value());
    }
    return {};
}

Status mark_targets(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config))
        if (auto status = write_mark(folder, config.uuid); !status) {
            unmark_targets(config);
            return status;
        }
    return {};
}

void unmark_targets(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config))
        if (marked_uuid(folder) == config.uuid) ::unlink(mark_path(folder).c_str());
}

Status check_target_marks(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        const std::string uuid = marked_uuid(folder);
        if (uuid.empty() || uuid == config.uuid) continue;
        return config_error("the target's folder belongs to volume " + uuid + ", as its file " + kTargetMark +
                                " says; volume " + config.uuid + " in " + config.folder + " expects one of its own",
                            folder);
    }
    return {};
}

} // namespace feedbench::feedfs
