#include "storage/nfs/mount.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "harness/types/units.hpp"
#include "storage/nfs/connection.hpp"
#include "storage/nfs/libnfs.hpp"
// clang-format off
#include <nfsc/libnfs-raw-mount.h> // last: it calls a global type `name`
// clang-format on

namespace feedbench::storage::nfs {

void Handle::assign(const nfs_fh3& handle) {
    size = std::min<std::uint32_t>(handle.data.data_len, bytes.size());
    std::memcpy(bytes.data(), handle.data.data_val, size);
}

nfs_fh3 Handle::view() const {
    nfs_fh3 handle{};
    handle.data.data_len = size;
    handle.data.data_val = const_cast<char*>(bytes.data()); // libnfs only reads it
    return handle;
}

namespace {

constexpr std::uint16_t kPortmapperPort = 111, kVersion4Port = 2049;
constexpr int kAuthNone = 0, kAuthSys = 1;

// A connection to one program of the server, driven by hand.
class Dialogue {
  public:
    Dialogue(const Settings& settings, const engine::Clock& clock, std::string host)
        : settings_(settings), clock_(clock), host_(std::move(host)), rpc_(rpc_init_context()) {
        if (rpc_ && settings.user >= 0) rpc_set_uid(rpc_, settings.user);
        if (rpc_ && settings.group >= 0) rpc_set_gid(rpc_, settings.group);
    }
    ~Dialogue() {
        outcome_ = nullptr;
        if (rpc_) rpc_destroy_context(rpc_);
    }
    Dialogue(const Dialogue&) = delete;
    Dialogue& operator=(const Dialogue&) = delete;

    Status connect(std::uint16_t port, int program, int version, const char* what) {
        if (!rpc_) return storage_error("connect", settings_.server_text(), ENOMEM);
        const int begun = rpc_connect_port_async(rpc_, host_.c_str(), port, program, version, on_answer, this);
        const std::string text = std::string(what) + " at " + host_ + " port " + std::to_string(port);
        return wait(begun, "connect", text);
    }
    Status ask_port(int program, int version, std::uint16_t& port) {
        std::uint32_t answer = 0;
        take_ = [&](void* data) { answer = *static_cast<std::uint32_t*>(data); };
        const int begun = rpc_pmap2_getport_async(rpc_, program, version, IPPROTO_TCP, on_answer, this);
        if (auto status = wait(begun, "connect", "the portmapper of " + settings_.address.host); !status) return status;
        port = static_cast<std::uint16_t>(answer);
        return {};
    }
    // The server's answer as errno (0: mounted).
    Status mount(std::string path, Handle& root, int& error) {
        take_ = [&](void* data) {
            const auto& result = *static_cast<mountres3*>(data);
            error = result.fhs_status == MNT3ERR_NOTSUPP       ? EOPNOTSUPP
                    : result.fhs_status == MNT3ERR_SERVERFAULT ? EIO
                                                               : static_cast<int>(result.fhs_status);
            if (error != 0) return;
            const mountres3_ok& info = result.mountres3_u.mountinfo;
            nfs_fh3 handle{};
            handle.data.data_len = info.fhandle.fhandle3_len;
            handle.data.data_val = info.fhandle.fhandle3_val;
            root.assign(handle);
            bool plain = info.auth_flavors.auth_flavors_len == 0;
            for (unsigned i = 0; i < info.auth_flavors.auth_flavors_len; ++i)
                plain |= info.auth_flavors.auth_flavors_val[i] == kAuthSys ||
                         info.auth_flavors.auth_flavors_val[i] == kAuthNone;
            if (!plain) error = EPROTONOSUPPORT;
        };
        const int begun = rpc_mount3_mnt_async(rpc_, on_answer, path.data(), this);
        return wait(begun, "mount", settings_.server_text() + path);
    }

  private:
    static void on_answer(rpc_context* rpc, int status, void* data, void* dialogue) {
        auto& self = *static_cast<Dialogue*>(dialogue);
        if (!self.outcome_) return; // being destroyed, or given up
        *self.outcome_ = status;
        if (status == RPC_STATUS_SUCCESS) {
            if (data && self.take_) self.take_(data);
        } else {
            const char* text = data ? static_cast<const char*>(data) : rpc_get_error(rpc);
            self.why_ = text ? text : "";
        }
    }
    Status wait(int begun, const char* operation, const std::string& whom) {
        int outcome = -1;
        outcome_ = &outcome;
        const std::uint64_t deadline = clock_.now_ns() + settings_.timeout_ns;
        while (begun >= 0 && outcome < 0) {
            if (clock_.now_ns() >= deadline) {
                outcome_ = nullptr;
                return storage_error(operation, whom, ETIMEDOUT,
                                     "no answer for " + std::to_string(settings_.timeout_ns / kNsPerS) +
                                         " s (option timeout)");
            }
            pollfd descriptor{rpc_get_fd(rpc_), static_cast<short>(rpc_which_events(rpc_)), 0};
            if (::poll(&descriptor, 1, 100) < 0 && errno != EINTR) break;
            // libnfs has words for an error, and only its own name for a hang-up.
            const int seen = descriptor.revents & POLLERR ? descriptor.revents & ~POLLHUP : descriptor.revents;
            if (rpc_service(rpc_, seen) < 0) break;
        }
        outcome_ = nullptr;
        take_ = {};
        if (outcome == RPC_STATUS_SUCCESS) return {};
        if (why_.empty() && rpc_get_error(rpc_)) why_ = rpc_get_error(rpc_);
        const int error = errno_in(why_, ECONNREFUSED);
        return storage_error(operation, whom, error,
                             error == ECONNREFUSED ? "nobody listens there, or not to us: " + why_ : why_);
    }

    const Settings& settings_;
    const engine::Clock& clock_;
    const std::string host_;
    rpc_context* rpc_;
    int* outcome_ = nullptr;
    std::function<void(void*)> take_;
    std::string why_;
};

Expected<std::string> numeric(const Settings& settings) {
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(settings.address.host.c_str(), nullptr, nullptr, &found);
    if (error != 0)
        return storage_error("connect", settings.server_text(), EHOSTUNREACH,
                             "'" + settings.address.host + "' is no host that can be found: " + ::gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
    char text[NI_MAXHOST];
    if (::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
        return storage_error("connect", settings.server_text(), EHOSTUNREACH);
    return std::string(text);
}

Error no_export(const Settings& settings, int error) {
    const std::string& path = settings.address.path;
    std::string text;
    if (error == EACCES || error == EPERM)
        text = "the server does not let this host mount it (or the export is misspelt: some servers answer so)";
    else if (error == EPROTONOSUPPORT)
        text = "the export wants Kerberos, and feedbench speaks AUTH_SYS only";
    else if (error == ENOENT)
        text = "the server exports neither this folder nor one that holds it; `showmount -e " + settings.address.host +
               "` lists what it exports";
    return storage_error("mount", settings.server_text() + path, error, std::move(text));
}

} // namespace

Expected<Mounted> find_service(const Settings& settings, const engine::Clock& clock) {
    Mounted mounted;
    auto host = numeric(settings);
    if (!host) return host.error();
    mounted.numeric_host = *host;
    mounted.nfs_port = settings.nfs_port != 0 ? settings.nfs_port : kVersion4Port;
    mounted.exported = settings.address.path;
    Dialogue service(settings, clock, *host);
    if (auto status = service.connect(mounted.nfs_port, NFS_PROGRAM, 4, "the NFS service (version 4)"); !status)
        return status.error();
    return mounted;
}

Expected<Mounted> mount_export(const Settings& settings, const engine::Clock& clock) {
    Mounted mounted;
    auto host = numeric(settings);
    if (!host) return host.error();
    mounted.numeric_host = *host;
    mounted.nfs_port = settings.nfs_port;
    mounted.mount_port = settings.mount_port;
    if (mounted.nfs_port == 0 || mounted.mount_port == 0) {
        Dialogue portmapper(settings, clock, *host);
        if (auto status = portmapper.connect(kPortmapperPort, PMAP_PROGRAM, PMAP_V2,
                                             "the portmapper (options nfsport and mountport do without it)");
            !status)
            return status.error();
        if (mounted.nfs_port == 0)
            if (auto status = portmapper.ask_port(NFS_PROGRAM, NFS_V3, mounted.nfs_port); !status)
                return status.error();
        if (mounted.mount_port == 0)
            if (auto status = portmapper.ask_port(MOUNT_PROGRAM, MOUNT_V3, mounted.mount_port); !status)
                return status.error();
        if (mounted.nfs_port == 0 || mounted.mount_port == 0)
            return storage_error("connect", settings.server_text(), EPROTONOSUPPORT,
                                 "its portmapper knows no NFS version 3 over TCP");
    }
    Dialogue mountd(settings, clock, *host);
    if (auto status = mountd.connect(mounted.mount_port, MOUNT_PROGRAM, MOUNT_V3, "the mount service"); !status)
        return status.error();
    std::string path = settings.address.path;
    for (int first_error = 0;;) {
        int error = 0;
        if (auto status = mountd.mount(path, mounted.root, error); !status) return status.error();
        if (error == 0) break;
        // Not there yet, or not to be mounted by itself: what holds it may be.
        if (first_error == 0 || error == EACCES || error == EPROTONOSUPPORT) first_error = error;
        if (path == "/") return no_export(settings, first_error);
        path.resize(std::max<std::size_t>(path.find_last_of('/'), 1));
    }
    mounted.exported = path;
    mounted.below = settings.address.path.substr(path.size());
    while (mounted.below.starts_with('/')) mounted.below.erase(0, 1);
    return mounted;
}

} // namespace feedbench::storage::nfs
