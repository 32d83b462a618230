// feedfs mount: mounts a volume, in the background unless told otherwise.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "storage/feedfs/mount/session.hpp"
#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/opened.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct MountCommand {
    mount::SessionOptions session;
    std::vector<std::string> words; // of -o
    bool foreground = false;
};

std::string absolute(const std::string& path) {
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved)) return resolved;
    // What is not there is named as it was meant: the process in the background lives in another folder.
    std::error_code code;
    return std::filesystem::absolute(path, code).string();
}

// The child's first word to whoever started it: how the mount went.
void tell(int pipe, int code, const std::string& message) {
    const std::string text = std::string(1, static_cast<char>(code)) + message;
    if (::write(pipe, text.data(), text.size()) < 0) ::syslog(LOG_ERR, "nobody heard: %s", message.c_str());
    ::close(pipe);
}

int listen(int pipe) {
    std::string text;
    char part[512];
    for (ssize_t got; (got = ::read(pipe, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
    if (text.empty())
        return report(storage_error("mount", {}, EPIPE, "the process in the background ended without a word"));
    if (text.size() > 1) std::fprintf(stderr, "feedfs: %s\n", text.c_str() + 1);
    return text[0];
}

int serve_in_background(mount::SessionOptions& session, int pipe) {
    ::setsid();
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
    if (nothing > STDERR_FILENO) ::close(nothing);
    if (::chdir("/") != 0) ::syslog(LOG_WARNING, "could not leave the folder");
    ::openlog("feedfs", LOG_PID, LOG_DAEMON);
    session.log = [](const std::string& sentence) { ::syslog(LOG_WARNING, "%s", sentence.c_str()); };
    bool told = false;
    session.mounted = [&] {
        tell(pipe, 0, "");
        told = true;
    };
    const Status ended = run_session(session);
    if (ended) return 0;
    if (told)
        ::syslog(LOG_ERR, "%s", ended.error().describe().c_str());
    else
        tell(pipe, exit_code(ended.error().kind), ended.error().describe());
    return exit_code(ended.error().kind);
}

int mount_volume(MountCommand& command) {
    mount::SessionOptions& session = command.session;
    session.allow_other = ::geteuid() == 0;
    session.now_ns = now_ns;
    for (const std::string& word : command.words)
        if (Status ok = parse_mount_options(word, session); !ok) return report(ok.error());
    session.volume = absolute(session.volume);
    session.directory = absolute(session.directory);
    if (command.foreground) {
        session.log = [](const std::string& sentence) { warn(sentence); };
        session.mounted = [&] {
            std::fprintf(stderr, "feedfs: %s is mounted on %s\n", session.volume.c_str(), session.directory.c_str());
        };
        const Status ended = run_session(session);
        return ended ? 0 : report(ended.error());
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return report(storage_error("pipe", {}, errno));
    // Before the volume is opened: neither its threads nor LMDB survive a fork.
    const pid_t child = ::fork();
    if (child < 0) return report(storage_error("fork", {}, errno));
    if (child == 0) {
        ::close(ends[0]);
        ::_exit(serve_in_background(session, ends[1]));
    }
    ::close(ends[1]);
    return listen(ends[0]);
}

} // namespace

Body add_mount(CLI::App& command) {
    auto options = std::make_shared<MountCommand>();
    command.add_option("VOLUME", options->session.volume, "the volume's folder")->required();
    command.add_option("DIR", options->session.directory, "the folder to mount on")->required();
    command.add_flag("-f,--foreground", options->foreground,
                     "stay in the foreground, say what goes wrong on stderr (else: syslog)");
    command.add_option("-o", options->words, "mount options, comma-separated")->type_name("OPTION,...");
    command.footer("Options of -o:\n" + mount::mount_options_help() +
                   "Unmount with umount or fusermount3 -u. Example: feedfs mount /data/volume /mnt/data -o ro");
    return [options] { return mount_volume(*options); };
}

} // namespace feedbench::feedfs::tool
