#include "reporters/console_scaling.hpp"

#include <fmt/format.h>

#include "reporters/console_text.hpp"

namespace feedbench::reporters {

namespace {

// The answer, where the result is that of a search.
std::string answer(const RunResult& r, bool colour) {
    const Metric* most = row(r.metrics, "max_accelerator_count");
    if (most == nullptr) return {};
    const std::string number = most->value ? fmt::format("{:.0f}", *most->value) : "not known (" + most->reason + ")";
    return fmt::format("accelerators that reach {:.2f} % AU, at most: {}\n", 100 * r.au_required,
                       paint(number, Colour::bold, colour));
}

} // namespace

std::string scaling(const RunResult& r, const RenderOptions& options) {
    if (r.scaling.empty() && r.scaling_stop.empty()) return {};
    std::string out = "\n" + answer(r, options.colour);
    constexpr const char* kRow = "  {:>12}{:>9}{:>11}{:>13}{:>9}  {:<7}{:<9}{}";
    const auto line = [&out](std::string text) {
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    };
    if (!r.scaling.empty())
        line(paint(fmt::format(fmt::runtime(kRow), "accelerators", "AU %", "MB/s", "p99 wait", "seconds", "bar", "run",
                               "verdict"),
                   Colour::dim, options.colour));
    for (const ScalingPoint& p : r.scaling)
        line(fmt::format(fmt::runtime(kRow), p.accelerator_count,
                         p.au_percentage ? fmt::format("{:.2f}", *p.au_percentage) : std::string("-"),
                         rate_text(p.MB_per_second), duration_text(p.batch_wait_s_p99),
                         fmt::format("{:.1f}", p.duration_s), p.passed ? "pass" : "MISS",
                         p.confirmed ? "full" : "probe", p.verdict));
    if (!r.scaling_stop.empty()) out += wrap("stopped by: " + r.scaling_stop, options.width, "  ");
    return out;
}

} // namespace feedbench::reporters
