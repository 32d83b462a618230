#include "storage/nfs/namespace_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "harness/types/units.hpp"
#include "storage/nfs/libnfs.hpp"

namespace feedbench::storage::nfs {

namespace {

// SYNs before a silent address is given up: 1 + 2 + 4 s.
constexpr int kConnectAttempts = 2;
constexpr int kReconnectAttempts = 2;

struct OpenFile {
    OpenFile(nfs_context* context, nfsfh* file) : nfs(context), handle(file) {}
    ~OpenFile() {
        if (handle) nfs_close(nfs, handle);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    nfs_context* nfs;
    nfsfh* handle;
};

std::string absolute(const std::string& path) { return "/" + path; }

} // namespace

nfs_context* make_context(const Settings& settings, std::uint16_t nfs_port, std::uint16_t mount_port) {
    nfs_context* nfs = nfs_init_context();
    if (!nfs) return nullptr;
    // The ports of a context can be set by a URL only.
    std::string url = "nfs://server/?version=" + std::to_string(settings.version);
    if (nfs_port != 0) url += "&nfsport=" + std::to_string(nfs_port);
    if (mount_port != 0 && settings.version == 3) url += "&mountport=" + std::to_string(mount_port);
    if (nfs_url* parsed = nfs_parse_url_incomplete(nfs, url.c_str())) nfs_destroy_url(parsed);
    if (settings.user >= 0) nfs_set_uid(nfs, settings.user);
    if (settings.group >= 0) nfs_set_gid(nfs, settings.group);
    nfs_set_tcp_syncnt(nfs, kConnectAttempts);
    nfs_set_autoreconnect(nfs, kReconnectAttempts);
    nfs_set_dircache(nfs, 0);
    if (settings.version == 4) { // two clients of one name end each other's leases
        static unsigned count = 0;
        char host[HOST_NAME_MAX + 1] = {};
        ::gethostname(host, sizeof host - 1);
        const std::string client =
            std::string(host) + "-feedbench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
        nfs4_set_client_name(nfs, client.c_str());
    }
    // In whole seconds.
    nfs_set_timeout(nfs, static_cast<int>(std::max<std::uint64_t>(settings.timeout_ns / kNsPerS, 1) * 1000));
    return nfs;
}

Expected<std::unique_ptr<NamespaceCalls>> NamespaceCalls::make(const Settings& settings, std::string exported,
                                                               std::uint16_t nfs_port, std::uint16_t mount_port) {
    std::unique_ptr<NamespaceCalls> calls(new NamespaceCalls());
    calls->nfs_ = make_context(settings, nfs_port, mount_port);
    if (!calls->nfs_) return storage_error("mount", settings.server_text() + exported, ENOMEM);
    const int result = nfs_mount(calls->nfs_, settings.address.host.c_str(), exported.c_str());
    if (result < 0) return calls->failed("mount", settings.server_text() + exported, result);
    return calls;
}

NamespaceCalls::~NamespaceCalls() {
    if (nfs_) nfs_destroy_context(nfs_);
}

// libnfs's own sentence only where the errno does not say it all.
Error NamespaceCalls::failed(const char* operation, const std::string& shown, int result) const {
    const int error = -result;
    const char* text = nfs_get_error(nfs_);
    std::string detail;
    switch (error) {
    case ENOENT:
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case ENOSPC:
    case EDQUOT:
    case ENOTEMPTY:
    case EROFS:
        break;
    case EACCES:
    case EPERM:
        detail = "the server does not permit it to this user (options uid and gid; as root: the export's root_squash)";
        break;
    case ESTALE:
        detail = "the file or folder was removed on the server, or the export was made anew";
        break;
    default:
        detail = text ? text : "";
    }
    return storage_error(operation, shown, error, std::move(detail));
}

std::uint64_t NamespaceCalls::read_most_bytes() const { return nfs_get_readmax(nfs_); }
std::uint64_t NamespaceCalls::write_most_bytes() const { return nfs_get_writemax(nfs_); }

Expected<NamespaceCalls::Found> NamespaceCalls::stat(const std::string& path, const std::string& shown) {
    nfs_stat_64 status{};
    const int result = nfs_stat64(nfs_, absolute(path).c_str(), &status);
    if (result < 0) return failed("stat", shown, result);
    const bool is_directory = S_ISDIR(status.nfs_mode);
    return Found{.size_bytes = is_directory ? 0 : status.nfs_size, .is_directory = is_directory};
}

Status NamespaceCalls::list(const std::string& path, const std::string& shown,
                            const std::function<bool(std::string_view, bool)>& each) {
    nfsdir* folder = nullptr;
    const int result = nfs_opendir(nfs_, absolute(path).c_str(), &folder);
    if (result < 0) return failed("list", shown, result);
    const std::unique_ptr<nfsdir, std::function<void(nfsdir*)>> owner(folder,
                                                                      [this](nfsdir* d) { nfs_closedir(nfs_, d); });
    while (const nfsdirent* entry = nfs_readdir(nfs_, folder)) {
        const std::string_view name = entry->name;
        if (name == "." || name == "..") continue;
        bool is_directory = S_ISDIR(entry->mode);
        if (S_ISLNK(entry->mode)) {
            nfs_stat_64 status{};
            const std::string whole = absolute(path) + "/" + entry->name;
            is_directory = nfs_stat64(nfs_, whole.c_str(), &status) == 0 && S_ISDIR(status.nfs_mode);
        }
        if (!each(name, is_directory)) break;
    }
    return {};
}

Status NamespaceCalls::make_directories(const std::string& path, const std::string& shown) {
    const std::string whole = absolute(path);
    for (std::size_t slash = 0; slash != std::string::npos && whole.size() > 1;) {
        slash = whole.find('/', slash + 1);
        const std::string folder = whole.substr(0, slash);
        const int result = nfs_mkdir2(nfs_, folder.c_str(), 0777);
        if (result == 0) continue;
        nfs_stat_64 status{};
        // Also a forbidden ancestor is fine as long as it is there.
        if (nfs_stat64(nfs_, folder.c_str(), &status) == 0 && S_ISDIR(status.nfs_mode)) continue;
        return failed("mkdir", shown, result == -EEXIST ? -ENOTDIR : result);
    }
    return {};
}

Status NamespaceCalls::remove(const std::string& path, const std::string& shown) {
    const std::string whole = absolute(path);
    const int result = nfs_unlink(nfs_, whole.c_str());
    if (result == 0) return {};
    if (result != -ENOENT && result != -ESTALE) {
        const int as_folder = nfs_rmdir(nfs_, whole.c_str());
        if (as_folder == 0) return {};
        if (as_folder != -ENOTDIR) return failed("remove", shown, as_folder);
    }
    return failed("remove", shown, result);
}

Status NamespaceCalls::rename(const std::string& from, const std::string& to, const std::string& shown) {
    const int result = nfs_rename(nfs_, absolute(from).c_str(), absolute(to).c_str());
    if (result < 0) return failed("rename", shown, result);
    return {};
}

Status NamespaceCalls::write(const std::string& path, std::span<const std::byte> content, const std::string& shown) {
    nfsfh* handle = nullptr;
    int result = nfs_open2(nfs_, absolute(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666, &handle);
    if (result < 0) return failed("create", shown, result);
    const OpenFile file(nfs_, handle);
    for (std::size_t done = 0; done < content.size();) {
        result =
            nfs_pwrite(nfs_, handle, done, std::min<std::size_t>(content.size() - done, kMiB), content.data() + done);
        if (result <= 0) return failed("write", shown, result == 0 ? -EIO : result);
        done += static_cast<std::size_t>(result);
    }
    if (result = nfs_fsync(nfs_, handle); result < 0) return failed("fsync", shown, result);
    return {};
}

Expected<std::string> NamespaceCalls::read(const std::string& path, std::uint64_t limit_bytes,
                                           const std::string& shown) {
    nfsfh* handle = nullptr;
    int result = nfs_open(nfs_, absolute(path).c_str(), O_RDONLY, &handle);
    if (result < 0) return failed("open", shown, result);
    const OpenFile file(nfs_, handle);
    std::string content;
    std::string piece(64 * kKiB, '\0');
    for (;;) {
        result = nfs_pread(nfs_, handle, content.size(), piece.size(), piece.data());
        if (result < 0) return failed("read", shown, result);
        if (result == 0) return content;
        if (static_cast<std::uint64_t>(result) > limit_bytes - content.size())
            return storage_error("read", shown, EFBIG, "larger than " + std::to_string(limit_bytes) + " bytes");
        content.append(piece, 0, static_cast<std::size_t>(result));
    }
}

Expected<NamespaceCalls::Space> NamespaceCalls::space(const std::string& path, const std::string& shown) {
    nfs_statvfs_64 facts{};
    const int result = nfs_statvfs64(nfs_, absolute(path).c_str(), &facts);
    if (result < 0) return failed("statfs", shown, result);
    const std::uint64_t unit = facts.f_frsize != 0 ? facts.f_frsize : facts.f_bsize;
    return Space{.free_bytes = facts.f_bavail * unit,
                 .total_bytes = facts.f_blocks * unit,
                 .free_inodes = facts.f_favail,
                 .filesystem_id = facts.f_fsid};
}

} // namespace feedbench::storage::nfs
