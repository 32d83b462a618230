// `run --closed|--open`: the run is judged as one of a submission, before it measures and after.
//
// Thread: main thread of every rank; look_ahead is collective. Owner: cmd_run. Units: none. Errors: --closed refuses
// before the run what can be known then (exit 2). Source: the rules as data, reporters/submission/rules.cpp.
#pragma once

#include <string>

#include "harness/cli/session.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::cli {

struct SubmissionOption {
    bool closed = false, open = false;
    std::string edition; // empty: as the accelerator says
    bool asked() const { return closed || open; }
};
void add_submission_option(CLI::App& command, SubmissionOption& option);

class SubmissionJudge {
  public:
    SubmissionJudge(Session& session, const Workload& workload, const SubmissionOption& option,
                    std::string results_dir);

    // Before anything is made or read. Without --closed or --open nothing is judged.
    Status look_ahead(std::uint32_t accelerator_count, bool virtual_time);
    // What look_ahead found, for --dry-run; rank 0. Empty where the run is no submission.
    const std::string& text() const { return text_; }
    // After the run, rank 0: the edition, and a finding for each rule that is broken.
    void judge(RunResult& result) const;

  private:
    Status refuse() const;
    Session& session_;
    const Workload& workload_;
    const SubmissionOption& option_;
    std::string results_dir_, edition_, text_;
    std::vector<std::string> lines_; // of the findings, for the refusal
    bool results_on_storage_ = false;
};

} // namespace feedbench::cli
