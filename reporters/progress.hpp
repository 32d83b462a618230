// Live progress of datagen and run: one line that renews itself on a terminal, a line every ten seconds in a log.
//
// Thread: that of RunObserver (rank 0's reactor); writes one short line and returns. Owner: the cli. Units: MB (10^6),
// s. Errors: none; what cannot be written is lost. Time comes from Progress::elapsed_s, so there is no clock here.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/types/observer.hpp"

namespace feedbench::reporters {

class ProgressPrinter : public RunObserver {
  public:
    using Write = std::function<void(std::string_view)>;
    // `terminal`: stderr is one. Without `write`, text goes to stderr.
    explicit ProgressPrinter(bool terminal, Write write = {});
    ~ProgressPrinter() override { finish(); }

    void on_progress(const Progress& progress) override;
    void on_epoch(const EpochResult& epoch) override;
    void on_message(std::string_view message) override;
    // Ends the live line, so that what is printed next begins on a line of its own. May be called more than once.
    void finish();

  private:
    void clear_live_line();
    bool terminal_;
    Write write_;
    bool line_is_live_ = false;
    double last_shown_s_ = -1e9;
    std::string last_phase_;
    std::uint32_t last_epoch_ = ~std::uint32_t{0};
};

// One line: "epoch 2/5  [######....]  61 %  343/571 steps  AU 91.2 %  5 321.0 MB/s  3 waiting  1:12 elapsed, 0:45
// left".
std::string progress_line(const Progress& progress);

} // namespace feedbench::reporters
