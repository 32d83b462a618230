// What the cli does with a run under way: shows progress, writes log.txt, keeps the partial result up to date.
//
// Thread: rank 0's reactor thread; small writes between epochs only. Owner: cmd_run. Units: none. Errors: a log that
// cannot be written is not worth a run.
#pragma once

#include <fstream>

#include "harness/cli/results_folder.hpp"
#include "harness/types/observer.hpp"
#include "reporters/progress.hpp"

namespace feedbench::cli {

class RunWatcher final : public RunObserver {
  public:
    RunWatcher(bool terminal, const ResultsFolder& folder, RunResult so_far);
    void on_progress(const Progress& progress) override;
    void on_epoch(const EpochResult& epoch) override;
    void on_message(std::string_view message) override;
    void finish() { printer_.finish(); }

  private:
    void log(std::string_view line);
    reporters::ProgressPrinter printer_;
    const ResultsFolder& folder_;
    RunResult so_far_;
    std::ofstream log_;
    double last_logged_s_ = -1e9;
};

} // namespace feedbench::cli
