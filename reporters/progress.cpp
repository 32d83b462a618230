#include "reporters/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "reporters/console_text.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::reporters {
namespace {

constexpr double kTerminalInterval_s = 0.2, kLogInterval_s = 10;

std::string amount(std::uint64_t value, std::string_view unit) {
    if (unit != "bytes") return std::to_string(value);
    return fmt::format("{:.2f}", to_MB(static_cast<double>(value)) / 1e3);
}

} // namespace

std::string progress_line(const Progress& p) {
    const double share = p.total > 0 ? std::min(1.0, static_cast<double>(p.done) / static_cast<double>(p.total)) : 0;
    std::string line(p.phase);
    if (p.epoch_count > 0) line += fmt::format(" {}/{}", p.epoch_index + 1, p.epoch_count);
    if (p.total > 0) {
        const auto filled = static_cast<std::size_t>(share * 20);
        line += fmt::format("  [{}{}] {:3.0f} %", std::string(filled, '#'), std::string(20 - filled, '.'), 100 * share);
        line += fmt::format("  {}/{} {}", amount(p.done, p.unit), amount(p.total, p.unit),
                            p.unit == "bytes" ? "GB" : p.unit);
    } else if (p.done > 0) {
        line += fmt::format("  {} {}", amount(p.done, p.unit), p.unit == "bytes" ? "GB" : p.unit);
    }
    if (p.au_so_far_percentage >= 0) line += fmt::format("  AU {:.1f} %", p.au_so_far_percentage);
    if (p.MB_per_second_now > 0) line += fmt::format("  {} MB/s", rate_text(p.MB_per_second_now));
    if (p.stalled_accelerators > 0) line += fmt::format("  {} waiting", p.stalled_accelerators);
    line += "  " + clock_text(p.elapsed_s) + " elapsed";
    if (p.eta_s >= 0) line += ", " + clock_text(p.eta_s) + " left";
    return line;
}

ProgressPrinter::ProgressPrinter(bool terminal, Write write) : terminal_(terminal), write_(std::move(write)) {
    if (!write_) write_ = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
}

void ProgressPrinter::on_progress(const Progress& p) {
    const bool new_phase = p.phase != last_phase_ || p.epoch_index != last_epoch_;
    const bool finished = p.total > 0 && p.done >= p.total;
    const double interval_s = terminal_ ? kTerminalInterval_s : kLogInterval_s;
    // Time that went back is another run's: show it.
    const bool due = p.elapsed_s - last_shown_s_ >= interval_s || p.elapsed_s < last_shown_s_;
    if (!due && !(terminal_ && (new_phase || finished)) && !(new_phase && last_phase_ != p.phase)) return;
    last_phase_ = p.phase;
    last_epoch_ = p.epoch_index;
    last_shown_s_ = p.elapsed_s;
    if (terminal_) {
        write_("\r" + progress_line(p) + "\033[K");
        line_is_live_ = true;
    } else {
        write_(progress_line(p) + "\n");
    }
}

void ProgressPrinter::on_epoch(const EpochResult& epoch) {
    const auto value = [&](std::string_view key, int decimals) {
        return value_text(row(epoch.metrics, key), decimals);
    };
    clear_live_line();
    write_(fmt::format("{} {}: AU {}, {}, {}, {} steps in {}\n", epoch.evaluation ? "evaluation" : "epoch",
                       epoch.index + 1, value("au_percentage", 2), value("delivered_MB_per_second", -1),
                       value("samples_per_second", -1), epoch.step_count, duration_text(epoch.end_s - epoch.start_s)));
}

void ProgressPrinter::on_message(std::string_view message) {
    clear_live_line();
    write_(std::string(message) + "\n");
}

void ProgressPrinter::finish() {
    if (line_is_live_) write_("\n");
    line_is_live_ = false;
}

void ProgressPrinter::clear_live_line() {
    if (line_is_live_) write_("\r\033[K");
    line_is_live_ = false;
}

} // namespace feedbench::reporters
