#include "workloads/max_search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace feedbench::workloads {

namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

MaxSearch::MaxSearch(const SearchOptions& options) : options_(options) {
    assert(options_.unit > 0 && options_.limit >= options_.unit);
    if (options_.start > 0) guess_ = std::clamp(down_to_unit(options_.start), options_.unit, options_.limit);
    next_ = guess_ > 0 ? probe(guess_) : Trial{TrialKind::scout, options_.unit, 1};
}

void MaxSearch::give(const TrialOutcome& outcome) {
    const double au = outcome.au_percentage.value_or(0);
    switch (next_.kind) {
    case TrialKind::done:
        return;
    case TrialKind::scout:
        // Full storage: what it gave is a good guess. Storage that was not full: at least so many.
        guess_ = std::clamp(down_to_unit(outcome.fed_accelerators / (options_.bar_percentage / 100)), options_.unit,
                            options_.limit);
        if (!outcome.fed_by_demand) stride_ = std::max(down_to_unit(guess_ / 8.0), options_.unit);
        next_ = probe(guess_);
        return;
    case TrialKind::probe:
        points_[next_.accelerator_count].au.push_back(au);
        ++probe_count_;
        break;
    case TrialKind::confirm:
        points_[next_.accelerator_count].confirmed_au = au;
        ++confirmation_count_;
        break;
    }
    next_ = decide();
}

Trial MaxSearch::decide() {
    for (const auto& [count, point] : points_)
        if (!verdict(point)) { // at most one: it is asked again until it is decided
            if (probe_count_ < kMostProbes) return probe(count);
            break;
        }
    if (!confirming_) {
        const Trial trial = probe_count_ < kMostProbes ? decide_bracket(probed()) : finish(SearchStop::trials_spent);
        if (trial.kind != TrialKind::done || !options_.confirm || found() == 0) return trial;
        confirming_ = true;
    }
    return decide_confirmation();
}

Trial MaxSearch::decide_bracket(const Bracket& bracket) {
    const auto [low, high] = bracket;
    if (high == 0 && low < options_.limit) { // everything passed so far
        if (stride_ == 0) stride_ = low;
        const std::uint32_t step = stride_;
        stride_ = step > options_.limit / 2 ? options_.limit : 2 * step;
        return probe(step > options_.limit - low ? options_.limit : low + step);
    }
    if (high > 0 && high - low > options_.unit) {
        const std::uint32_t width = (high - low) / options_.unit;
        if (first_width_ == 0) first_width_ = width;
        // As many steps as pure halving would have needed, and three more: then halve.
        const double halvings = std::log2(static_cast<double>(first_width_) / width);
        ++narrowings_;
        if (narrowings_ > halvings + 3) return probe(low + std::max(width / 2, 1u) * options_.unit);
        return probe(towards(high, median(points_.at(high).au), bracket));
    }
    // Neighbours, or the limit passed: what decides the answer is asked twice before it is believed.
    first_width_ = narrowings_ = 0; // should a second opinion open the bracket again, the answer is not far
    stride_ = options_.unit;
    if (high > 0 && wants_opinion(high)) return probe(high);
    if (low > 0 && !options_.confirm && wants_opinion(low)) return probe(low);
    if (low == 0) return finish(SearchStop::minimum_missed);
    return finish(high == 0 ? SearchStop::limit_reached : SearchStop::bar_missed);
}

Trial MaxSearch::decide_confirmation() {
    const auto [low, high] = confirmed();
    const auto confirm = [](std::uint32_t count) { return Trial{TrialKind::confirm, count, 1}; };
    if (low == 0 && high == 0) return confirm(probed().low);
    const bool spent = confirmation_count_ >= kMostConfirmations;
    if (high > 0) {
        if (low == 0 && high == options_.unit) return finish(SearchStop::minimum_missed);
        if (low > 0 && high - low == options_.unit) return finish(SearchStop::bar_missed);
        if (spent) return finish(SearchStop::trials_spent);
        std::uint32_t count = towards(high, *points_.at(high).confirmed_au, {low, high});
        if (low == 0) { // a curve that is flat near the bar: each miss goes down twice as far as the one before
            const std::uint64_t drop = std::uint64_t{options_.unit} << (confirmation_count_ - 1);
            count = drop < high ? std::min(count, std::max(high - static_cast<std::uint32_t>(drop), options_.unit))
                                : options_.unit;
        }
        return confirm(count);
    }
    // Passed. The next larger one may pass too in a run of full length, if its probe did, or nearly did.
    if (low == options_.limit) return finish(SearchStop::limit_reached);
    const std::uint32_t above = low + options_.unit;
    const auto point = points_.find(above);
    if (point == points_.end()) {
        if (probe_count_ < kMostProbes) return probe(above);
        return finish(SearchStop::trials_spent);
    }
    const bool near = median(point->second.au) >= options_.bar_percentage - options_.band_points;
    if (!near && !probe_verdict(point->second).value_or(false)) return finish(SearchStop::bar_missed);
    return spent ? finish(SearchStop::trials_spent) : confirm(above);
}

Trial MaxSearch::finish(SearchStop stop) {
    stop_ = stop;
    return {};
}

// AU x N is constant where the storage is full.
std::uint32_t MaxSearch::towards(std::uint32_t missed, double au_percentage, Bracket inside) const {
    const double aim = missed * au_percentage / options_.bar_percentage;
    return std::clamp(down_to_unit(aim), inside.low + options_.unit, inside.high - options_.unit);
}

std::optional<bool> MaxSearch::verdict(const Point& point) const {
    if (point.confirmed_au) return *point.confirmed_au >= options_.bar_percentage;
    return probe_verdict(point);
}

// One clear figure is enough; near the bar, or where two disagree, the majority of three.
std::optional<bool> MaxSearch::probe_verdict(const Point& point) const {
    const auto& au = point.au;
    if (au.empty()) return {};
    if (au.size() == 1 && std::abs(au[0] - options_.bar_percentage) <= options_.band_points) return {};
    const auto passes = std::count_if(au.begin(), au.end(), [this](double x) { return x >= options_.bar_percentage; });
    const auto misses = static_cast<std::ptrdiff_t>(au.size()) - passes;
    if (passes == misses) return {};
    return passes > misses;
}

MaxSearch::Bracket MaxSearch::probed() const {
    Bracket bracket;
    for (const auto& [count, point] : points_)
        if (verdict(point).value_or(false)) bracket.low = count;
    for (const auto& [count, point] : points_)
        if (count > bracket.low && verdict(point) == false) {
            bracket.high = count;
            break;
        }
    return bracket;
}

MaxSearch::Bracket MaxSearch::confirmed() const {
    Bracket bracket;
    for (const auto& [count, point] : points_)
        if (point.confirmed_au && *point.confirmed_au >= options_.bar_percentage) bracket.low = count;
    for (const auto& [count, point] : points_)
        if (count > bracket.low && point.confirmed_au && *point.confirmed_au < options_.bar_percentage) {
            bracket.high = count;
            break;
        }
    return bracket;
}

std::uint32_t MaxSearch::found() const { return confirmation_count_ > 0 ? confirmed().low : probed().low; }

std::uint32_t MaxSearch::missed() const {
    for (const auto& [count, point] : points_)
        if (count > found() && verdict(point) == false) return count;
    return 0;
}

bool MaxSearch::passed(std::uint32_t accelerator_count) const {
    const auto point = points_.find(accelerator_count);
    return point != points_.end() && verdict(point->second).value_or(false);
}

bool MaxSearch::overruled(std::uint32_t accelerator_count) const {
    const auto point = points_.find(accelerator_count);
    return point != points_.end() && probe_verdict(point->second).value_or(false) && verdict(point->second) == false;
}

std::uint32_t MaxSearch::probes_left() const {
    if (next_.kind == TrialKind::done || next_.kind == TrialKind::confirm) return 0;
    const auto [low, high] = probed();
    if (high == 0) return 6; // a step or two upwards, then a bracket
    const double width = std::max(1.0, static_cast<double>(high - low) / options_.unit);
    return 2 + static_cast<std::uint32_t>(std::min(std::ceil(std::log2(width)), 3.0));
}

std::uint32_t MaxSearch::down_to_unit(double count) const {
    if (!(count > 0)) return 0;
    const double units = std::min(std::floor(count / options_.unit), std::floor(4294967295.0 / options_.unit));
    return static_cast<std::uint32_t>(units) * options_.unit;
}

bool MaxSearch::wants_opinion(std::uint32_t accelerator_count) const {
    const Point& point = points_.at(accelerator_count);
    return !point.confirmed_au && point.au.size() == 1 && probe_count_ < kMostProbes;
}

Trial MaxSearch::probe(std::uint32_t accelerator_count) const {
    const auto point = points_.find(accelerator_count);
    const bool again = point != points_.end() && !point->second.au.empty();
    return {TrialKind::probe, accelerator_count, again ? 2u : 1u};
}

} // namespace feedbench::workloads
