// Checkpoints of a run: each one's bytes, time and rate; which ranks were slow.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

constexpr std::size_t kMostRows = 2048; // a page is for reading; result.json has them all

double in_GiB(std::uint64_t bytes) { return static_cast<double>(bytes) / 1073741824; }

// GiB/s of all bytes over the time until the last rank was done.
std::optional<double> rate(const CheckpointResult& c) {
    if (c.duration_s <= 0) return std::nullopt;
    return in_GiB(c.bytes) / c.duration_s;
}

html::Plot rate_plot(const RunPart& part) {
    html::Plot plot;
    plot.id = part.prefix + "checkpoint-rate";
    plot.x_label = "checkpoint";
    plot.y_label = "rate (GiB/s)";
    html::Series written{
        .label = "written", .unit = "GiB/s", .points = {}, .shape = html::Shape::bars, .colour = "series-1"},
        read{.label = "read", .unit = "GiB/s", .points = {}, .shape = html::Shape::bars, .colour = "series-3"};
    double at = 0;
    for (const CheckpointResult& c : part.result.checkpoints) {
        ++at;
        plot.x_names.push_back(fmt::format("{:.0f}", at));
        (c.kind == "read" ? read : written).points.push_back({at, rate(c)});
    }
    for (html::Series* one : {&written, &read})
        if (!one->points.empty()) plot.series.push_back(std::move(*one));
    for (const auto& [key, name] :
         {std::pair{"checkpoint_GiB_per_second", "all"}, std::pair{"checkpoint_write_GiB_per_second", "written"},
          std::pair{"checkpoint_read_GiB_per_second", "read"}}) {
        const Metric* metric = row(part.result.metrics, key);
        if (metric != nullptr && metric->value)
            plot.summary += fmt::format("{}{} {} GiB/s", plot.summary.empty() ? "All bytes over all time: " : ", ",
                                        name, grouped(*metric->value));
    }
    if (!plot.summary.empty()) plot.summary += ".";
    return plot;
}

// Columns about training are there only where a checkpoint was written inside of it.
html::Table checkpoint_table(const RunPart& part) {
    const RunResult& r = part.result;
    const bool inside = std::any_of(r.checkpoints.begin(), r.checkpoints.end(),
                                    [](const CheckpointResult& c) { return c.mode != "alone"; });
    html::Table table;
    table.id = part.prefix + "checkpoint-table";
    table.columns = {{"", ""}, {"What", "", false}};
    if (inside)
        table.columns.insert(
            table.columns.end(),
            {{"During", "", false}, {"After", "", false}, {"Training waited", "s", true, "accelerator-seconds"}});
    table.columns.insert(table.columns.end(), {{"Size", "GiB"},
                                               {"Files", ""},
                                               {"Rate", "GiB/s"},
                                               {"Duration", ""},
                                               {"First byte", "", true, "from its start to the first piece answered"},
                                               {"Data done", ""},
                                               {"Synced", ""},
                                               {"Slowest fsync", "", true, "of a rank"},
                                               {"State", "", false}});
    const auto after = [](double s) { return s > 0 ? duration_cell(s) : html::Cell{.text = "-"}; };
    std::size_t at = 0;
    for (const CheckpointResult& c : r.checkpoints) {
        const std::optional<double> GiB_per_second = rate(c);
        const bool writes = c.kind != "read";
        std::vector<html::Cell> cells{count_cell(++at), {.text = c.kind}};
        if (inside)
            cells.insert(cells.end(),
                         {{.text = c.mode == "alone" ? "nothing else" : "training, " + c.mode},
                          {.text = fmt::format("epoch {}, step {}", c.epoch_index + 1, c.step_index), .tone = "whole"},
                          number_cell(c.training_wait_s)});
        cells.insert(cells.end(), {number_cell(in_GiB(c.bytes)),
                                   count_cell(c.file_count),
                                   GiB_per_second ? number_cell(*GiB_per_second)
                                                  : html::Cell{.text = "", .reason = "no time passed"},
                                   duration_cell(c.duration_s),
                                   after(c.first_byte_s),
                                   after(c.data_s),
                                   writes ? after(c.synced_s) : html::Cell{.text = "-"},
                                   !writes   ? html::Cell{.text = "-"}
                                   : c.fsync ? duration_cell(c.fsync_s)
                                             : html::Cell{.text = "", .reason = "not asked for"},
                                   {.text = writes ? (c.committed ? "committed" : "not committed")
                                                   : (c.content_verified ? "every byte compared" : "read"),
                                    .tone = writes && !c.committed ? "bad" : ""}});
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::string rank_details(const RunPart& part) {
    html::Table ranks;
    ranks.id = part.prefix + "checkpoint-ranks";
    ranks.filterable = true;
    ranks.columns = {
        {"Checkpoint", ""},  {"Rank", ""},
        {"Host", "", false}, {"Size", "GiB"},
        {"Files", ""},       {"Duration", ""},
        {"In flight", ""},   {"fsync", ""},
        {"Commit", ""},      {"Content", "", true, "of the time in flight: the client made or compared content"}};
    std::size_t at = 0, all = 0;
    for (const CheckpointResult& c : part.result.checkpoints) {
        ++at;
        for (const CheckpointRankResult& one : c.ranks)
            if (++all <= kMostRows)
                ranks.rows.push_back({count_cell(at),
                                      count_cell(one.rank),
                                      {.text = one.host},
                                      number_cell(in_GiB(one.bytes)),
                                      count_cell(one.file_count),
                                      duration_cell(one.duration_s),
                                      duration_cell(one.transfer_s),
                                      duration_cell(one.fsync_s),
                                      duration_cell(one.commit_s),
                                      duration_cell(one.content_s)});
    }
    if (all == 0) return {};
    return html::details(
        all <= kMostRows ? "Rank by rank"
                         : fmt::format("Rank by rank: the first {} of {} rows; result.json has all", kMostRows, all),
        html::table(ranks));
}

// Where the bytes of each host went, or came from.
std::string host_details(const RunPart& part) {
    html::Table table;
    table.id = part.prefix + "checkpoint-hosts";
    table.filterable = true;
    table.columns = {{"Checkpoint", ""},
                     {"Host", "", false},
                     {"Size", "GiB"},
                     {"Client CPU", "s"},
                     {"CPU of the host", "s"},
                     {"At the device", "GiB", true, "written to it, or read from it"},
                     {"In page cache", "%", true, "of sampled pages just before they were read"}};
    std::size_t at = 0, all = 0;
    for (const CheckpointResult& c : part.result.checkpoints) {
        ++at;
        for (const CheckpointHostResult& one : c.hosts) {
            if (++all > kMostRows) continue;
            const CacheEvidence& e = one.cache;
            const auto unknown = [](const std::string& reason) {
                return html::Cell{.text = "", .reason = reason.empty() ? "nothing recorded it" : reason};
            };
            table.rows.push_back({count_cell(at),
                                  {.text = one.host},
                                  number_cell(in_GiB(one.bytes)),
                                  number_cell(one.process_cpu_s),
                                  number_cell(one.host_cpu_s),
                                  e.source_bytes ? number_cell(*e.source_bytes / 1073741824) : unknown(e.source_reason),
                                  e.sampled_page_count > 0
                                      ? number_cell(100 * static_cast<double>(e.resident_page_count) /
                                                        static_cast<double>(e.sampled_page_count),
                                                    1)
                                      : unknown(e.residency_reason)});
        }
    }
    if (all == 0) return {};
    return html::details(
        all <= kMostRows ? "Host by host"
                         : fmt::format("Host by host: the first {} of {} rows; result.json has all", kMostRows, all),
        html::table(table));
}

} // namespace

std::string checkpoint_section(const RunPart& part) {
    const RunResult& r = part.result;
    if (r.checkpoints.empty()) return {};
    const std::string plot = r.checkpoints.size() > 1 ? part.add(rate_plot(part)) : "";
    return html::section(part.prefix + "checkpoints", "Checkpoints",
                         plot + html::table(checkpoint_table(part)) + rank_details(part) + host_details(part));
}

} // namespace feedbench::reporters
