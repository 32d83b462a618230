#include "harness/cli/measuring_job.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "harness/cli/progress_option.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/random.hpp"
#include "reporters/registry.hpp"
#include "storage/registry.hpp"

namespace feedbench::cli {

namespace {

// Of a folder that need not be there yet: that of the nearest one above it. Nothing where there is no path (other
// storage than a filesystem).
std::optional<dev_t> filesystem_of(const std::string& uri) {
    const auto parsed = storage::parse_uri(uri);
    if (!parsed || parsed->scheme != "file") return std::nullopt;
    std::error_code unreadable;
    struct stat found {};
    for (auto path = std::filesystem::absolute(parsed->root, unreadable);; path = path.parent_path()) {
        if (::stat(path.c_str(), &found) == 0) return found.st_dev;
        if (path == path.parent_path()) return std::nullopt;
    }
}

// Results on the storage under test disturb it, and the rules forbid it: a warning (an error in a submission, later).
void warn_of_shared_filesystem(const Workload& workload, const ResultsFolder& folder, RunResult& result) {
    const auto results = filesystem_of(folder.path().string());
    const auto warn = [&](const char* what, const std::string& place) {
        if (results && filesystem_of(place) == results)
            result.findings.push_back(
                {"results_on_storage_under_test", "warning",
                 fmt::format("results and {} lie on the same filesystem ({}): give another --results-dir", what,
                             place)});
    };
    if (!workload.checkpoint_only()) warn("data", config::data_location(workload));
    if (workload.workflow.checkpoint) warn("checkpoints", config::checkpoint_location(workload));
}

} // namespace

std::uint64_t agreed_run_seed(Session& session, std::uint64_t asked) {
    std::string text;
    if (session.is_first())
        text = std::to_string(
            asked ? asked : mix64(static_cast<std::uint64_t>(unix_time_ns()) ^ (std::uint64_t(getpid()) << 40)));
    return std::stoull(session.communicator().broadcast(text));
}

MeasuringJob::MeasuringJob(Session& session, const Workload& workload, std::string_view kind, std::string results_dir,
                           std::string progress)
    : session_(session), workload_(workload), results_dir_(std::move(results_dir)), progress_(std::move(progress)) {
    head_.feedbench_version = FEEDBENCH_VERSION;
    head_.kind = kind;
    head_.workload = workload.name;
    head_.model = workload.model.name;
    head_.command_line = session.command_line();
    head_.config = workload.values;
    head_.invalid_reasons = {"the run did not end"};
}

Status MeasuringJob::open(workloads::RunRequest& request, const std::string& what) {
    const cluster::Doing doing(session_.communicator().life(), "making the results folder in " + results_dir_);
    return cluster::agree(session_.communicator(), session_.is_first() ? open_folder(request, what) : Status{});
}

Status MeasuringJob::open_folder(workloads::RunRequest& request, const std::string& what) {
    head_.start_time = iso_time_now();
    auto folder = ResultsFolder::create(results_dir_, head_);
    if (!folder) return folder.error();
    folder_ = std::move(*folder);
    request.run_id = folder_->run_id();
    Status status = folder_->write_text("config.yaml", config::effective_yaml(workload_));
    warn_of_shared_filesystem(workload_, *folder_, head_);
    watcher_.emplace(make_progress(progress_), *folder_, head_);
    request.observer = &*watcher_;
    watcher_->on_message(workload_.name + ": " + what);
    for (const ConfigValue& value : workload_.values)
        if (!value.effect.empty() && value.origin != "default")
            watcher_->on_message(fmt::format("{} ({}): {}", value.key, value.origin, value.effect));
    for (const Finding& finding : head_.findings) watcher_->on_message("warning: " + finding.evidence);
    return status;
}

Status MeasuringJob::write_partial(const RunResult& so_far) {
    RunResult result = so_far;
    result.command_line = head_.command_line;
    result.start_time = head_.start_time;
    result.run_id = head_.run_id;
    return folder_->write_partial(result);
}

int MeasuringJob::abandon(const Error& error) {
    const std::string why = error.describe();
    if (watcher_)
        watcher_->finish({.status = error.kind == ErrorKind::interrupted ? "interrupted" : "failed",
                          .valid = false,
                          .message = why});
    watcher_.reset();
    if (folder_) folder_->discard();
    return session_.fail(error);
}

int MeasuringJob::finish(RunResult result, const Judgement& judgement) {
    const cluster::Doing doing(session_.communicator().life(), "writing the results in " + results_dir_);
    const int code = session_.is_first() ? write_and_print(result, judgement) : 0;
    return std::stoi(session_.communicator().broadcast(std::to_string(code)));
}

int MeasuringJob::write_and_print(RunResult& result, const Judgement& judgement) {
    result.command_line = head_.command_line;
    result.start_time = head_.start_time;
    result.end_time = iso_time_now();
    result.run_id = head_.run_id;
    result.results_folder = folder_->final_path().string();
    result.findings.insert(result.findings.begin(), head_.findings.begin(), head_.findings.end());
    watcher_->on_message("run " + result.status);
    const Status written = folder_->finish(result);
    const std::string why = !written                ? written.error().describe()
                            : result.errors.empty() ? std::string()
                                                    : result.errors.front().describe();
    watcher_->finish({result.status, result.valid, result.verdict, result.results_folder, why});
    watcher_.reset();
    fmt::print("{}", reporters::find_reporter("console")->render(result, {session_.on_terminal(STDOUT_FILENO), 100}));
    if (!written) return session_.fail(written.error());
    if (result.status == "interrupted") {
        fmt::print(stderr, "feedbench: interrupted; the partial result is marked so\n");
        return exit_code(ErrorKind::interrupted);
    }
    if (!result.errors.empty()) return session_.fail(result.errors.front());
    if (!result.valid) {
        for (const std::string& reason : result.invalid_reasons)
            fmt::print(stderr, "feedbench: not valid: {}\n", reason);
        if (!judgement.accepts_invalid(result)) return exit_code(ErrorKind::invalid);
    }
    return judgement.judge(result);
}

} // namespace feedbench::cli
