#include "storage/feedfs/mount/session.hpp"

#include <fcntl.h>
#include <linux/fuse.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <thread>

#include "storage/feedfs/metadata/read_ahead.hpp"
#include "storage/feedfs/mount/init_answer.hpp"
#include "storage/feedfs/mount/request_loop.hpp"
#include "storage/feedfs/mount/stop_signals.hpp"
#include "storage/feedfs/tier.hpp"

namespace feedbench::feedfs::mount {

namespace {

void begin(void* user_data, fuse_conn_info* connection) {
    const Door& door = *static_cast<Door*>(user_data);
    // Published content never changes under its inode number, so cached pages need no look at attributes; what is
    // written through the mount goes to the library at once, which sees to chunks itself.
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_WRITEBACK_CACHE);
    connection->want |= connection->capable & (FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS |
                                               FUSE_CAP_READDIRPLUS | FUSE_CAP_ATOMIC_O_TRUNC);
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_READDIRPLUS_AUTO);
    if (connection->capable & FUSE_CAP_PARALLEL_DIROPS) add_to_init_answer(FUSE_PARALLEL_DIROPS);
    if (door.options.open_needs_no_call) connection->want |= connection->capable & FUSE_CAP_NO_OPEN_SUPPORT;
    connection->max_background = 64;
    connection->congestion_threshold = 48;
}

fuse_lowlevel_ops operations() {
    fuse_lowlevel_ops table{};
    table.init = begin;
    set_name_operations(table);
    set_attribute_operations(table);
    set_directory_operations(table);
    set_file_operations(table);
    return table;
}

constexpr std::uint64_t kTierPauseNs = 5'000'000'000; // between two looks at what there is to move

bool has_object_tier(const VolumeConfig& volume) {
    return std::any_of(volume.targets.begin(), volume.targets.end(),
                       [](const TargetConfig& target) { return target.tier == Tier::object; });
}

Status check_can_mount(const SessionOptions& options) {
    const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return storage_error("open", "/dev/fuse", errno,
                             errno == ENOENT || errno == ENODEV || errno == ENXIO
                                 ? "this kernel or container offers no FUSE (modprobe fuse, or pass the device in); "
                                   "'feedfs export' and the feedfs: backend work without it"
                                 : "no permission to use FUSE");
    ::close(device);
    struct stat about {};
    if (::stat(options.directory.c_str(), &about) != 0)
        return storage_error("mount", options.directory, errno,
                             errno == ENOTCONN ? "a mount whose process has died lies there: fusermount3 -u it first"
                                               : "the folder to mount on cannot be used");
    if (!S_ISDIR(about.st_mode)) return storage_error("mount", options.directory, ENOTDIR, "not a folder");
    return {};
}

// The kernel's own default is 128 KiB whatever the filesystem asks for; only root may raise it.
void set_read_ahead(const SessionOptions& options) {
    struct stat about {};
    if (::stat(options.directory.c_str(), &about) != 0) return;
    std::ofstream file("/sys/class/bdi/" + std::to_string(major(about.st_dev)) + ":" +
                       std::to_string(minor(about.st_dev)) + "/read_ahead_kb");
    file << options.read_ahead_bytes / 1024;
    if (!file.flush() && options.log && ::geteuid() == 0)
        options.log("could not set the kernel's read-ahead of this mount to " +
                    std::to_string(options.read_ahead_bytes >> 10) + " KiB");
}

// A loop that looks up answers nobody while it waits for a page of the metadata.
void read_ahead_of_loops(const VolumeConfig& volume) {
    constexpr std::uint64_t kMemoryPart = 4;
    if (volume.metadata_engine != "lmdb") return;
    const auto memory_bytes =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    read_metadata_ahead(volume.absolute_place(volume.metadata_place) + "/data.mdb", memory_bytes / kMemoryPart);
}

std::string joined_options(const SessionOptions& options) {
    std::string text = "default_permissions,subtype=feedfs,fsname=" + options.volume;
    if (options.allow_other) text += ",allow_other";
    if (options.read_only) text += ",ro";
    for (const std::string& one : options.kernel_options) text += "," + one;
    return text;
}

// An unmount ends the loop by itself. Where programs still have files open there, it is refused: then the loop ends,
// and what they have not closed is not published. False: it was refused.
bool stop(fuse_session* session, const std::string& directory) {
    bool unmounted = false;
    if (::geteuid() == 0) {
        unmounted = ::umount2(directory.c_str(), 0) == 0;
    } else {
        const char* words[] = {"fusermount3", "-u", "-q", directory.c_str(), nullptr};
        pid_t child = 0;
        int status = 1;
        unmounted = ::posix_spawnp(&child, words[0], nullptr, nullptr, const_cast<char**>(words), environ) == 0 &&
                    ::waitpid(child, &status, 0) == child && status == 0;
    }
    if (!unmounted) fuse_session_exit(session);
    return unmounted;
}

// Until the mount is gone or is told to end.
Status serve(fuse_session* session, Door& door, const SessionOptions& options) {
    if (can_be_served_by_loops(door.files)) {
        const Status served = serve_by_loops(session, door, {.loops = options.loops, .workers = options.threads});
        if (served || served.error().operation != "io_uring_setup") return served;
        if (options.log) options.log(served.error().describe() + "; each request is served by a thread");
    }
    const std::unique_ptr<fuse_loop_config, decltype(&fuse_loop_cfg_destroy)> loop(fuse_loop_cfg_create(),
                                                                                   &fuse_loop_cfg_destroy);
    fuse_loop_cfg_set_max_threads(loop.get(), options.threads);
    fuse_loop_cfg_set_idle_threads(loop.get(), options.threads); // threads stay: making one costs more than a read
    fuse_loop_cfg_set_clone_fd(loop.get(), 1);
    const int ended = fuse_session_loop_mt(session, loop.get());
    if (ended < 0) return storage_error("mount", options.directory, -ended, "the connection to the kernel broke");
    return {};
}

struct SessionEnd {
    void operator()(fuse_session* session) const {
        fuse_session_unmount(session);
        fuse_session_destroy(session);
    }
};

} // namespace

Status run_session(const SessionOptions& options) {
    StopSignals signals; // before the first thread
    if (Status ok = check_can_mount(options); !ok) return ok;
    OpenOptions how;
    how.read_only = options.read_only;
    how.verify = options.verify;
    how.purpose = "mount";
    how.now_ns = options.now_ns;
    how.warn = options.log;
    Expected<std::unique_ptr<FileSystem>> files = FileSystem::open(options.volume, how);
    if (!files) return files.error();

    // Uploads and evictions go on in the background, as long as the volume is mounted to write.
    std::unique_ptr<Tiering> tiering;
    std::unique_ptr<TierAgent> agent;
    if (!options.read_only && has_object_tier((*files)->volume())) {
        Expected<std::unique_ptr<Tiering>> made = Tiering::make(**files);
        if (!made) return made.error();
        tiering = std::move(*made);
        agent = std::make_unique<TierAgent>(
            *tiering, kTierPauseNs, options.log ? options.log : [](const std::string&) {});
    }

    DoorOptions about;
    about.entry_timeout_s = options.entry_timeout_s;
    about.attribute_timeout_s = options.attribute_timeout_s;
    about.open_needs_no_call = options.read_only;
    about.commits.sync_closes = options.sync_closes;
    about.commits.log = options.log;
    about.now_ns = options.now_ns;
    Door door(**files, about);

    const std::string joined = joined_options(options);
    std::array<const char*, 3> words{"feedfs", "-o", joined.c_str()};
    fuse_args arguments FUSE_ARGS_INIT(static_cast<int>(words.size()), const_cast<char**>(words.data()));
    const fuse_lowlevel_ops table = operations();
    const std::unique_ptr<fuse_session, SessionEnd> session(fuse_session_new(&arguments, &table, sizeof table, &door));
    fuse_opt_free_args(&arguments);
    if (!session) return storage_error("mount", options.directory, EINVAL, "libfuse refused the options: " + joined);
    if (fuse_session_mount(session.get(), options.directory.c_str()) != 0)
        return storage_error("mount", options.directory, errno == 0 ? EPERM : errno,
                             "the kernel or fusermount3 refused the mount");

    if (Status ok = complete_init_answer(session.get()); !ok) return ok;
    std::atomic<bool> files_are_open{false};
    signals.watch([&] { files_are_open = !stop(session.get(), options.directory); });
    // The first stat of the mount answers only once the loop runs.
    std::thread announcer([&] {
        set_read_ahead(options);
        if (options.mounted) options.mounted();
        if (options.read_only) read_ahead_of_loops((*files)->volume());
    });
    const Status served = serve(session.get(), door, options);
    announcer.join();
    signals.end();
    // Each close waits for an answer, but the release of the file, with which it is queued, comes later; an unmount
    // that follows at once lets the kernel drop it. An unmount that was not refused means that nothing was open any
    // more.
    if (!files_are_open) door.pending.close_flushed();
    Status stored = door.pending.sync();
    return served ? stored : served;
}

} // namespace feedbench::feedfs::mount
