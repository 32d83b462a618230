#include "reporters/gate/gate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

#include "reporters/gate/statistics.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::gate {
namespace {

// The figures of a side, as far as it has them; empty with the reason.
struct SideFigures {
    Repetitions runs;
    std::string unit, reason;
    bool has_row = true;
};

// Ratios need figures above zero; where small differences are none, what lies below zero is as good as nothing.
std::string why_not(const Metric* metric, const MetricRule& rule) {
    if (metric == nullptr) return "there is no such row";
    if (!metric->value || !std::isfinite(*metric->value))
        return metric->reason.empty() ? "it has no value" : metric->reason;
    return *metric->value < 0 && rule.min_difference <= 0 ? "it is below 0" : "";
}

SideFigures figures_of(const std::vector<GateRun>& runs, const MetricRule& rule) {
    SideFigures side;
    for (const GateRun& run : runs) {
        const Metric* metric = reporters::row(run.figures, rule.key);
        if (std::string reason = why_not(metric, rule); !reason.empty()) {
            side.runs = {};
            side.has_row = metric != nullptr;
            side.reason = std::move(reason);
            return side;
        }
        side.unit = metric->unit;
        side.runs.figures.push_back(*metric->value);
        const Parts* parts = parts_of(run, rule.key);
        side.runs.parts.push_back(parts == nullptr ? std::vector<Part>{} : parts->parts);
    }
    return side;
}

std::string parts_text(const std::vector<GateRun>& baseline, const std::vector<GateRun>& candidate,
                       const std::string& key) {
    std::string source;
    std::size_t fewest = ~std::size_t{0}, most = 0;
    for (const auto* side : {&baseline, &candidate})
        for (const GateRun& run : *side) {
            const Parts* parts = parts_of(run, key);
            if (parts == nullptr) return "none: whole runs only";
            if (source.empty()) source = parts->source;
            if (source != parts->source) source = "blocks, slices or epochs";
            fewest = std::min(fewest, parts->parts.size());
            most = std::max(most, parts->parts.size());
        }
    return fewest == most ? fmt::format("{} {} a run", most, source)
                          : fmt::format("{} to {} {} a run", fewest, most, source);
}

// How much worse the candidate is at this ratio of figures.
double worse_at(double ratio, Better better) { return better == Better::higher ? 1 - ratio : ratio - 1; }

// Differences below the smallest that counts vanish: a figure nearer to zero than that is taken for it.
void raise_to(double least, std::vector<double>& figures) {
    for (double& figure : figures) figure = std::max({figure, least, 1e-300});
}

void take_estimate(const RatioEstimate& estimate, std::size_t baseline_count, std::size_t candidate_count,
                   double spread_factor, MetricAnswer& answer) {
    const Better better = answer.rule.better;
    const auto ordered = [&](double a, double b) { return std::minmax({worse_at(a, better), worse_at(b, better)}); };
    answer.worse = worse_at(estimate.ratio, better);
    if (estimate.low) std::tie(answer.worse_low, answer.worse_high) = ordered(*estimate.low, *estimate.high);
    if (estimate.low_within)
        std::tie(answer.within_low, answer.within_high) = ordered(*estimate.low_within, *estimate.high_within);
    answer.baseline_spread = estimate.baseline_spread;
    if (estimate.baseline_spread) {
        // sqrt(pi / 2): a median scatters so much more than a mean.
        const double error =
            *estimate.baseline_spread * std::sqrt(M_PI / 2) *
            std::sqrt(1.0 / static_cast<double>(baseline_count) + 1.0 / static_cast<double>(candidate_count));
        answer.floor = spread_factor * error;
    }
    answer.limit = std::max(answer.rule.tolerance, answer.floor.value_or(0));
}

Outcome outcome_of(const MetricAnswer& m, bool enough_runs) {
    if (!m.worse) return Outcome::absent;
    if (!enough_runs || !m.worse_low) return Outcome::unclear;
    const bool counts = std::abs(*m.candidate - *m.baseline) >= m.rule.min_difference;
    if (counts && *m.worse >= m.limit && *m.worse_low > 0) return Outcome::regressed;
    if (counts && -*m.worse >= m.limit && *m.worse_high < 0) return Outcome::improved;
    return *m.worse_high > m.rule.resolution ? Outcome::unclear : Outcome::unchanged;
}

std::string words_of(const MetricAnswer& m, bool enough_runs, double confidence) {
    const std::string& name = m.rule.heading;
    if (m.outcome == Outcome::absent) return m.words;
    const std::string figures =
        fmt::format("{}: {} against {}", name, figure_text(*m.candidate), figure_text(*m.baseline));
    if (!enough_runs || !m.worse_low) {
        std::string text =
            figures + fmt::format(" ({}); too few runs to tell a change from the difference between any two runs",
                                  change_text(m));
        if (m.within_low)
            text += fmt::format("; within these runs alone {} to {}", percent_text(*m.within_low),
                                percent_text(*m.within_high)) +
                    " worse, which leaves out what differs from run to run";
        return text;
    }
    switch (m.outcome) {
    case Outcome::regressed:
        return fmt::format("{}: worse by {} ({} to {} at {:.4g} %), which is more than {}", figures,
                           percent_text(*m.worse), percent_text(*m.worse_low), percent_text(*m.worse_high),
                           100 * confidence, percent_text(m.limit));
    case Outcome::improved:
        return fmt::format("{}: better by {} ({} to {} at {:.4g} %)", figures, percent_text(-*m.worse),
                           percent_text(-*m.worse_high), percent_text(-*m.worse_low), 100 * confidence);
    case Outcome::unclear:
        return fmt::format("{}: a loss of {} cannot be ruled out, and {} is what must be: more runs, or steadier ones",
                           figures, percent_text(*m.worse_high), percent_text(m.rule.resolution));
    default:
        if (std::abs(*m.candidate - *m.baseline) < m.rule.min_difference)
            return fmt::format("{}: a difference below {:g} counts as none", figures, m.rule.min_difference);
        return fmt::format("{}: no change that counts; a loss of more than {} is ruled out", figures,
                           percent_text(std::max(0.0, *m.worse_high)));
    }
}

struct Sizes {
    bool enough_runs;
    double confidence;
};

MetricAnswer answer_of(const GateReport& report, const MetricRule& rule, const Sizes& sizes, std::uint64_t seed) {
    MetricAnswer answer;
    answer.rule = rule;
    SideFigures baseline = figures_of(report.baseline, rule), candidate = figures_of(report.candidate, rule);
    answer.unit = baseline.unit.empty() ? candidate.unit : baseline.unit;
    if (!baseline.reason.empty() || !candidate.reason.empty()) {
        answer.applies = baseline.has_row || candidate.has_row;
        answer.words = fmt::format("{}: {} has none ({})", rule.heading,
                                   baseline.reason.empty() ? "the candidate" : "the baseline",
                                   baseline.reason.empty() ? candidate.reason : baseline.reason);
        return answer;
    }
    answer.baseline_runs = baseline.runs.figures;
    answer.candidate_runs = candidate.runs.figures;
    answer.baseline = median(baseline.runs.figures);
    answer.candidate = median(candidate.runs.figures);
    raise_to(rule.min_difference, baseline.runs.figures);
    raise_to(rule.min_difference, candidate.runs.figures);
    const Resampling how{sizes.confidence, report.policy.replicates, seed};
    take_estimate(estimate_ratio(baseline.runs, candidate.runs, how), report.baseline.size(), report.candidate.size(),
                  report.policy.spread_factor, answer);
    answer.parts = parts_text(report.baseline, report.candidate, rule.key);
    answer.outcome = outcome_of(answer, sizes.enough_runs);
    answer.words = words_of(answer, sizes.enough_runs, sizes.confidence);
    return answer;
}

// Metrics that both sides have share the doubt: with all of them together the gate cries wolf no more often than with
// one.
std::size_t judged_count(const GateReport& report) {
    std::size_t count = 0;
    for (const MetricRule& rule : report.policy.metrics)
        if (figures_of(report.baseline, rule).reason.empty() && figures_of(report.candidate, rule).reason.empty())
            ++count;
    return std::max<std::size_t>(count, 1);
}

// A row that neither side has belongs to another kind of workload: it is not missed.
bool asked(const MetricAnswer& m, Outcome outcome, bool required_only) {
    return m.outcome == outcome && (!required_only || (m.rule.required && m.applies));
}

std::string joined(const GateReport& report, Outcome outcome, bool required_only) {
    std::vector<std::string> words;
    for (const MetricAnswer& m : report.metrics)
        if (asked(m, outcome, required_only)) words.push_back(m.words);
    return fmt::format("{}", fmt::join(words, "; "));
}

void conclude(GateReport& report, bool enough_runs) {
    const auto any = [&](Outcome outcome, bool required_only) {
        return std::any_of(report.metrics.begin(), report.metrics.end(),
                           [&](const MetricAnswer& m) { return asked(m, outcome, required_only); });
    };
    const Policy& policy = report.policy;
    if (any(Outcome::regressed, false)) {
        report.answer = Answer::regressed;
        report.reason = joined(report, Outcome::regressed, false);
        return;
    }
    report.answer = Answer::not_enough_data;
    if (!enough_runs) {
        report.reason =
            fmt::format("the baseline has {} run{} and the candidate {}; policy {} asks for at least {} and {}",
                        report.baseline.size(), report.baseline.size() == 1 ? "" : "s", report.candidate.size(),
                        policy.name, policy.min_runs_baseline, policy.min_runs_candidate);
    } else if (any(Outcome::absent, true)) {
        report.reason = joined(report, Outcome::absent, true);
    } else if (any(Outcome::unclear, true)) {
        report.reason = joined(report, Outcome::unclear, true);
    } else if (std::all_of(report.metrics.begin(), report.metrics.end(), [](const MetricAnswer& m) {
                   return m.outcome == Outcome::absent || m.outcome == Outcome::unclear;
               })) {
        report.reason = "none of the policy's metrics could be judged";
    } else {
        report.answer = Answer::pass;
        report.reason =
            any(Outcome::improved, false) ? joined(report, Outcome::improved, false) : "no metric has become worse";
    }
}

} // namespace

GateReport judge(std::vector<GateRun> baseline, std::vector<GateRun> candidate, const Policy& policy) {
    GateReport report;
    report.policy = policy;
    report.baseline = std::move(baseline);
    report.candidate = std::move(candidate);
    report.comparability = compare_runs(report.baseline, report.candidate, policy.allow_differences);
    if (!report.comparability.forbidding.empty()) {
        report.answer = Answer::not_comparable;
        std::vector<std::string> words;
        for (const Difference& one : report.comparability.forbidding) words.push_back(one.words);
        report.reason = fmt::format("{}", fmt::join(words, "; "));
        return report;
    }
    const bool enough_runs =
        report.baseline.size() >= policy.min_runs_baseline && report.candidate.size() >= policy.min_runs_candidate;
    report.metric_confidence = 1 - (1 - policy.confidence) / static_cast<double>(judged_count(report));
    for (std::size_t i = 0; i < policy.metrics.size(); ++i)
        report.metrics.push_back(
            answer_of(report, policy.metrics[i], {enough_runs, report.metric_confidence}, policy.seed + i));
    conclude(report, enough_runs);
    return report;
}

std::string_view answer_text(Answer answer) {
    constexpr std::array<std::string_view, 4> kTexts{"pass", "regressed", "not comparable", "not enough data"};
    return kTexts[static_cast<std::size_t>(answer)];
}

std::string_view outcome_text(Outcome outcome) {
    constexpr std::array<std::string_view, 5> kTexts{"unchanged", "improved", "regressed", "unclear", "no data"};
    return kTexts[static_cast<std::size_t>(outcome)];
}

int exit_code_of(Answer answer) { return answer == Answer::pass ? 0 : answer == Answer::regressed ? 1 : 4; }

std::string figure_text(double value) { return fmt::format("{:.5g}", value); }
std::string percent_text(double fraction) {
    return fmt::format("{:.{}f} %", 100 * fraction, std::abs(fraction) < 10 ? 1 : 0);
}

std::string change_text(const MetricAnswer& m) {
    if (!m.worse) return "-";
    const double change = m.rule.better == Better::higher ? -*m.worse : *m.worse;
    return fmt::format("{:+.1f} %", 100 * change);
}

std::string interval_text(const MetricAnswer& m) {
    if (!m.worse_low) return "-";
    const double sign = m.rule.better == Better::higher ? -1 : 1;
    const auto [low, high] = std::minmax({sign * *m.worse_low, sign * *m.worse_high});
    return fmt::format("{:+.1f} to {:+.1f} %", 100 * low, 100 * high);
}

} // namespace feedbench::gate
