#include "reporters/registry.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include "reporters/by_name.hpp"

namespace feedbench::reporters {
namespace {

constexpr std::array kReporters{
    Reporter{"console", "", "a summary that one can read at a glance", render_console},
    Reporter{"json", "result.json", "everything that was measured; JSON Schema in reporters/schema", render_json},
    Reporter{"csv", "result.csv", "one row an epoch and one for the run", render_csv},
    Reporter{"html", "report.html", "one page that needs nothing else: open it in a browser", render_html},
    Reporter{"mlperf_summary", "summary.json", "the keys of the MLPerf Storage summary", render_mlperf_summary},
    Reporter{"mlperf_epochs", "per_epoch_stats.json", "times of epochs, blocks and checkpoints, MLPerf-compatible",
             render_mlperf_epochs},
};

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

// Removes the temporary file unless it was renamed away.
struct Temporary {
    std::string path;
    bool renamed = false;
    ~Temporary() {
        if (!renamed) std::remove(path.c_str());
    }
};

} // namespace

std::span<const Reporter> reporters() { return kReporters; }

const Reporter* find_reporter(std::string_view name) { return find_by_name(kReporters, name); }

Status write_report(const Reporter& reporter, const RunResult& result, const std::filesystem::path& folder) {
    const std::string path = (folder / reporter.file_name).string(), text = reporter.render(result, {});
    std::unique_ptr<std::FILE, CloseFile> file(std::fopen((path + ".tmp").c_str(), "wb"));
    if (!file) return storage_error("create", path + ".tmp", errno);
    Temporary temporary{path + ".tmp"};
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
        return storage_error("write", temporary.path, errno);
    if (fsync(fileno(file.get())) != 0) return storage_error("fsync", temporary.path, errno);
    if (std::fclose(file.release()) != 0) return storage_error("close", temporary.path, errno);
    if (std::rename(temporary.path.c_str(), path.c_str()) != 0) return storage_error("rename", path, errno);
    temporary.renamed = true;
    return {};
}

Status write_all_reports(const RunResult& result, const std::filesystem::path& folder) {
    for (const Reporter& reporter : kReporters) {
        if (reporter.file_name.empty()) continue;
        if (Status status = write_report(reporter, result, folder); !status) return status;
    }
    return {};
}

} // namespace feedbench::reporters
