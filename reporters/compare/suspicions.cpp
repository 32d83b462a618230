#include "reporters/compare/suspicions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "reporters/compare/declared_text.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::compare {
namespace {

using ingest::IngestedRun;

std::optional<double> value(const Row& row, std::string_view key) {
    const Metric* metric = reporters::row(row.metrics, key);
    return metric != nullptr ? metric->value : std::nullopt;
}

std::string name_of(const IngestedRun& run) {
    const std::size_t slash = run.path.find_last_of('/');
    return slash == std::string::npos ? run.path : run.path.substr(slash + 1);
}

bool submitted(const Row& row) { return !row.runs.front().division.empty(); }

std::string below_bar(const Row& row) {
    const auto margin = value(row, "au_margin_points");
    if (!margin || *margin >= 0) return {};
    return fmt::format("AU misses its bar by {:.2f} points: the storage does not feed so many accelerators", -*margin);
}

std::string just_above_bar(const Row& row) {
    constexpr double kJust = 0.1; // points; runs of one system differ by more
    const auto mean = value(row, "au_margin_points"), worst = value(row, "au_margin_points_worst_run");
    if (!mean || !worst || *mean < 0 || std::min(*mean, *worst) >= kJust) return {};
    std::string text = fmt::format("AU is {:.4f} points above its bar", *mean);
    if (row.runs.size() > 1)
        text += *worst >= 0 ? fmt::format(", in one run only {:.4f}", *worst)
                            : fmt::format(", in one run {:.4f} below", -*worst);
    return text;
}

std::string low_utilization(const Row& row) {
    const auto au = value(row, "au_percentage"), effective = value(row, "effective_utilization_percentage");
    if (!au || !effective || *au - *effective <= 5) return {};
    return fmt::format("AU is {:.1f} %, but effective utilization {:.1f} %: the first step of each epoch, which AU "
                       "leaves out, takes long",
                       *au, *effective);
}

std::string later_faster(const Row& row) {
    const auto ratio = value(row, "later_over_first_epoch");
    if (!ratio || *ratio <= 1.05) return {};
    return fmt::format("the later epochs are x{:.2f} as fast as the first: warm-up, or a cache that holds the dataset",
                       *ratio);
}

std::string later_slower(const Row& row) {
    const auto ratio = value(row, "later_over_first_epoch");
    if (!ratio || *ratio >= 0.95) return {};
    return fmt::format("the later epochs are x{:.2f} as fast as the first: a tier or cache that runs out, or wear",
                       *ratio);
}

std::string fits_memory(const Row& row) {
    const auto ratio = value(row, "dataset_over_memory");
    if (!ratio || *ratio > 1) return {};
    return fmt::format("cached? the dataset is {:.2f} of the client hosts' memory: they can hold all of it", *ratio);
}

std::string small_dataset(const Row& row) {
    const auto ratio = value(row, "dataset_over_memory");
    if (!submitted(row) || !ratio || *ratio <= 1 || *ratio >= 5) return {};
    return fmt::format("the dataset is {:.3f} times the client hosts' memory, the rules ask for 5", *ratio);
}

std::string impossible(const Row& row) {
    const auto effective = value(row, "effective_utilization_percentage"), au = value(row, "au_percentage");
    if (au && *au > 100.01) return fmt::format("AU is {:.2f} %: more than all of the time", *au);
    if (!effective || *effective <= 102) return {};
    return fmt::format("the rate is {:.0f} % of what {} {} can take: think time, batch size or a count is not what it "
                       "says",
                       *effective, row.accelerator_count, row.runs.front().accelerator_model);
}

std::string outside_blocks(const Row& row) {
    const auto effective = value(row, "effective_utilization_percentage"),
               whole = value(row, "whole_epoch_utilization_percentage");
    if (!effective || !whole || *effective <= 0 || *whole / *effective >= 0.95) return {};
    return fmt::format("{:.0f} % of the epochs' time lies outside the measured blocks",
                       100 * (1 - *whole / *effective));
}

std::string times_disagree(const Row& row) {
    double worst = 0.02; // rates of single ranks and rank 0's clock differ by less
    std::string text;
    for (const IngestedRun& run : row.runs)
        for (std::size_t i = 0; i < run.epochs.size(); ++i) {
            const auto& epoch = run.epochs[i];
            if (run.tool != ingest::Tool::reference || !epoch.samples_per_second || !epoch.block_s) continue;
            if (!run.sample_count || *run.sample_count <= 0) continue;
            const double share = *epoch.samples_per_second * *epoch.block_s / *run.sample_count;
            if (std::abs(share - 1) <= worst) continue;
            worst = std::abs(share - 1);
            text = fmt::format("epoch {} of {}: samples/s times the length of the block gives {:.1f} % of the dataset",
                               i + 1, name_of(run), 100 * share);
        }
    return text;
}

std::string report_disagrees(const Row& row) {
    double sum = 0;
    for (const IngestedRun& run : row.runs) {
        if (run.report_lacks_run)
            return fmt::format("no run of the report has the {:.3f} samples/s of {}'s summary",
                               run.samples_per_second.value_or(0), name_of(run));
        sum += run.samples_per_second.value_or(0);
    }
    const auto reported = row.runs.front().report_mean_samples_per_second;
    const double mean = sum / static_cast<double>(row.runs.size());
    if (!reported || std::abs(*reported - mean) <= 1e-6 * std::abs(mean)) return {};
    return fmt::format("the report's mean is {:.3f} samples/s, that of the summaries {:.3f}", *reported, mean);
}

std::string summary_disagrees(const Row& row) {
    for (const IngestedRun& run : row.runs) {
        if (run.au_percentage && run.au_percentage_of_epochs &&
            std::abs(*run.au_percentage - *run.au_percentage_of_epochs) > 1e-4)
            return fmt::format("{}: the mean AU is given as {:.4f} %, that of its epochs is {:.4f} %", name_of(run),
                               *run.au_percentage, *run.au_percentage_of_epochs);
        if (run.ranks && run.ranks->au_percentage && run.au_percentage &&
            std::abs(*run.ranks->au_percentage - *run.au_percentage) > 0.01)
            return fmt::format("{}: the files of the ranks give AU {:.3f} %, the summary {:.3f} %", name_of(run),
                               *run.ranks->au_percentage, *run.au_percentage);
    }
    return {};
}

std::string wide_spread(const Row& row) {
    const auto mean = value(row, "samples_per_second");
    if (row.runs.size() < 2 || !mean || *mean <= 0) return {};
    double least = *mean, most = *mean;
    for (const IngestedRun& run : row.runs) {
        least = std::min(least, run.samples_per_second.value_or(*mean));
        most = std::max(most, run.samples_per_second.value_or(*mean));
    }
    if ((most - least) / *mean <= 0.05) return {};
    return fmt::format("the runs differ by {:.1f} % of their mean, the rules allow 5 %", 100 * (most - least) / *mean);
}

std::string run_count(const Row& row) {
    if (!submitted(row) || row.runs.front().is_mean || row.runs.front().kind != ingest::Kind::training) return {};
    const bool third = row.runs.front().edition == "3.0";
    const std::size_t found = row.runs.size() + row.warm_up.size(), wanted = third ? 6 : 5;
    if (found == wanted) return {};
    return fmt::format("{} run{}, the rules ask for {}", found, found == 1 ? "" : "s",
                       third ? "6, the first as warm-up" : "5");
}

// Of writes, and of reads: how many the runs together were asked for.
std::string checkpoint_count(const Row& row) {
    constexpr double kOfRules = 10;
    if (!submitted(row)) return {};
    double saves = 0, loads = 0;
    for (const IngestedRun& run : row.runs) {
        if (!run.checkpoint || !run.checkpoint->save.checkpoint_count || !run.checkpoint->load.checkpoint_count)
            return {}; // not said
        saves += *run.checkpoint->save.checkpoint_count;
        loads += *run.checkpoint->load.checkpoint_count;
    }
    if (saves == kOfRules && loads == kOfRules) return {};
    return fmt::format("{:.0f} checkpoints written and {:.0f} read, the rules ask for 10 and 10", saves, loads);
}

// feedbench looks for cache evidence itself (own_verdict).
std::string read_from_memory(const Row& row) {
    const auto ratio = value(row, "checkpoint_over_memory");
    if (!ratio || *ratio >= 3) return {};
    for (const IngestedRun& run : row.runs) {
        if (run.tool != ingest::Tool::reference || !run.checkpoint) continue;
        if (run.checkpoint->save.duration_s && run.checkpoint->load.duration_s)
            return fmt::format("cached? {} wrote and read in one go, and a checkpoint is {:.2f} of the client hosts' "
                               "memory: below 3 the rules ask for two runs, caches emptied between them",
                               name_of(run), *ratio);
    }
    return {};
}

// No clock can be right that is before the edition's own code.
std::string wrong_clock(const Row& row) {
    for (const IngestedRun& run : row.runs) {
        const std::string& edition = run.edition;
        const char* first = edition == "1.0" ? "2024" : edition == "2.0" ? "2025" : edition == "3.0" ? "2026" : nullptr;
        if (first == nullptr || !submitted(row) || run.start_time.size() < 4) continue;
        if (run.start_time.substr(0, 4) < first)
            return fmt::format("{} began in {} by its client's clock, before edition {} was there", name_of(run),
                               run.start_time.substr(0, 4), edition);
    }
    return {};
}

std::string slept_long(const Row& row) {
    for (const IngestedRun& run : row.runs) {
        if (!run.ranks || !run.ranks->think_time_s || !run.think_time_s) continue;
        const double ratio = *run.ranks->think_time_s / *run.think_time_s;
        if (ratio > 1.01)
            return fmt::format("client-bound? the ranks of {} slept {:.1f} % longer than they should, which raises AU",
                               name_of(run), 100 * (ratio - 1));
    }
    return {};
}

std::string own_verdict(const Row& row) {
    for (const IngestedRun& run : row.runs) {
        if (!run.invalid_reasons.empty()) return name_of(run) + " is not valid: " + run.invalid_reasons.front();
        for (const char* verdict : {"cached", "implausible", "client-bound", "inconclusive"})
            if (run.verdict == verdict) return "feedbench judged " + name_of(run) + " " + run.verdict;
    }
    return {};
}

std::string warm_up(const Row& row) {
    if (row.warm_up.empty()) return {};
    return name_of(row.warm_up.front()) + " is the warm-up of edition 3.0 and does not count";
}

std::string reading(const Row& row) {
    std::vector<std::string> all;
    for (const IngestedRun& run : row.runs)
        for (const std::string& note : run.notes)
            if (std::find(all.begin(), all.end(), note) == all.end()) all.push_back(note);
    return fmt::format("{}", fmt::join(all, "; "));
}

constexpr std::array kSuspicions{
    Suspicion{"below_bar", true, "mean AU is below the workload's bar", below_bar},
    Suspicion{"just_above_bar", true, "the mean or one run is within 0.1 points of the bar", just_above_bar},
    Suspicion{"low_utilization", true, "AU is more than 5 points above effective utilization", low_utilization},
    Suspicion{"later_epochs_faster", true, "the later epochs are more than 5 % faster than the first", later_faster},
    Suspicion{"later_epochs_slower", true, "the later epochs are more than 5 % slower than the first", later_slower},
    Suspicion{"fits_memory", true, "the dataset is not larger than the client hosts' memory", fits_memory},
    Suspicion{"small_dataset", true, "a submission's dataset is below 5 times the hosts' memory", small_dataset},
    Suspicion{"impossible", true, "AU above 100 %, or more than 102 % of the accelerators' appetite", impossible},
    Suspicion{"outside_blocks", true, "more than 5 % of the epochs lies outside the measured blocks", outside_blocks},
    Suspicion{"times_disagree", true, "rate times block length misses the dataset by more than 2 %", times_disagree},
    Suspicion{"report_disagrees", true, "report and summaries give different rates", report_disagrees},
    Suspicion{"summary_disagrees", true, "the summary's mean and its epochs, or the ranks' files, differ",
              summary_disagrees},
    Suspicion{"declared_text", true, "a report, metadata or a folder's name says something else", declared_text},
    Suspicion{"wide_spread", true, "runs differ by more than 5 %", wide_spread},
    Suspicion{"run_count", true, "a submission has not 5 runs (edition 3.0: 6)", run_count},
    Suspicion{"checkpoint_count", true, "a submission has not written 10 checkpoints and read 10", checkpoint_count},
    Suspicion{"read_from_memory", true, "checkpoints below 3 times the hosts' memory, written and read in one run",
              read_from_memory},
    Suspicion{"wrong_clock", false, "a submission's clock is before its edition", wrong_clock},
    Suspicion{"slept_long", true, "the ranks' sleeps are more than 1 % too long", slept_long},
    Suspicion{"own_verdict", true, "feedbench judged the run itself", own_verdict},
    Suspicion{"warm_up", false, "a run is left out as warm-up", warm_up},
    Suspicion{"reading", false, "something was guessed, repaired or left out in reading", reading},
};

} // namespace

std::span<const Suspicion> suspicions() { return kSuspicions; }

std::vector<Finding> suspicions_of(const Row& row) {
    std::vector<Finding> found;
    for (const Suspicion& one : kSuspicions)
        if (std::string words = one.judge(row); !words.empty())
            found.push_back({std::string(one.rule), one.suspicious ? "suspicious" : "note", std::move(words), {}});
    return found;
}

} // namespace feedbench::compare
