// The metadata engines as tests open them: each a place of its own in a scratch folder, Redis with a server of its own.
//
// Thread: one. Owner: the test; the folder and the server go with the rig. Units: -. Errors: Catch assertions where
// what must open does not. Source: issue 7.
#pragma once

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::test {

class MetadataFolder {
  public:
    MetadataFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "feedfs-metadata-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~MetadataFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    MetadataFolder(const MetadataFolder&) = delete;
    MetadataFolder& operator=(const MetadataFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// A redis-server on a unix socket in `folder`; its append-only file stays there over restarts.
class RedisServer {
  public:
    static bool available() { return std::system("command -v redis-server >/dev/null 2>&1") == 0; }
    RedisServer(std::string folder, std::vector<std::string> settings)
        : folder_(std::move(folder)), settings_(std::move(settings)) {}
    ~RedisServer() { stop(SIGKILL); }
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    std::string socket() const { return folder_ + "/redis.sock"; }
    std::string url() const { return "redis+unix://" + socket(); }
    void start() {
        REQUIRE(pid_ == 0);
        std::vector<std::string> words{"redis-server", "--port", "0", "--unixsocket", socket(), "--dir",
                                       folder_,        "--save", ""};
        words.insert(words.end(), settings_.begin(), settings_.end());
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        unlink(socket().c_str());
        pid_ = fork();
        if (pid_ == 0) {
            const int log = open((folder_ + "/redis.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            dup2(log, 1);
            dup2(log, 2);
            execvp(pointers[0], pointers.data());
            _exit(127);
        }
        REQUIRE(pid_ > 0);
        for (int i = 0; i < 1000 && !answers(); ++i) poll(nullptr, 0, 10);
        REQUIRE(answers());
    }
    // Its socket is there a moment before anybody listens at it.
    bool answers() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket().copy(address.sun_path, sizeof address.sun_path - 1);
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        close(fd);
        return connected;
    }
    void stop(int with_signal) {
        if (pid_ <= 0) return;
        kill(pid_, with_signal);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

  private:
    std::string folder_;
    std::vector<std::string> settings_;
    pid_t pid_ = 0;
};

inline const std::string kVolumeId = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

// One engine of the table, with a fresh place; open() as often as need be, after close or in a child process.
class MetadataRig {
  public:
    explicit MetadataRig(const std::string& engine,
                         std::vector<std::string> redis_settings = {"--appendonly", "yes", "--appendfsync", "always"})
        : server(folder.path(), std::move(redis_settings)) {
        place.engine = engine;
        place.place = folder.path() + "/metadata";
        place.volume_id = kVolumeId;
        if (engine != "redis") return;
        server.start();
        place.place = server.url();
        place.options.push_back({"retry_ms", "10000"});
    }
    std::shared_ptr<feedfs::MetadataEngine> open(feedfs::OpenMode mode) {
        auto opened = feedfs::open_metadata(place, mode, [this](const std::string& text) { warnings.push_back(text); });
        INFO((opened ? std::string() : opened.error().describe()));
        REQUIRE(opened.has_value());
        return *opened;
    }
    std::shared_ptr<feedfs::MetadataEngine> create() { return open(feedfs::OpenMode::create); }

    MetadataFolder folder;
    RedisServer server;
    feedfs::MetadataPlace place;
    std::vector<std::string> warnings;
};

// The names of all engines that can run here; says so where Redis cannot.
inline std::vector<std::string> metadata_engines(bool with_memory = true) {
    std::vector<std::string> names;
    if (with_memory) names.push_back("memory");
    names.push_back("lmdb");
    if (RedisServer::available())
        names.push_back("redis");
    else
        WARN("redis-server is not installed: the Redis engine is not tested here (apt-get install redis-server)");
    return names;
}

inline bool applied(feedfs::MetadataEngine& engine, const feedfs::Batch& batch,
                    feedfs::Durability durability = feedfs::Durability::relaxed) {
    auto outcome = engine.apply(batch, durability);
    INFO((outcome ? std::string() : outcome.error().describe()));
    REQUIRE(outcome.has_value());
    return outcome->applied();
}

inline std::optional<std::string> value_of(feedfs::MetadataEngine& engine, const std::string& key) {
    std::string value;
    auto found = engine.get(key, value);
    INFO((found ? std::string() : found.error().describe()));
    REQUIRE(found.has_value());
    return *found ? std::optional(value) : std::nullopt;
}

// All of a range, by pages of `page` keys, each with a view of its own.
inline std::vector<std::pair<std::string, std::string>> contents(feedfs::MetadataEngine& engine, feedfs::KeyRange range,
                                                                 std::size_t page = 1000) {
    std::vector<std::pair<std::string, std::string>> found;
    for (bool more = true; more;) {
        auto view = engine.read();
        REQUIRE(view.has_value());
        auto end = (*view)->scan(range, page, [&](std::string_view key, std::string_view value) {
            found.emplace_back(key, value);
            return true;
        });
        INFO((end ? std::string() : end.error().describe()));
        REQUIRE(end.has_value());
        more = !end->complete;
        range.from = end->next_key;
    }
    return found;
}

} // namespace feedbench::test
