// What every command that measures does around its run: results folder, progress, log, the end of it for people.
//
// Thread: main thread of every rank; open, abandon and finish are collective. Owner: the command. Units: none.
// Errors: those of the results folder, said before the run starts (case F5), the same on every rank.
// Source: DESIGN section 9.
#pragma once

#include <functional>
#include <optional>

#include "harness/cli/results_folder.hpp"
#include "harness/cli/run_observer.hpp"
#include "harness/cli/session.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::cli {

// The seed of a run must differ from run to run; the same on every rank. `asked` 0: drawn.
std::uint64_t agreed_run_seed(Session& session, std::uint64_t asked);

class MeasuringJob {
  public:
    // `progress`: a form of live progress, or auto.
    MeasuringJob(Session& session, const Workload& workload, std::string_view kind, std::string results_dir,
                 std::string progress);

    // Makes the folder with config.yaml in it; the request gets its run_id and, on rank 0, its observer. `what`: said
    // first, after the workload's name.
    Status open(workloads::RunRequest& request, const std::string& what);
    // Rank 0, between open and the end.
    const std::filesystem::path& folder() const { return folder_->path(); }
    Status write_partial(const RunResult& so_far);

    // Nothing could be measured: no result is left behind.
    int abandon(const Error& error);
    // Writes and prints the result, and gives the exit code: that of an interruption, an error or an invalid result
    // (unless it `accepts_invalid`), else what `judge` says. Both are asked on rank 0 only.
    struct Judgement {
        std::function<int(const RunResult&)> judge;
        std::function<bool(const RunResult&)> accepts_invalid;
    };
    int finish(RunResult result, const Judgement& judgement);

  private:
    Status open_folder(workloads::RunRequest& request, const std::string& what);
    int write_and_print(RunResult& result, const Judgement& judgement);

    Session& session_;
    const Workload& workload_;
    std::string results_dir_, progress_;
    RunResult head_; // what is known before the run
    std::optional<ResultsFolder> folder_;
    std::optional<RunWatcher> watcher_;
};

} // namespace feedbench::cli
