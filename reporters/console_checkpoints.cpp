#include "reporters/console_checkpoints.hpp"

#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "reporters/console_text.hpp"

namespace feedbench::reporters {

namespace {

constexpr std::size_t kRowsMost = 40; // a run of a thousand checkpoints must not scroll its own result away

std::string line(std::string_view name, const std::string& text) { return fmt::format("  {:<22} {}\n", name, text); }

struct Figures {
    const RunResult& r;
    std::string prefix; // "checkpoint_write_"
    const Metric* of(const std::string& key) const { return row(r.metrics, prefix + key); }
    std::string text(const std::string& key, int decimals) const { return value_text(of(key), decimals); }
    std::string seconds_text(const std::string& key) const {
        const Metric* metric = of(key);
        return metric != nullptr && metric->value ? duration_text(*metric->value) : value_text(metric, 2);
    }
    std::string percent(const std::string& key) const {
        const Metric* metric = of(key);
        return metric != nullptr && metric->value ? fmt::format("{:.1f} %", *metric->value) : value_text(metric, 1);
    }
};

std::string latency(const RunResult& r, std::string_view name, const std::string& key) {
    const Metric* median = row(r.metrics, key + "_s_p50");
    if (median == nullptr || !median->value) return {};
    const auto text = [&](const char* suffix) {
        const Metric* metric = row(r.metrics, key + suffix);
        return metric != nullptr && metric->value ? duration_text(*metric->value) : std::string("-");
    };
    return line(name, fmt::format("p50 {}   p95 {}   p99 {}", text("_s_p50"), text("_s_p95"), text("_s_p99")));
}

std::string of_kind(const RunResult& r, const std::string& kind) {
    const Figures f{r, "checkpoint_" + kind + "_"};
    const Metric* count = f.of("count");
    if (count == nullptr) return {};
    std::string out =
        line(kind, fmt::format("{}   {}   (total bytes / total time of {:.0f})", f.text("GiB_per_second", -1),
                               f.text("MB_per_second", -1), count->value.value_or(0)));
    out += line("  mean of rates", fmt::format("{} +- {}", f.text("GiB_per_second_mean_of_rates", -1),
                                               f.text("GiB_per_second_stdev_of_rates", -1)));
    out += line("  duration",
                fmt::format("mean {}   min {}   max {}   (of the slowest rank)", f.seconds_text("duration_s_mean"),
                            f.seconds_text("duration_s_min"), f.seconds_text("duration_s_max")));
    const Metric* spread = f.of("rank_duration_spread_over_mean");
    out += line("  slowest rank", f.text("rank_GiB_per_second_min", -1) +
                                      (spread != nullptr && spread->value
                                           ? fmt::format("   ranks differ by {:.1f} %", 100 * *spread->value)
                                           : ""));
    out += line("  time to first byte", f.seconds_text("first_byte_s_max"));
    if (kind == "write") {
        out += line("  rank time", fmt::format("data {}   fsync {}   commit {}   (making content {})",
                                               f.percent("transfer_percentage"), f.percent("fsync_percentage"),
                                               f.percent("commit_percentage"), f.percent("content_percentage")));
        out += line("  after the data",
                    fmt::format("synced {}   visible {}   at most", f.seconds_text("synced_after_data_s_max"),
                                f.seconds_text("visible_after_data_s_max")));
    } else {
        out += line("  rank time", fmt::format("data {}   (comparing content {})", f.percent("transfer_percentage"),
                                               f.percent("content_percentage")));
    }
    out += latency(r, "  piece", "checkpoint_" + kind + "_piece_latency");
    if (kind == "write") out += latency(r, "  fsync", "checkpoint_fsync_latency");
    return out;
}

} // namespace

std::string checkpoint_header(const RunResult& r) {
    std::string text = fmt::format("{} {}  {}", r.backend, r.data_folder, r.odirect ? "O_DIRECT" : "buffered");
    if (!r.io_engine.empty()) text += ", " + r.io_engine;
    if (!r.checkpoints.empty())
        text += fmt::format("  checkpoints of {:.4f} GiB in {} files",
                            to_GiB(static_cast<double>(r.checkpoints.front().bytes)), r.checkpoints.front().file_count);
    return text;
}

std::string checkpoint_figures(const RunResult& r) {
    std::string out = of_kind(r, "write") + of_kind(r, "read");
    const auto number = [&](std::string_view name, std::string_view key) {
        const Metric* metric = row(r.metrics, key);
        return metric != nullptr && metric->value ? line(name, duration_text(*metric->value)) : std::string();
    };
    out += number("write to read", "checkpoint_gap_s");
    out += number("start to first byte", "start_to_first_byte_s");
    const Metric* cpu = row(r.metrics, "cpu_s_per_GB_process");
    if (cpu != nullptr && cpu->value) out += line("client CPU", value_text(cpu, -1));
    const Metric* ceiling = row(r.metrics, "ceiling_MB_per_second");
    if (ceiling != nullptr && ceiling->value) out += line("client's ceiling", value_text(ceiling, -1));
    return out;
}

std::string checkpoint_table(const RunResult& r, bool colour) {
    if (r.checkpoints.empty()) return {};
    constexpr const char* kRow = "  {:<6}{:<26}{:>10}{:>11}{:>10}{:>10}{:>10}{:>10}{:>8}\n";
    std::string out = paint(fmt::format(fmt::runtime(kRow), "kind", "checkpoint", "GiB", "GiB/s", "wall s", "data s",
                                        "synced s", "visible s", "fsyncs"),
                            Colour::dim, colour);
    for (std::size_t i = 0; i < r.checkpoints.size(); ++i) {
        if (r.checkpoints.size() > kRowsMost && i >= kRowsMost / 2 && i < r.checkpoints.size() - kRowsMost / 2) {
            if (i == kRowsMost / 2)
                out += fmt::format("  ... {} more in result.json\n", r.checkpoints.size() - kRowsMost);
            continue;
        }
        const CheckpointResult& c = r.checkpoints[i];
        const bool write = c.kind == "write";
        const double gib = to_GiB(static_cast<double>(c.bytes));
        out += fmt::format(fmt::runtime(kRow), c.kind, c.folder, fmt::format("{:.4f}", gib),
                           c.duration_s > 0 ? rate_text(gib / c.duration_s) : "-", fmt::format("{:.3f}", c.duration_s),
                           fmt::format("{:.3f}", c.data_s), write ? fmt::format("{:.3f}", c.synced_s) : "-",
                           write ? fmt::format("{:.3f}", c.visible_s) : "-",
                           write ? fmt::format("{}", c.fsync_done_count) : "-");
    }
    return out;
}

} // namespace feedbench::reporters
