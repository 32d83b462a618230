// The top of a run's page: what the run was bound by, whether it is valid, and the figures that matter first.
#include <fmt/format.h>

#include "reporters/console_text.hpp"
#include "reporters/html/pieces.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

const Metric* known(const RunResult& r, std::string_view key) {
    const Metric* metric = row(r.metrics, key);
    return metric != nullptr && metric->value ? metric : nullptr;
}

// A tile of a row; where there is no value its reason takes the place.
html::Tile tile(const RunResult& r, const std::string& name, std::string_view key, int decimals, std::string detail) {
    const Metric* metric = row(r.metrics, key);
    if (metric == nullptr) return {name, "", "", ""};
    if (!metric->value) return {name, "not known", "", reason_words(metric->reason), "none"};
    if (metric->unit == "s") {
        const std::string text = page_duration(*metric->value); // "3.25 ms"
        const std::size_t space = text.find(' ');
        return {name, text.substr(0, space), text.substr(space + 1), std::move(detail)};
    }
    return {name, grouped(*metric->value, decimals < 0 && *metric->value >= 1000 ? 0 : decimals), metric->unit,
            std::move(detail)};
}

html::Tile au_tile(const RunResult& r) {
    html::Tile au = tile(r, "AU, accelerator utilization", "au_mean_percentage", 2, "");
    const double bar = 100 * r.au_required;
    const Metric* value = known(r, "au_mean_percentage");
    if (r.au_required <= 0) {
        if (value != nullptr) au.detail = "no bar";
        return au;
    }
    if (value != nullptr) {
        const bool met = *value->value >= bar;
        au.detail = fmt::format("{} the bar of {:.0f} %, {} {:.2f} points", met ? "meets" : "misses", bar,
                                met ? "by" : "short by", std::abs(*value->value - bar));
        // What is not valid must not look like a success.
        if (!met)
            au.tone = "bad";
        else if (r.valid)
            au.tone = "good";
        else
            au.detail += ", but the run is not valid";
    } else if (r.status != "complete") {
        au.detail += "; not judged";
    }
    return au;
}

std::string also(const RunResult& r, std::string_view key, std::string_view before, int decimals = -1) {
    const Metric* metric = known(r, key);
    if (metric == nullptr) return {};
    return fmt::format("{}{} {}", before, grouped(*metric->value, decimals), metric->unit);
}

std::string figures(const RunResult& r) {
    std::vector<html::Tile> all;
    if (const Metric* most = row(r.metrics, "max_accelerator_count"); most != nullptr) {
        html::Tile answer = tile(r, "Accelerators fed at most", "max_accelerator_count", 0,
                                 fmt::format("reach {:.0f} % AU", 100 * r.au_required));
        all.push_back(std::move(answer));
    }
    all.push_back(au_tile(r));
    all.push_back(tile(r, "Delivered", "delivered_MB_per_second", -1, also(r, "delivered_MiB_per_second", "")));
    all.push_back(tile(r, "Needed at 100 % AU", "needed_MB_per_second", -1, "nobody would ever wait"));
    all.push_back(
        tile(r, "Effective utilization", "effective_utilization_percentage", 2, "whole epochs, nothing excluded"));
    all.push_back(tile(r, "Samples", "samples_per_second_mean", -1,
                       also(r, "samples_per_second_whole_epochs", "whole epochs: ")));
    all.push_back(tile(r, "Batch wait, p99", "batch_wait_s_p99", -1,
                       known(r, "batch_wait_s_p50") != nullptr
                           ? "median " + page_duration(*known(r, "batch_wait_s_p50")->value)
                           : ""));
    all.push_back(tile(r, "Checkpoints written", "checkpoint_write_GiB_per_second", -1,
                       also(r, "checkpoint_write_rank_GiB_per_second_min", "slowest rank: ")));
    all.push_back(tile(r, "Checkpoints read", "checkpoint_read_GiB_per_second", -1,
                       also(r, "checkpoint_read_rank_GiB_per_second_min", "slowest rank: ")));
    all.push_back(tile(r, "Writing one", "checkpoint_write_duration_s_mean", -1, also(r, "checkpoint_size_GiB", "")));
    all.push_back(tile(r, "Reading one", "checkpoint_read_duration_s_mean", -1, ""));
    all.push_back(
        tile(r, "Checkpoints", "checkpoint_GiB_per_second", -1, count_text(r.checkpoints.size(), "checkpoint")));
    all.push_back(tile(r, "Client CPU", "cpu_s_per_GB_process", -1, also(r, "cpu_s_per_GB_host", "whole host: ")));
    const Metric* reached = known(r, "achieved_over_ceiling");
    all.push_back(tile(r, "Client ceiling", "ceiling_MB_per_second", -1,
                       reached != nullptr ? fmt::format("the run reached {:.1f} % of it", 100 * *reached->value) : ""));
    std::erase_if(all, [](const html::Tile& one) { return one.value.empty(); });
    return all.empty() ? "" : html::tiles(all);
}

} // namespace

std::string headline(const RunPart& part) {
    const RunResult& r = part.result;
    html::Verdict verdict{verdict_or_status(r), verdict_meaning(r.verdict), verdict_tone(r.verdict), {}};
    if (r.status != "complete") {
        verdict.tone = "bad";
        verdict.meaning = "what follows is partial";
    }
    for (const Error& error : r.errors) verdict.evidence.push_back("Error: " + error.describe());
    if (const Finding* finding = deciding_finding(r)) verdict.evidence.push_back(finding->evidence);
    verdict.evidence.push_back(validity_words(r));
    std::string out = html::verdict(verdict) + figures(r);
    // Why a bar was missed, in a paragraph of its own.
    return out + html::paragraph(r.explanation, "explanation");
}

} // namespace feedbench::reporters
