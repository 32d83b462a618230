// Live progress for a log: a line every ten seconds and at each new phase, a line an epoch.
#include "reporters/progress.hpp"

namespace feedbench::reporters {
namespace {

class ProgressLog final : public ProgressView {
  public:
    explicit ProgressLog(ProgressOutput output) : output_(std::move(output)) {}
    void on_progress(const Progress& p) override {
        if (interval_.due(p, output_.now_s ? output_.now_s() : p.elapsed_s)) say(progress_line(p));
    }
    void on_epoch(const EpochResult& epoch) override { say(epoch_line(epoch)); }
    void on_message(std::string_view message) override { say(std::string(message)); }

  private:
    void say(const std::string& line) const { output_.write(line + "\n"); }
    ProgressOutput output_;
    ShowInterval interval_{10, false};
};

} // namespace

std::unique_ptr<ProgressView> make_progress_log(ProgressOutput output) {
    return std::make_unique<ProgressLog>(std::move(output));
}

} // namespace feedbench::reporters
