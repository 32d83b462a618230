#include "reporters/result_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "reporters/console_text.hpp"

namespace feedbench::reporters {

namespace {

struct Words {
    std::string_view code, words;
};

constexpr std::array kReasons{
    Words{"metric_window_empty", "an epoch needs at least two steps: the first does not count"},
    Words{"no_step_without_a_checkpoint", "a checkpoint was being written in every step"},
    Words{"no_step_beside_a_checkpoint", "a checkpoint was being written in no step"},
    Words{"no_steps", "nothing was trained"},
    Words{"accelerator_without_window", "some accelerators have no figure: the run was cut short"},
    Words{"no_bytes_delivered", "nothing was read"},
    Words{"no_time_passed", "the window has no length"},
    Words{"no_complete_slice_in_window", "no whole second lies inside a measured block"},
    Words{"only_one_epoch", "there was one epoch only"},
    Words{"source_not_counted", "no host can count what came from below the filesystem"},
    Words{"not_counted", "nothing recorded it"},
    Words{"ceiling_not_measured", "the client's ceiling was not measured"},
    Words{"think_time_is_zero", "the accelerators do not think: no rate would satisfy them"},
    Words{"think_time_varies", "the think time varies"},
    Words{"too_few_slices", "too few seconds to say so"},
    Words{"sizes_as_found", "the files are another tool's: their sizes are as found"},
    Words{"compressed", "the samples are compressed"},
    Words{"not_the_whole_set", "not the whole dataset was read"},
};

struct VerdictWords {
    std::string_view verdict, meaning, tone;
};
constexpr std::array kVerdicts{
    VerdictWords{"accelerator-bound", "the accelerators were kept busy; the storage has headroom at this load", "good"},
    VerdictWords{"storage-bound", "the storage was the limit: this is what it can do at this load", "plain"},
    VerdictWords{"client-bound", "the client was the limit, not the storage", "warn"},
    VerdictWords{"inconclusive", "what the limit was cannot be said", "warn"},
    VerdictWords{"cached", "the bytes came from a cache on the client: not a figure of the storage", "bad"},
    VerdictWords{"implausible", "numbers of this run contradict each other: not a figure of the storage", "bad"},
};

const VerdictWords* find_verdict(std::string_view verdict) {
    for (const VerdictWords& one : kVerdicts)
        if (one.verdict == verdict) return &one;
    return nullptr;
}

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += (out.empty() ? "" : "; ") + text;
    return out;
}

} // namespace

std::string reason_words(std::string_view reason) {
    for (const Words& one : kReasons)
        if (one.code == reason) return std::string(one.words);
    return std::string(reason.empty() ? "no reason was given" : reason);
}

std::string verdict_meaning(std::string_view verdict) {
    const VerdictWords* found = find_verdict(verdict);
    return found != nullptr ? std::string(found->meaning) : std::string();
}
std::string verdict_tone(std::string_view verdict) {
    const VerdictWords* found = find_verdict(verdict);
    return found != nullptr ? std::string(found->tone) : "plain";
}

std::string verdict_or_status(const RunResult& r) {
    if (!r.verdict.empty()) return r.verdict;
    return r.status == "complete" ? "not judged" : r.status;
}

const Finding* deciding_finding(const RunResult& r) {
    for (const Finding& finding : r.findings)
        if (!r.verdict.empty() && finding.verdict == r.verdict) return &finding;
    return nullptr;
}

std::string validity_words(const RunResult& r) {
    if (r.valid) return r.virtual_time ? "Valid, as a simulation in virtual time." : "Valid.";
    return "Not valid: " + (r.invalid_reasons.empty() ? "no reason was recorded" : joined(r.invalid_reasons)) + ".";
}

std::string grouped(double value, int decimals) {
    if (!std::isfinite(value)) return "-";
    // A little is not nothing.
    if (decimals < 0 && value != 0 && std::abs(value) < 0.01) return fmt::format("{:.2g}", value);
    std::string text = decimals < 0 ? rate_text(value) : fmt::format("{:.{}f}", value, decimals);
    std::size_t end = std::min(text.find('.'), text.size());
    const std::size_t begin = text.starts_with('-') ? 1 : 0;
    while (end > begin + 3) text.insert(end -= 3, ",");
    return text;
}

std::string bytes_text(double bytes) {
    constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    while (bytes >= 999.95 && unit + 1 < kUnits.size()) bytes /= 1000, ++unit;
    return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}
std::string memory_text(double bytes) {
    constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1023.95 && unit + 1 < kUnits.size()) bytes /= 1024, ++unit;
    return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}
std::string count_text(std::uint64_t count, std::string_view word) {
    return fmt::format("{} {}{}", grouped(static_cast<double>(count), 0), word, count == 1 ? "" : "s");
}

std::string run_title(const RunResult& r) {
    const bool ranks = r.kind == "checkpoint"; // what writes and reads is a rank there
    const std::string accelerators = ranks || r.accelerator_model.empty()
                                         ? count_text(r.accelerator_count, ranks ? "rank" : "accelerator")
                                         : fmt::format("{} × {}", r.accelerator_count, r.accelerator_model);
    const std::string name = r.workload.empty() ? r.model : r.workload;
    if (r.accelerator_count == 0) return name;
    return fmt::format("{}: {} on {}", name, accelerators,
                       count_text(std::max<std::size_t>(1, r.hosts.size()), "host"));
}

std::string page_duration(double s) {
    std::string text = duration_text(s);
    if (const std::size_t at = text.find(" us"); at != std::string::npos) text.replace(at, 3, " µs");
    return text;
}

std::string data_location(const RunResult& r) {
    // An URI names its backend itself; that of a wrapper is "fault:posix".
    const std::string scheme = r.backend.substr(0, r.backend.find(':')) + ":";
    return r.data_folder.starts_with(scheme) ? r.data_folder : r.backend + " " + r.data_folder;
}

std::string minute(std::string_view iso_time) {
    std::string text(iso_time.substr(0, 16));
    if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
    return text;
}

html::Cell number_cell(double value, int decimals) {
    if (!std::isfinite(value)) return {.text = "-"};
    return {.text = grouped(value, decimals), .value = value};
}
html::Cell count_cell(std::uint64_t value) { return number_cell(static_cast<double>(value), 0); }
html::Cell duration_cell(double s) {
    if (!std::isfinite(s)) return {.text = "-"};
    return {.text = page_duration(s), .value = s};
}
html::Cell metric_cell(const Metric* metric, int decimals, double factor) {
    if (metric == nullptr) return {.text = "-"};
    if (!metric->value) return {.text = "", .reason = reason_words(metric->reason)};
    return number_cell(*metric->value * factor, decimals);
}
html::Cell duration_cell(const Metric* metric) {
    if (metric == nullptr || !metric->value) return metric_cell(metric);
    return duration_cell(*metric->value);
}

} // namespace feedbench::reporters
