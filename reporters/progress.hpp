// Live progress of a run under way, in the form that suits who looks: a panel or a line that renews itself on a
// terminal, a line every ten seconds in a log, JSON for a machine.
//
// Thread: that of RunObserver (rank 0's reactor); writes a few short lines and returns. Owner: the cli. Units: MB
// (10^6), s. Errors: none; what cannot be written is lost. Source: docs/progress.md. Terminal and clock come from
// outside (ProgressOutput), so that tests have their own. To add a form: a function and a line in the table of
// progress.cpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "harness/types/observer.hpp"

namespace feedbench::reporters {

struct TerminalSize {
    unsigned columns = 80, rows = 24;
};

void write_to_stderr(std::string_view text);

// Where progress goes. What is left out: stderr, 80 x 24, and the run's own time (in which virtual time leaps).
struct ProgressOutput {
    std::function<void(std::string_view)> write = write_to_stderr;
    std::function<TerminalSize()> size; // asked at each drawing, so that a resize counts from the next one on
    std::function<double()> now_s;      // of the clock of whoever looks
    bool unicode = false;               // the terminal shows block elements
};

// How it ended. `message`: the error, in words; empty: none.
struct ProgressEnd {
    std::string_view status = "complete"; // complete | interrupted | failed
    bool valid = true;
    std::string_view verdict = {}, results_folder = {}, message = {};
};

class ProgressView : public RunObserver {
  public:
    // What is printed next begins on a line of its own. The second call and later ones do nothing.
    virtual void finish(const ProgressEnd&) {}
};

struct ProgressForm {
    std::string_view name, help;
    std::unique_ptr<ProgressView> (*make)(ProgressOutput output);
};
std::span<const ProgressForm> progress_forms();
const ProgressForm* find_progress_form(std::string_view name); // nullptr: unknown

std::unique_ptr<ProgressView> make_progress_panel(ProgressOutput output);
std::unique_ptr<ProgressView> make_progress_line(ProgressOutput output);
std::unique_ptr<ProgressView> make_progress_log(ProgressOutput output);
std::unique_ptr<ProgressView> make_progress_json(ProgressOutput output);

// One line: "epoch 2/5  [######....]  61 %  343/571 steps  AU 91.2 %  5 321.0 MB/s  3 waiting  1:12 elapsed, 0:45
// left". Where it is longer than `columns`, what matters least is left out.
std::string progress_line(const Progress& progress, unsigned columns = ~0u);
// "epoch 2: AU 91.20 %, 5321.0 MB/s, ...": an epoch that has ended, for people.
std::string epoch_line(const EpochResult& epoch);

// Shared by the forms: decides when something is shown again.
class ShowInterval {
  public:
    // A new phase or epoch and the end of one are shown at once where `phases` says so.
    ShowInterval(double interval_s, bool phases) : interval_s_(interval_s), phases_(phases) {}
    bool due(const Progress& progress, double now_s);

  private:
    double interval_s_;
    bool phases_;
    double last_s_ = -1e9;
    std::string phase_;
    std::uint32_t epoch_ = ~std::uint32_t{0};
};

} // namespace feedbench::reporters
