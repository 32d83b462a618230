#include "harness/cli/run_observer.hpp"

#include "harness/cli/session.hpp"

namespace feedbench::cli {

namespace {
constexpr double kLogEveryS = 10;
}

RunWatcher::RunWatcher(std::unique_ptr<reporters::ProgressView> view, const ResultsFolder& folder, RunResult so_far)
    : view_(std::move(view)), folder_(folder), so_far_(std::move(so_far)), log_(folder.path() / "log.txt") {}

void RunWatcher::on_progress(const Progress& progress) {
    view_->on_progress(progress);
    if (progress.elapsed_s - last_logged_s_ < kLogEveryS) return;
    last_logged_s_ = progress.elapsed_s;
    log(reporters::progress_line(progress));
}

void RunWatcher::on_epoch(const EpochResult& epoch) {
    view_->on_epoch(epoch);
    so_far_.epochs.push_back(epoch);
    (void)folder_.write_partial(so_far_).has_value();
    log((epoch.evaluation ? "evaluation after epoch " : "epoch ") + std::to_string(epoch.index + 1) +
        " ended: " + std::to_string(epoch.step_count) + " steps, " + std::to_string(epoch.bytes_delivered) + " bytes" +
        (epoch.samples_proved ? ", every sample once" : ", samples NOT as planned"));
}

void RunWatcher::on_message(std::string_view message) {
    view_->on_message(message);
    log(message);
}

void RunWatcher::log(std::string_view line) {
    log_ << iso_time_now() << ' ' << line << '\n';
    log_.flush();
}

} // namespace feedbench::cli
