// What the cli does with a run under way: shows progress, writes log.txt, keeps the partial result up to date.
//
// Thread: rank 0's reactor thread; small writes between epochs only. Owner: cmd_run. Units: none. Errors: a log that
// cannot be written is not worth a run.
#pragma once

#include <fstream>
#include <memory>

#include "harness/cli/results_folder.hpp"
#include "harness/types/observer.hpp"
#include "reporters/progress.hpp"

namespace feedbench::cli {

class RunWatcher final : public RunObserver {
  public:
    RunWatcher(std::unique_ptr<reporters::ProgressView> view, const ResultsFolder& folder, RunResult so_far);
    void on_progress(const Progress& progress) override;
    void on_slice(const Slice& slice) override { view_->on_slice(slice); }
    void on_epoch(const EpochResult& epoch) override;
    void on_message(std::string_view message) override;
    // Nothing is shown any more after it.
    void finish(const reporters::ProgressEnd& end) { view_->finish(end); }

  private:
    void log(std::string_view line);
    std::unique_ptr<reporters::ProgressView> view_;
    const ResultsFolder& folder_;
    RunResult so_far_;
    std::ofstream log_;
    double last_logged_s_ = -1e9;
};

} // namespace feedbench::cli
