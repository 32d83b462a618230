#include "harness/cli/results_folder.hpp"

#include <cerrno>
#include <fstream>
#include <sys/statvfs.h>

#include "harness/cli/session.hpp"
#include "harness/types/units.hpp"
#include "reporters/registry.hpp"

namespace feedbench::cli {

namespace fs = std::filesystem;

namespace {
// Reports of a run are small, but for steps.h5; with less than this a run would be lost at its end.
constexpr std::uint64_t kRoomBytes = 16 * kMiB;

Error results_error(const fs::path& path, int errno_value, const std::string& message) {
    Error error = storage_error("create", path.string(), errno_value, message);
    error.kind = ErrorKind::usage;
    return error;
}
} // namespace

Expected<ResultsFolder> ResultsFolder::create(const std::string& root, RunResult& result) {
    ResultsFolder folder;
    if (auto made = folder.make(root, result); !made) {
        folder.discard();
        return made.error();
    }
    return folder;
}

Status ResultsFolder::make(const std::string& root, RunResult& result) {
    const fs::path parent = fs::absolute(fs::path(root) / result.kind / result.model / "run");
    std::error_code code;
    for (fs::path one = parent; !one.empty() && !fs::exists(one, code); one = one.parent_path()) made_.push_back(one);
    fs::create_directories(parent, code);
    if (code) return results_error(parent, code.value(), "the results folder must be writable (--results-dir)");
    struct statvfs space {};
    if (::statvfs(parent.c_str(), &space) == 0 && space.f_blocks > 0 &&
        std::uint64_t{space.f_bavail} * space.f_frsize < kRoomBytes)
        return results_error(parent, ENOSPC,
                             "the results filesystem is full: at least 16 MiB are needed (--results-dir)");
    for (int attempt = 0;; ++attempt) {
        run_id_ = run_stamp_now();
        final_path_ = parent / run_id_;
        const fs::path partial = parent / (run_id_ + ".partial");
        if (!fs::exists(final_path_) && fs::create_directory(partial, code)) {
            path_ = partial;
            break;
        }
        if (code && code != std::errc::file_exists)
            return results_error(partial, code.value(), "the results folder must be writable (--results-dir)");
        if (attempt > 50) return results_error(partial, EEXIST, "every name tried is taken");
        while (run_stamp_now() == run_id_) // another run took the name of this second
            engine::nap_ns(20 * kNsPerMs);
    }
    result.run_id = run_id_;
    if (auto written = write_partial(result); !written)
        return results_error(path_, written.error().errno_value, written.error().message);
    return {};
}

Status ResultsFolder::write_partial(const RunResult& result) const {
    return reporters::write_report(*reporters::find_reporter("json"), result, path_);
}

Status ResultsFolder::write_text(const std::string& name, const std::string& text) const {
    std::ofstream out(path_ / name, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return storage_error("write", (path_ / name).string(), errno);
    return {};
}

Status ResultsFolder::finish(const RunResult& result) {
    if (auto written = reporters::write_all_reports(result, path_); !written) return written;
    std::error_code code;
    fs::rename(path_, final_path_, code);
    if (code) return storage_error("rename", path_.string(), code.value());
    path_ = final_path_;
    return {};
}

void ResultsFolder::discard() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
    for (const fs::path& folder : made_) fs::remove(folder, ignored); // deepest first; stays where others use it
}

} // namespace feedbench::cli
