#include "storage/feedfs/target_mark.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "storage/feedfs/folder_target.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::string_view kUnfinished = "unfinished ";
constexpr std::size_t kUuidBytes = 36;

std::vector<std::string> target_folders(const VolumeConfig& config) {
    std::vector<std::string> folders;
    for (const TargetConfig& target : config.targets)
        if (target.place.find("://") == std::string::npos) folders.push_back(config.absolute_place(target.place));
    return folders;
}

std::string mark_path(const std::string& folder) { return folder + "/" + kTargetMark; }

struct Mark {
    std::string uuid;          // empty: none that can be read
    std::string unfinished_of; // folder of the volume whose mkfs has not finished; empty: it has
};

std::optional<Mark> read_mark(const std::string& folder) {
    std::ifstream stream(mark_path(folder));
    if (!stream) return std::nullopt;
    Mark mark;
    std::string line;
    if (std::getline(stream, line) && line.size() == kUuidBytes) mark.uuid = line;
    if (std::getline(stream, line) && line.starts_with(kUnfinished))
        mark.unfinished_of = line.substr(kUnfinished.size());
    return mark;
}

// Whose it is can only change under the lock. -1: somebody has it, or it is another file by now.
int lock_mark(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat opened {
    }, named{};
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
        return fd;
    ::close(fd);
    return -1;
}

bool is_locked(const std::string& path) {
    const int fd = lock_mark(path);
    if (fd >= 0) ::close(fd);
    return fd < 0;
}

bool has_volume(const std::string& folder, const std::string& uuid) {
    std::ifstream stream(folder + "/" + kVolumeFile);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str().find(uuid) != std::string::npos;
}

Error target_is_used(const std::string& folder, const std::string& found) {
    Error error = config_error("mkfs needs folders for its targets that no other volume has: " + found, folder);
    error.errno_value = EEXIST;
    return error;
}

// Empty: the folder may be taken.
std::string who_has(const Mark& mark, const std::string& path, const VolumeConfig& config) {
    const std::string file = std::string("its file ") + kTargetMark;
    if (mark.uuid.empty())
        return file + " names no volume; remove it if no volume has this folder and no mkfs is under way";
    if (mark.unfinished_of.empty())
        return file + " says that it belongs to volume " + mark.uuid +
               "; remove it if that volume is no more, or its mkfs was killed";
    if (is_locked(path)) return "a mkfs of " + mark.unfinished_of + " is under way here";
    if (mark.unfinished_of != config.folder && has_volume(mark.unfinished_of, mark.uuid))
        return file + " says that it belongs to volume " + mark.uuid + " in " + mark.unfinished_of +
               ", whose mkfs was killed; `feedfs mkfs " + mark.unfinished_of + "` finishes that one, or remove its " +
               kVolumeFile;
    return {};
}

// Appears whole, and locked.
Expected<int> write_mark(const std::string& path, const VolumeConfig& config) {
    const std::string text = config.uuid + "\n" + std::string(kUnfinished) + config.folder + "\n";
    const std::string temporary = path + ".new" + std::to_string(::getpid());
    const int fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return storage_error("create", path, errno);
    (void)::flock(fd, LOCK_EX | LOCK_NB); // where there are no locks, two mkfs at one time are not told apart
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                         ::fsync(fd) == 0 && ::link(temporary.c_str(), path.c_str()) == 0;
    const int error = errno;
    ::unlink(temporary.c_str());
    if (written) return fd;
    ::close(fd);
    return storage_error("write", path, error);
}

} // namespace

Status TargetMarks::take(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        const std::string path = mark_path(folder);
        if (const int left = lock_mark(path); left >= 0) {
            const auto mark = read_mark(folder);
            if (mark && !mark->unfinished_of.empty()) ::unlink(path.c_str());
            ::close(left);
        }
        auto fd = write_mark(path, config);
        if (!fd) return fd.error();
        taken_.push_back({path, *fd});
        if (auto status = sync_name(path); !status) return status;
    }
    return {};
}

Status TargetMarks::finish() {
    is_finished_ = true; // what fails here leaves a volume that is whole
    for (const Taken& mark : taken_)
        if (::ftruncate(mark.fd, static_cast<off_t>(kUuidBytes + 1)) != 0 || ::fsync(mark.fd) != 0)
            return storage_error("write", mark.path, errno);
    return {};
}

TargetMarks::~TargetMarks() {
    for (const Taken& mark : taken_) {
        if (!is_finished_) ::unlink(mark.path.c_str());
        ::close(mark.fd);
    }
}

Status refuse_used_targets(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        std::error_code code;
        for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
            const std::string name = at->path().filename().string();
            if (name == kTargetMark) {
                const auto mark = read_mark(folder);
                if (const std::string who = who_has(mark.value_or(Mark()), mark_path(folder), config); !who.empty())
                    return target_is_used(folder, who);
            }
            if (name.ends_with(".segment") || name.ends_with(".cold"))
                return target_is_used(folder, "it holds " + name + ", which is a volume's data");
        }
        if (code && code.value() != ENOENT) return storage_error("list", folder, code.value());
    }
    return {};
}

bool is_unfinished(const VolumeConfig& config) {
    bool is_marked = false;
    for (const std::string& folder : target_folders(config)) {
        const auto mark = read_mark(folder);
        if (!mark || mark->uuid != config.uuid) continue;
        if (mark->unfinished_of != config.folder || is_locked(mark_path(folder))) return false;
        is_marked = true;
    }
    return is_marked;
}

std::string unfinished_uuid(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        const auto mark = read_mark(folder);
        if (mark && mark->unfinished_of == config.folder && !is_locked(mark_path(folder))) return mark->uuid;
    }
    return {};
}

Status finish_marks(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        const auto mark = read_mark(folder);
        if (!mark || mark->uuid != config.uuid || mark->unfinished_of.empty()) continue;
        const std::string path = mark_path(folder);
        const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0) return storage_error("open", path, errno);
        const bool is_ours = ::flock(fd, LOCK_EX | LOCK_NB) == 0; // else its mkfs is under way, and will
        const bool written = !is_ours || (::ftruncate(fd, static_cast<off_t>(kUuidBytes + 1)) == 0 && ::fsync(fd) == 0);
        const int error = errno;
        ::close(fd);
        if (!written) return storage_error("write", path, error);
    }
    return {};
}

Status check_target_marks(const VolumeConfig& config) {
    for (const std::string& folder : target_folders(config)) {
        const std::string uuid = read_mark(folder).value_or(Mark()).uuid;
        if (uuid.empty() || uuid == config.uuid) continue;
        return config_error("the target's folder belongs to volume " + uuid + ", as its file " + kTargetMark +
                                " says; volume " + config.uuid + " in " + config.folder + " expects one of its own",
                            folder);
    }
    return {};
}

} // namespace feedbench::feedfs
