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

// GiB/s of all bytes over the time until the last rank was done.
std::optional<double> rate(const CheckpointResult& c) {
    if (c.duration_s <= 0) return std::nullopt;
    return static_cast<double>(c.bytes) / 1073741824 / c.duration_s;
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
    const Metric* all = row(part.result.metrics, "checkpoint_GiB_per_second");
    if (all != nullptr && all->value)
        plot.summary = fmt::format("All bytes over all time: {} GiB/s.", grouped(*all->value));
    return plot;
}

} // namespace

std::string checkpoint_section(const RunPart& part) {
    const RunResult& r = part.result;
    if (r.checkpoints.empty()) return {};
    html::Table table;
    table.id = part.prefix + "checkpoint-table";
    table.columns = {{"", ""},
                     {"What", "", false},
                     {"During", "", false},
                     {"After", "", false},
                     {"Size", "GiB"},
                     {"Files", ""},
                     {"Rate", "GiB/s"},
                     {"Duration", ""},
                     {"First byte", "", true, "from its start to the first piece answered"},
                     {"Data done", ""},
                     {"Synced", ""},
                     {"Slowest fsync", "", true, "of a rank"},
                     {"Training waited", "s", true, "accelerator-seconds"},
                     {"State", "", false}};
    std::size_t at = 0;
    for (const CheckpointResult& c : r.checkpoints) {
        const std::optional<double> GiB_per_second = rate(c);
        const bool writes = c.kind != "read";
        const auto after = [](double s) { return s > 0 ? duration_cell(s) : html::Cell{.text = "-"}; };
        table.rows.push_back(
            {count_cell(++at),
             {.text = c.kind},
             {.text = c.mode == "alone" ? "nothing else" : "training, " + c.mode},
             {.text = r.epochs.empty() ? "-" : fmt::format("epoch {}, step {}", c.epoch_index + 1, c.step_index)},
             number_cell(static_cast<double>(c.bytes) / 1073741824),
             count_cell(c.file_count),
             GiB_per_second ? number_cell(*GiB_per_second) : html::Cell{.text = "", .reason = "no time passed"},
             duration_cell(c.duration_s),
             after(c.first_byte_s),
             after(c.data_s),
             writes ? after(c.synced_s) : html::Cell{.text = "-"},
             c.fsync ? duration_cell(c.fsync_s) : html::Cell{.text = "", .reason = writes ? "not asked for" : "-"},
             c.mode == "alone" ? html::Cell{.text = "-"} : number_cell(c.training_wait_s),
             {.text = writes ? (c.committed ? "committed" : "not committed")
                             : (c.content_verified ? "every byte compared" : "read")}});
    }
    html::Table ranks;
    ranks.id = part.prefix + "checkpoint-ranks";
    ranks.filterable = true;
    ranks.columns = {
        {"Checkpoint", ""},  {"Rank", ""},
        {"Host", "", false}, {"Size", "GiB"},
        {"Files", ""},       {"Duration", ""},
        {"In flight", ""},   {"fsync", ""},
        {"Commit", ""},      {"Content", "", true, "of the time in flight: the client made or compared content"}};
    constexpr std::size_t kMostRows = 2048; // a page is for reading; result.json has them all
    std::size_t all = 0;
    at = 0;
    for (const CheckpointResult& c : r.checkpoints) {
        ++at;
        for (const CheckpointRankResult& one : c.ranks)
            if (++all <= kMostRows)
                ranks.rows.push_back({count_cell(at),
                                      count_cell(one.rank),
                                      {.text = one.host},
                                      number_cell(static_cast<double>(one.bytes) / 1073741824),
                                      count_cell(one.file_count),
                                      duration_cell(one.duration_s),
                                      duration_cell(one.transfer_s),
                                      duration_cell(one.fsync_s),
                                      duration_cell(one.commit_s),
                                      duration_cell(one.content_s)});
    }
    std::string body = (r.checkpoints.size() > 1 ? part.add(rate_plot(part)) : "") + html::table(table);
    if (all > 0)
        body +=
            html::details(all <= kMostRows ? "Rank by rank"
                                           : fmt::format("Rank by rank: the first {} of {} rows; result.json has all",
                                                         kMostRows, all),
                          html::table(ranks));
    return html::section(part.prefix + "checkpoints", "Checkpoints", body);
}

} // namespace feedbench::reporters
