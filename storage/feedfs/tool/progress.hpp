// How far a copy has come, while it goes on: a line that renews itself on a terminal, a line every ten seconds in a
// log.
//
// Thread: Progress: advance() and finished_file() from any, the line is written by a thread of its own; ProgressLine:
// one. Owner: the command. Units: bytes; shown in MiB and MiB/s. Errors: none; what cannot be written is lost.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace feedbench::feedfs::tool {

struct Amount {
    std::uint64_t files = 0, bytes = 0;
};

class Progress {
  public:
    enum class Form { automatic, quiet }; // automatic: by what stderr is
    Progress(std::string verb, Form form);
    ~Progress() { finish(); }

    void advance(std::uint64_t bytes) { bytes_ += bytes; }
    void finished_file() { ++files_; }
    void skipped_file(std::uint64_t bytes) { ++skipped_, skipped_bytes_ += bytes; }
    // What was found to do so far; `all`: nothing more will be found, so a time to the end can be told.
    void found(std::uint64_t bytes) { ++found_files_, found_bytes_ += bytes; }
    void found_all() { all_found_ = true; }
    void finish(); // the last line is gone from a terminal; further calls do nothing

    Amount done() const { return {files_, bytes_}; }
    Amount skipped() const { return {skipped_, skipped_bytes_}; }
    double elapsed_s() const;

  private:
    void loop();
    std::string line() const;

    std::string verb_;
    bool terminal_ = false;
    std::uint64_t start_ns_;
    std::atomic<std::uint64_t> files_{0}, bytes_{0}, skipped_{0}, skipped_bytes_{0}, found_files_{0}, found_bytes_{0};
    std::atomic<bool> all_found_{false};
    std::mutex mutex_;
    std::condition_variable wake_;
    bool over_ = false;
    std::thread thread_;
};

// For commands of one thread: renews a line on a terminal five times a second, writes one into a log every ten seconds.
class ProgressLine {
  public:
    explicit ProgressLine(bool quiet);
    void show(const std::function<std::string()>& line);
    void clear();

  private:
    const bool quiet_;
    bool terminal_ = false;
    std::uint64_t next_ns_ = 0;
};

} // namespace feedbench::feedfs::tool
