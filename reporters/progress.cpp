#include "reporters/progress.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "reporters/console_text.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::reporters {
namespace {

std::unique_ptr<ProgressView> make_nothing(ProgressOutput) { return std::make_unique<ProgressView>(); }

constexpr std::array kForms{
    ProgressForm{"panel", "several lines that renew themselves on a terminal", make_progress_panel},
    ProgressForm{"line", "one line that renews itself", make_progress_line},
    ProgressForm{"log", "a line every 10 s", make_progress_log},
    ProgressForm{"json", "one JSON object a line, every second", make_progress_json},
    ProgressForm{"off", "nothing", make_nothing},
};

std::string amount(std::uint64_t value, std::string_view unit) {
    if (unit != "bytes") return std::to_string(value);
    return fmt::format("{:.2f}", to_MB(static_cast<double>(value)) / 1e3);
}

std::string_view unit_text(const Progress& p) { return p.unit == "bytes" ? "GB" : p.unit; }

double share_of(const Progress& p) {
    return p.total > 0 ? std::min(1.0, static_cast<double>(p.done) / static_cast<double>(p.total)) : 0;
}

// How much of a line is left out where it is too long for the terminal.
enum class Detail { everything, no_elapsed, no_bar, figures, place };

std::string line_text(const Progress& p, Detail detail) {
    std::string line(p.phase);
    if (p.epoch_count > 0) line += fmt::format(" {}/{}", p.epoch_index + 1, p.epoch_count);
    if (p.total > 0) {
        if (detail <= Detail::no_elapsed) {
            const auto filled = static_cast<std::size_t>(share_of(p) * 20);
            line += fmt::format("  [{}{}]", std::string(filled, '#'), std::string(20 - filled, '.'));
        }
        line += fmt::format(" {:3.0f} %", 100 * share_of(p));
        if (detail <= Detail::no_bar)
            line += fmt::format("  {}/{} {}", amount(p.done, p.unit), amount(p.total, p.unit), unit_text(p));
    } else if (p.done > 0) {
        line += fmt::format("  {} {}", amount(p.done, p.unit), unit_text(p));
    }
    if (detail <= Detail::figures) {
        if (p.au_so_far_percentage >= 0) line += fmt::format("  AU {:.1f} %", p.au_so_far_percentage);
        if (p.MB_per_second_now > 0) line += fmt::format("  {} MB/s", rate_text(p.MB_per_second_now));
    }
    if (detail <= Detail::no_bar && p.stalled_accelerators > 0)
        line += fmt::format("  {} waiting", p.stalled_accelerators);
    const std::string elapsed = clock_text(p.elapsed_s) + " elapsed";
    if (p.eta_s < 0) return line + "  " + elapsed;
    return line + "  " + (detail == Detail::everything ? elapsed + ", " : "") + clock_text(p.eta_s) + " left";
}

} // namespace

void write_to_stderr(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

std::span<const ProgressForm> progress_forms() { return kForms; }

const ProgressForm* find_progress_form(std::string_view name) {
    for (const ProgressForm& form : kForms)
        if (form.name == name) return &form;
    return nullptr;
}

std::string progress_line(const Progress& p, unsigned columns) {
    std::string line;
    for (const Detail detail :
         {Detail::everything, Detail::no_elapsed, Detail::no_bar, Detail::figures, Detail::place}) {
        line = line_text(p, detail);
        if (line.size() <= columns) return line;
    }
    return line.substr(0, columns);
}

std::string epoch_line(const EpochResult& epoch) {
    const auto value = [&](std::string_view key, int decimals) {
        return value_text(row(epoch.metrics, key), decimals);
    };
    return fmt::format("{} {}: AU {}, {}, {}, {} steps in {}", epoch.evaluation ? "evaluation" : "epoch",
                       epoch.index + 1, value("au_percentage", 2), value("delivered_MB_per_second", -1),
                       value("samples_per_second", -1), epoch.step_count, duration_text(epoch.end_s - epoch.start_s));
}

bool ShowInterval::due(const Progress& p, double now_s) {
    const bool new_phase = p.phase != phase_, new_epoch = p.epoch_index != epoch_;
    const bool finished = p.total > 0 && p.done >= p.total;
    // Time that went back is another run's: show it.
    const bool due = now_s - last_s_ >= interval_s_ || now_s < last_s_;
    if (!due && !new_phase && !(phases_ && (new_epoch || finished))) return false;
    phase_ = p.phase;
    epoch_ = p.epoch_index;
    last_s_ = now_s;
    return true;
}

} // namespace feedbench::reporters
