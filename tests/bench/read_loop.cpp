// bench_read_loop: the plain loop that feedbench's reading is measured against. It does what a program would do that
// knows nothing of rings, coroutines or batches: one thread, one read after another, into a buffer that is larger than
// the last-level cache.
//
//   bench_read_loop --mode pread      --loops 5 --block 262144 FILE|DIRECTORY...   each file front to back
//   bench_read_loop --mode open_pread --loops 5 --block 262144 FILE|DIRECTORY...   open, fstat, pread, close of each
// Prints one JSON object; wall and CPU (user + system of this process) are those of the reading alone: files are
// listed, opened (pread) and all buffer pages touched before.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/clock.hpp"

namespace {

using namespace feedbench;

struct Settings {
    std::string mode;
    std::uint64_t loops = 1, block_bytes = 262144, buffer_bytes = 64 << 20;
    bool odirect = false;
    std::vector<std::string> files;
};

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "bench_read_loop: %s\n", message.c_str());
    std::exit(2);
}

std::uint64_t number(const char* text) {
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text, &end, 10);
    if (*end != '\0' || value == 0) fail(std::string("'") + text + "' is not a positive number");
    return value;
}

void add_files(Settings& settings, const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
        settings.files.push_back(path);
        return;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
        if (entry.is_regular_file() && entry.path().filename().native().front() != '.')
            settings.files.push_back(entry.path());
    if (error) fail(path + ": " + error.message());
}

Settings parse(int count, char** values) {
    Settings s;
    for (int i = 1; i < count; ++i) {
        const std::string_view key = values[i];
        const auto next = [&] {
            return ++i < count ? values[i] : (fail(std::string(key) + " needs a value"), nullptr);
        };
        if (key == "--mode")
            s.mode = next();
        else if (key == "--loops")
            s.loops = number(next());
        else if (key == "--block")
            s.block_bytes = number(next());
        else if (key == "--buffer")
            s.buffer_bytes = number(next());
        else if (key == "--odirect")
            s.odirect = true;
        else if (key.starts_with("--"))
            fail("unknown option " + std::string(key));
        else
            add_files(s, std::string(key));
    }
    if (s.mode != "pread" && s.mode != "open_pread") fail("--mode pread or open_pread is expected");
    if (s.files.empty()) fail("no files given");
    std::sort(s.files.begin(), s.files.end());
    return s;
}

// Hands out places in the buffer in rotation.
class Rotation {
  public:
    Rotation(const Settings& s) {
        const std::uint64_t count = std::max<std::uint64_t>(s.buffer_bytes / s.block_bytes, 1);
        auto made = engine::BufferPool::make(
            {.buffer_bytes = s.block_bytes, .buffer_count = static_cast<std::uint32_t>(count)});
        if (!made) fail(made.error().describe());
        pool_ = std::move(*made);
        places_ = pool_->buffers();
    }
    std::byte* next() {
        if (++at_ == places_.size()) at_ = 0;
        return places_[at_].data();
    }

  private:
    std::unique_ptr<engine::BufferPool> pool_;
    std::vector<std::span<std::byte>> places_;
    std::size_t at_ = 0;
};

int open_file(const Settings& s, const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (s.odirect ? O_DIRECT : 0));
    if (fd < 0) fail(path + ": " + std::strerror(errno));
    return fd;
}

struct Count {
    std::uint64_t bytes = 0, reads = 0;
};

void read_whole(const Settings& s, int fd, std::uint64_t size, const std::string& path, Rotation& rotation,
                Count& count) {
    for (std::uint64_t offset = 0; offset < size;) {
        const std::uint64_t wanted = s.odirect ? s.block_bytes : std::min(s.block_bytes, size - offset);
        const ssize_t got = ::pread(fd, rotation.next(), wanted, static_cast<off_t>(offset));
        if (got <= 0) fail(path + ": " + (got < 0 ? std::strerror(errno) : "shorter than fstat said"));
        offset += static_cast<std::uint64_t>(got);
        count.bytes += static_cast<std::uint64_t>(got);
        ++count.reads;
    }
}

std::uint64_t size_of(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) fail(std::string("fstat: ") + std::strerror(errno));
    return static_cast<std::uint64_t>(status.st_size);
}

} // namespace

int main(int argument_count, char** arguments) {
    const Settings s = parse(argument_count, arguments);
    Rotation rotation(s);
    std::vector<int> fds;
    if (s.mode == "pread")
        for (const auto& path : s.files) fds.push_back(open_file(s, path));
    Count count;
    const std::uint64_t begin_ns = engine::monotonic_ns(), begin_cpu_ns = engine::process_cpu_ns();
    for (std::uint64_t loop = 0; loop < s.loops; ++loop)
        for (std::size_t i = 0; i < s.files.size(); ++i) {
            const bool stays_open = !fds.empty();
            const int fd = stays_open ? fds[i] : open_file(s, s.files[i]);
            read_whole(s, fd, size_of(fd), s.files[i], rotation, count);
            if (!stays_open) ::close(fd);
        }
    const double wall_s = static_cast<double>(engine::monotonic_ns() - begin_ns) / 1e9;
    const double cpu_s = static_cast<double>(engine::process_cpu_ns() - begin_cpu_ns) / 1e9;
    const auto bytes = static_cast<double>(count.bytes);
    std::printf(
        "{\"mode\": \"%s\", \"files\": %zu, \"loops\": %llu, \"block_bytes\": %llu, \"odirect\": %s, \"bytes\": %llu, "
        "\"reads\": %llu, \"wall_s\": %.6f, \"cpu_s\": %.6f, \"rate_MB_per_second\": %.3f, \"cpu_s_per_GB\": %.6f}\n",
        s.mode.c_str(), s.files.size(), static_cast<unsigned long long>(s.loops),
        static_cast<unsigned long long>(s.block_bytes), s.odirect ? "true" : "false",
        static_cast<unsigned long long>(count.bytes), static_cast<unsigned long long>(count.reads), wall_s, cpu_s,
        wall_s > 0 ? bytes / wall_s / 1e6 : 0.0, bytes > 0 ? cpu_s / (bytes / 1e9) : 0.0);
    return 0;
}
