#include "storage/feedfs/tool/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "harness/engine/clock.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

Progress::Progress(std::string verb, Form form) : verb_(std::move(verb)), start_ns_(engine::monotonic_ns()) {
    if (form == Form::quiet) return;
    terminal_ = isatty(STDERR_FILENO) == 1;
    thread_ = std::thread([this] { loop(); });
}

void Progress::finish() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake_.notify_all();
    thread_.join();
    if (terminal_) std::fputs("\r\033[K", stderr);
}

double Progress::elapsed_s() const { return static_cast<double>(engine::monotonic_ns() - start_ns_) / 1e9; }

void Progress::loop() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(terminal_ ? 200 : 10'000), [this] { return over_; }))
        std::fputs(terminal_ ? ("\r\033[K" + line()).c_str() : (line() + "\n").c_str(), stderr);
}

std::string Progress::line() const {
    const double elapsed = elapsed_s();
    const std::uint64_t settled_files = files_ + skipped_, settled_bytes = bytes_ + skipped_bytes_;
    const double rate = elapsed > 0 ? static_cast<double>(bytes_) / elapsed : 0;
    std::string text = fmt::format(
        "{} {} of {}{} files, {} of {}, {:.0f} files/s, {}/s", verb_, count_text(settled_files),
        count_text(found_files_), all_found_ ? "" : "+", size_text(settled_bytes), size_text(found_bytes_),
        elapsed > 0 ? static_cast<double>(files_) / elapsed : 0, size_text(static_cast<std::uint64_t>(rate)));
    // Time to the end by whichever of bytes and files goes on more slowly.
    if (all_found_ && files_ > 0 && found_files_ >= settled_files) {
        const double by_files =
            static_cast<double>(found_files_ - settled_files) * elapsed / static_cast<double>(files_);
        const double by_bytes =
            rate > 0 && found_bytes_ > settled_bytes ? static_cast<double>(found_bytes_ - settled_bytes) / rate : 0;
        text += ", " + duration_text(std::max(by_files, by_bytes)) + " left";
    }
    return text;
}

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
    next_ns_ = engine::monotonic_ns() + (terminal_ ? 200'000'000 : 10'000'000'000);
}

void ProgressLine::show(const std::function<std::string()>& line) {
    const std::uint64_t now = quiet_ ? 0 : engine::monotonic_ns();
    if (now < next_ns_) return;
    next_ns_ = now + (terminal_ ? 200'000'000 : 10'000'000'000);
    std::fputs(terminal_ ? ("\r\033[K" + line()).c_str() : (line() + "\n").c_str(), stderr);
}

void ProgressLine::clear() {
    if (!quiet_ && terminal_) std::fputs("\r\033[K", stderr);
}

} // namespace feedbench::feedfs::tool
