// nfs: an NFS server spoken to by this process itself (libnfs), without a mount. docs/nfs.md says what it does and does
// not. Here: its options, its factory and the Backend; the protocol is in storage/nfs/.
#include "storage/registry.hpp"

#if FEEDBENCH_HAS_NFS
#include <algorithm>
#include <array>
#include <cerrno>

#include "harness/types/option_reader.hpp"
#include "harness/types/units.hpp"
#include "storage/nfs/data_path.hpp"
#include "storage/posix_base.hpp"
#endif

namespace feedbench::storage {

namespace {

constexpr Option kNfsOptions[] = {
    {"version", OptionType::integer, "", "3", "3, or 4 for reading (libnfs 4.0.0 cannot write over version 4)"},
    {"nfsport", OptionType::integer, "", "0", "port of the NFS service; 0: ask the portmapper (version 4: 2049)"},
    {"mountport", OptionType::integer, "", "0", "port of the mount service (version 3); 0: ask the portmapper"},
    {"uid", OptionType::integer, "", "-1", "user that the server sees (AUTH_SYS); -1: this process's"},
    {"gid", OptionType::integer, "", "-1", "group that the server sees; -1: this process's"},
    {"connections", OptionType::integer, "", "4", "TCP connections of each rank, 1 to 64"},
    {"rsize", OptionType::size_bytes, "bytes", "0", "most bytes of one READ; 0: what the server allows, up to 1 MiB"},
    {"wsize", OptionType::size_bytes, "bytes", "0", "most bytes of one WRITE; 0: what the server allows, up to 1 MiB"},
    {"timeout", OptionType::duration_s, "s", "30", "how long the server may be silent or unreachable, at least 1 s"},
};

} // namespace

std::span<const Option> nfs_options() { return kNfsOptions; }

#if !FEEDBENCH_HAS_NFS

std::string nfs_unavailable() {
    return "this feedbench was built without libnfs, which nfs: needs: install libnfs-dev and build again "
           "(FEEDBENCH_WITH_NFS)";
}
Expected<std::unique_ptr<Backend>> make_nfs_backend(const BackendRequest& request) {
    return config_error(nfs_unavailable(), request.uri);
}

#else

std::string nfs_unavailable() { return {}; }

namespace {

using engine::IoOp;
using engine::Submit;

class NfsBackend final : public Backend {
  public:
    explicit NfsBackend(nfs::Settings settings) : settings_(std::move(settings)) {
        capabilities_.name = "nfs";
        capabilities_.can_write = settings_.version == 3;
        capabilities_.direct_io = true; // libnfs keeps nothing: every read is the server's
        if (!capabilities_.can_write)
            capabilities_.note = "NFS version 4 is for reading: libnfs cannot write over it; version=3 can";
    }

    Status connect(engine::Reactor& reactor) {
        auto mounted = settings_.version == 4 ? nfs::find_service(settings_, reactor.clock())
                                              : nfs::mount_export(settings_, reactor.clock());
        if (!mounted) return mounted.error();
        mounted_ = std::move(*mounted);
        auto names = nfs::NamespaceCalls::make(settings_, mounted_.exported, mounted_.nfs_port, mounted_.mount_port);
        if (!names) return names.error();
        names_ = std::move(*names);
        const auto size = [](std::uint64_t asked, std::uint64_t allowed) {
            const std::uint64_t preferred = asked == 0 ? kMiB : asked;
            return std::max<std::uint64_t>(allowed == 0 ? preferred : std::min(preferred, allowed), 4 * kKiB);
        };
        const std::uint64_t read_bytes = size(settings_.read_bytes, names_->read_most_bytes());
        if (settings_.version == 4) {
            data_ = nfs::make_version4({reactor, settings_, mounted_, read_bytes});
            return {};
        }
        data_ = nfs::make_version3({reactor, settings_, mounted_, *names_, read_bytes,
                                    size(settings_.write_bytes, names_->write_most_bytes()), temporary_beside});
        return {};
    }

    const Capabilities& capabilities() const override { return capabilities_; }
    Submit submit(IoOp& op) override { return data_->submit(op); }
    void cancel_pending() override { data_->cancel(); }

    Expected<FileStat> stat(const std::string& path) override {
        auto found = names_->stat(below(path), display_path(path));
        if (!found) return found.error();
        return FileStat{.size_bytes = found->size_bytes, .is_directory = found->is_directory};
    }
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override {
        return names_->list(below(path), display_path(path), [&](std::string_view name, bool is_directory) {
            return is_temporary_name(name) || each(name, is_directory); // half-written is not there
        });
    }
    Status make_directories(const std::string& path) override {
        if (auto status = writable("mkdir", path); !status) return status;
        return names_->make_directories(below(path), display_path(path));
    }
    Status remove(const std::string& path) override {
        if (auto status = writable("remove", path); !status) return status;
        return names_->remove(below(path), display_path(path));
    }
    Status remove_leftovers(const std::string& path) override {
        if (settings_.version == 4) return {};
        std::vector<std::string> left;
        const auto status = names_->list(below(path), display_path(path), [&](std::string_view name, bool) {
            if (is_temporary_name(name)) left.emplace_back(name);
            return true;
        });
        if (!status) return status.error().errno_value == ENOENT ? Status{} : status;
        for (const std::string& name : left) {
            const std::string whole = path.empty() ? name : path + "/" + name;
            const auto removed = names_->remove(below(whole), display_path(whole));
            if (!removed && removed.error().errno_value != ENOENT) return removed;
        }
        return {};
    }
    Status write_file(const std::string& path, std::span<const std::byte> content) override {
        if (auto status = writable("create", path); !status) return status;
        const std::string target = below(path), temporary = temporary_beside(target), shown = display_path(path);
        auto status = names_->write(temporary, content, shown);
        if (status) status = names_->rename(temporary, target, shown);
        if (!status) (void)names_->remove(temporary, shown);
        return status;
    }
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override {
        return names_->read(below(path), limit_bytes, display_path(path));
    }
    Expected<FilesystemFacts> facts(const std::string& path) override {
        FilesystemFacts facts;
        facts.type = settings_.version == 4 ? "nfs4" : "nfs3";
        facts.device = settings_.address.host + ":" + mounted_.exported;
        facts.mount_options = "libnfs, " + std::to_string(settings_.connection_count) + " connections";
        facts.is_network = true;
        facts.server = settings_.address.host;
        auto space = names_->space("", display_path(path));
        if (!space) return space.error();
        facts.free_bytes = space->free_bytes;
        facts.total_bytes = space->total_bytes;
        facts.free_inodes = space->free_inodes;
        facts.filesystem_id = space->filesystem_id;
        return facts;
    }
    std::vector<EndpointCounters> statistics() const override { return {data_->counters()}; }
    CacheDrop cache_drop() const override {
        return [](const std::string&) { return DropOutcome::dropped; }; // there is none on this host
    }
    std::string display_path(const std::string& path) const override {
        const std::string& folder = settings_.address.path;
        const std::string root = settings_.server_text() + (folder == "/" ? "" : folder);
        return path.empty() && folder != "/" ? root : root + "/" + path;
    }

  private:
    std::string below(const std::string& path) const {
        if (mounted_.below.empty()) return path;
        return path.empty() ? mounted_.below : mounted_.below + "/" + path;
    }
    Status writable(const char* operation, const std::string& path) const {
        if (settings_.version == 3) return {};
        return storage_error(operation, display_path(path), EROFS,
                             "NFS version 4 is for reading (libnfs cannot write over it); use version=3");
    }

    const nfs::Settings settings_;
    nfs::Mounted mounted_;
    std::unique_ptr<nfs::NamespaceCalls> names_;
    std::unique_ptr<nfs::DataPath> data_; // refers to those above
    Capabilities capabilities_;
};

// Options of the URI win; both have been given types by the table.
Expected<nfs::Settings> settings_of(const BackendRequest& request) {
    auto address = nfs::parse_address(request.root);
    if (!address) return address.error();
    std::map<std::string, std::string> options = request.options;
    for (const auto& [key, value] : address->arguments) {
        const bool is_known = std::any_of(std::begin(kNfsOptions), std::end(kNfsOptions),
                                          [&key = key](const Option& option) { return option.key == key; });
        if (!is_known)
            return config_error("an nfs: URI has no argument '" + key + "' (feedbench list backends shows all)",
                                request.uri);
        options[key] = value;
    }
    OptionReader reader(kNfsOptions, options, request.uri);
    nfs::Settings settings;
    settings.version = static_cast<int>(reader.integer("version", 3, 4));
    const auto port = static_cast<std::uint16_t>(reader.integer("nfsport", 0, 65535));
    settings.nfs_port = address->port != 0 ? address->port : port;
    settings.mount_port = static_cast<std::uint16_t>(reader.integer("mountport", 0, 65535));
    settings.user = static_cast<int>(reader.integer("uid", -1, 2147483647));
    settings.group = static_cast<int>(reader.integer("gid", -1, 2147483647));
    settings.connection_count = static_cast<unsigned>(reader.integer("connections", 1, 64));
    settings.read_bytes = reader.bytes("rsize");
    settings.write_bytes = reader.bytes("wsize");
    settings.timeout_ns = reader.duration_ns("timeout", kNsPerS);
    if (auto status = reader.status(); !status) return status.error();
    settings.address = std::move(*address);
    return settings;
}

} // namespace

Expected<std::unique_ptr<Backend>> make_nfs_backend(const BackendRequest& request) {
    auto settings = settings_of(request);
    if (!settings) return settings.error();
    if (!request.reactor || request.reactor->clock().is_virtual())
        return config_error("real storage cannot run under the virtual clock; use null: or model:", request.uri);
    if (request.will_write && settings->version == 4)
        return config_error("libnfs cannot write over NFS version 4; write with version=3, version 4 can read it then",
                            request.uri);
    auto backend = std::make_unique<NfsBackend>(std::move(*settings));
    if (auto status = backend->connect(*request.reactor); !status) return status.error();
    return std::unique_ptr<Backend>(std::move(backend));
}

#endif

} // namespace feedbench::storage
