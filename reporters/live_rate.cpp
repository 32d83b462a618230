#include "reporters/live_rate.hpp"

#include <algorithm>
#include <array>

#include "harness/types/units.hpp"

namespace feedbench::reporters {

void LiveRate::add(double MB_per_second) {
    if (std::exchange(first_is_partial_, false)) return;
    recent_.push_back(MB_per_second);
    if (recent_.size() > kMostRecent) recent_.pop_front();
    lowest_ = count_ == 0 ? MB_per_second : std::min(lowest_, MB_per_second);
    sum_ += MB_per_second;
    ++count_;
}

void LiveRate::on_slice(const Slice& slice) {
    if (!std::exchange(slices_come_, true) && !counts_bytes_) restart(); // what was sampled so far was a stopgap
    in_flight_reads_ = slice.in_flight_reads;
    // Virtual time knows no CPU; a run that really uses none does not exist.
    if (slice.process_cpu_ns > 0) cpu_cores_ = seconds(slice.process_cpu_ns);
    if (!counts_bytes_) add(to_MB(static_cast<double>(slice.bytes)));
}

void LiveRate::on_progress(const Progress& progress) {
    if (progress.phase != phase_ || progress.epoch_index != epoch_index_) {
        phase_ = progress.phase;
        epoch_index_ = progress.epoch_index;
        restart();
    }
    counts_bytes_ = progress.unit == "bytes";
    if ((slices_come_ && !counts_bytes_) || progress.elapsed_s - sampled_s_ < 1) return;
    if (progress.MB_per_second_now <= 0 && recent_.empty()) return; // nothing of the kind is measured
    sampled_s_ = progress.elapsed_s;
    add(progress.MB_per_second_now);
}

void LiveRate::restart() {
    recent_.clear();
    sum_ = lowest_ = 0;
    count_ = 0;
    first_is_partial_ = true;
    sampled_s_ = -1e9;
}

std::optional<double> LiveRate::mean_MB_per_second() const {
    return count_ > 0 ? std::optional(sum_ / static_cast<double>(count_)) : std::nullopt;
}

std::optional<double> LiveRate::min_MB_per_second() const { return count_ > 0 ? std::optional(lowest_) : std::nullopt; }

std::string sparkline(const std::deque<double>& values, std::size_t columns, bool unicode) {
    static constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static constexpr std::array<std::string_view, 8> kLetters{"_", ".", ":", "-", "=", "+", "*", "#"};
    const std::size_t shown = std::min(columns, values.size());
    const auto from = values.end() - static_cast<std::ptrdiff_t>(shown);
    const double highest = shown > 0 ? *std::max_element(from, values.end()) : 0;
    std::string text;
    for (auto it = from; it != values.end(); ++it) {
        const double share = highest > 0 ? std::clamp(*it / highest, 0.0, 1.0) : 0;
        const auto level = std::min<std::size_t>(7, static_cast<std::size_t>(share * 8));
        text += unicode ? kBlocks[level] : kLetters[level];
    }
    return text;
}

} // namespace feedbench::reporters
