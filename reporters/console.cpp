// The summary that one reads at a glance: what ran, AU against its bar, rates, waits, epochs, findings, where the
// results are.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/console_checkpoints.hpp"
#include "reporters/console_scaling.hpp"
#include "reporters/console_text.hpp"
#include "reporters/reporter.hpp"
#include "reporters/storage_words.hpp"

namespace feedbench::reporters {
namespace {

std::string counted(std::uint64_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

bool is_checkpoint(const RunResult& r) { return r.kind == "checkpoint"; }

std::string training_header(const RunResult& r) {
    std::string text = fmt::format("{} {}  {}", r.backend, r.data_folder, r.odirect ? "O_DIRECT" : "buffered");
    if (!r.io_engine.empty()) text += ", " + r.io_engine;
    return text + fmt::format("  {} by {} loader, {} files x {}, batch {}, think {}", r.format, r.data_loader,
                              r.num_files_train, r.num_samples_per_file, r.batch_size,
                              duration_text(r.think_time_mean_s));
}

std::string header(const RunResult& r, bool colour) {
    std::string text = paint("feedbench " + r.feedbench_version, Colour::bold, colour) + "  " +
                       paint(r.workload, Colour::bold, colour);
    text += "  " + counted(r.accelerator_count, is_checkpoint(r) ? "checkpoint rank" : "accelerator");
    if (!r.accelerator_model.empty()) text += " (" + r.accelerator_model + ")";
    text += fmt::format(" on {}, {}", counted(std::max<std::size_t>(1, r.hosts.size()), "host"),
                        counted(r.rank_count, is_checkpoint(r) ? "MPI rank" : "rank"));
    text += "\n" + (is_checkpoint(r) ? checkpoint_header(r) : training_header(r));
    if (r.virtual_time) text += "  (virtual time: a simulation)";
    return text + "\n" + paint("MLPerf-Storage-style, not verified by MLCommons", Colour::dim, colour) + "\n";
}

std::string state(const RunResult& r, bool colour) {
    std::string text;
    if (r.status != "complete")
        text += paint("Run is " + r.status + ": what follows is partial.", Colour::red, colour) + "\n";
    for (const Error& error : r.errors) text += paint("error: " + error.describe(), Colour::red, colour) + "\n";
    if (!r.valid) {
        text += paint("NOT VALID", Colour::red, colour);
        for (std::size_t i = 0; i < r.invalid_reasons.size(); ++i)
            text += (i == 0 ? ": " : "; ") + r.invalid_reasons[i];
        text += "\n";
    }
    return text;
}

// What the run was bound by, in words, before any figure: a figure that is not the storage's must not be read first.
const Finding* deciding(const RunResult& r) {
    for (const Finding& finding : r.findings)
        if (!r.verdict.empty() && finding.verdict == r.verdict) return &finding;
    return nullptr;
}
std::string headline(const RunResult& r, const RenderOptions& options) {
    if (r.verdict.empty()) return {};
    const bool good = r.verdict == "accelerator-bound" || r.verdict == "storage-bound";
    const bool untrue = r.verdict == "cached" || r.verdict == "implausible";
    std::string out = "\nVERDICT " + paint(r.verdict, Colour::bold, options.colour);
    if (!good)
        out += paint(untrue ? "  not a figure of the storage" : "  look before you judge the storage",
                     untrue ? Colour::red : Colour::yellow, options.colour);
    out += "\n";
    if (const Finding* finding = deciding(r)) out += wrap(finding->evidence, options.width, "  ");
    return out;
}

std::string line(std::string_view name, const std::string& text) { return fmt::format("  {:<22} {}\n", name, text); }

std::string au_line(const RunResult& r, bool colour) {
    const Metric* au = row(r.metrics, "au_mean_percentage");
    std::string text = value_text(au, 2);
    const Metric* spread = row(r.metrics, "au_stdev_percentage");
    if (spread != nullptr && spread->value) text += fmt::format(" +- {:.2f}", *spread->value);
    if (r.au_required > 0) {
        const bool known = au != nullptr && au->value, met = known && *au->value >= 100 * r.au_required;
        // A complete run without AU has not met its bar; one that was cut short was not judged.
        const bool judged = known || r.status == "complete";
        text +=
            "   " + (judged ? paint(met ? "pass" : "FAIL", met ? Colour::green : Colour::red, colour) : "not judged");
        text += fmt::format("  (bar {:.2f} %)", 100 * r.au_required);
    } else {
        text += "   (no bar)";
    }
    return line("AU", text);
}

std::string quantiles(const RunResult& r, std::string_view name, const std::string& key) {
    const Metric* median = row(r.metrics, key + "_p50");
    if (median == nullptr || !median->value) return line(name, value_text(median, 2));
    return line(name,
                fmt::format("p50 {}   p95 {}   p99 {}", value_text(median, 2),
                            value_text(row(r.metrics, key + "_p95"), 2), value_text(row(r.metrics, key + "_p99"), 2)));
}

// Whether the run was the same all along: the first epoch against the rest, and the way within an epoch.
std::string steadiness(const RunResult& r) {
    const Metric* first = row(r.metrics, "first_epoch_MB_over_later");
    const Metric* drift = row(r.metrics, "MB_per_second_drift_over_mean");
    std::string text;
    if (first != nullptr && first->value) text += fmt::format("first epoch {:.2f} of the later ones   ", *first->value);
    if (drift != nullptr && drift->value) text += fmt::format("{:+.1f} % within an epoch", 100 * *drift->value);
    while (text.ends_with(' ')) text.pop_back();
    return text.empty() ? text : line("MB/s over time", text);
}

std::string loader_time(const LoaderTime& t) {
    const double total = t.in_flight_s + t.client_queue_s + t.decode_s + t.verify_s + t.buffer_wait_s;
    if (total <= 0) return {};
    const auto share = [&](double part) { return 100 * part / total; };
    return line("loader time",
                fmt::format("in flight {:.1f} %   client queue {:.1f} %   decode {:.1f} %   verify {:.1f} "
                            "%   buffer wait {:.1f} %",
                            share(t.in_flight_s), share(t.client_queue_s), share(t.decode_s), share(t.verify_s),
                            share(t.buffer_wait_s)));
}

std::string figures(const RunResult& r, bool colour) {
    const auto text = [&](std::string_view key, int decimals) { return value_text(row(r.metrics, key), decimals); };
    const auto both = [&](std::string_view a, std::string_view b) {
        const Metric* first = row(r.metrics, a);
        return first != nullptr && first->value ? text(a, -1) + "   " + text(b, -1) : text(a, -1);
    };
    std::string out = au_line(r, colour);
    out += line("effective utilization",
                text("effective_utilization_percentage", 2) + "   (whole epochs, nothing excluded)");
    out += line("delivered", both("delivered_MB_per_second", "delivered_MiB_per_second"));
    out += line("needed at 100 % AU", text("needed_MB_per_second", -1));
    const Metric* slowest = row(r.metrics, "sustained_MB_per_second_min");
    if (slowest != nullptr && slowest->value) {
        const Metric* spread = row(r.metrics, "sustained_MB_per_second_stdev_over_mean");
        out += line("sustained, by second",
                    fmt::format("mean {}   p5 {}   min {}", text("sustained_MB_per_second_mean", -1),
                                text("sustained_MB_per_second_p5", -1), text("sustained_MB_per_second_min", -1)) +
                        (spread != nullptr && spread->value ? fmt::format("   cv {:.3f}", *spread->value) : ""));
    }
    out += steadiness(r);
    const Metric* whole = row(r.metrics, "samples_per_second_whole_epochs");
    out += line("samples",
                text("samples_per_second_mean", -1) +
                    (whole != nullptr && whole->value ? "   (whole epochs: " + value_text(whole, -1) + ")" : ""));
    out += quantiles(r, "batch wait", "batch_wait_s");
    out += quantiles(r, "sample read", "sample_read_latency_s");
    out += quantiles(r, "time to first byte", "time_to_first_byte_s");
    out += line("client CPU", both("cpu_s_per_GB_process", "cpu_s_per_GB_host") + "   (process, host)");
    const Attribution& a = r.attribution;
    if (a.total_s > 0) {
        const auto share = [&](double part) { return 100 * part / a.total_s; };
        out += line(
            "accelerator time",
            fmt::format("think {:.1f} %   storage {:.1f} %   client {:.1f} %   barrier {:.1f} %   outside {:.1f} %",
                        share(a.think_s), share(a.storage_wait_s), share(a.client_wait_s), share(a.barrier_wait_s),
                        share(a.outside_s)));
    }
    out += loader_time(r.loader_time);
    return out;
}

std::string cell(const std::vector<Metric>& rows, std::string_view key, int decimals, double factor = 1) {
    const Metric* metric = row(rows, key);
    if (metric == nullptr || !metric->value) return "-";
    const double value = *metric->value * factor;
    return decimals < 0 ? rate_text(value) : fmt::format("{:.{}f}", value, decimals);
}

std::string epochs(const RunResult& r, bool colour) {
    if (r.epochs.empty()) return {};
    constexpr const char* kRow = "  {:<7}{:>8}{:>8}{:>13}{:>11}{:>11}{:>13}{:>11}{:>9}\n";
    std::string out = paint(fmt::format(fmt::runtime(kRow), "epoch", "AU %", "eff. %", "samples/s", "MB/s", "MiB/s",
                                        "wait ms", "wall s", "steps"),
                            Colour::dim, colour);
    std::size_t shown = 0;
    constexpr std::size_t kMost = 40; // a run of a thousand epochs must not scroll its own result away
    for (const EpochResult& e : r.epochs) {
        if (r.epochs.size() > kMost && shown == kMost / 2)
            out += fmt::format("  ... {} more in result.json\n", r.epochs.size() - kMost);
        const std::size_t at = shown++;
        if (r.epochs.size() > kMost && at >= kMost / 2 && at < r.epochs.size() - kMost / 2) continue;
        out += fmt::format(fmt::runtime(kRow),
                           e.evaluation ? fmt::format("{} eval", e.index + 1) : std::to_string(e.index + 1),
                           cell(e.metrics, "au_percentage", 2), cell(e.metrics, "effective_utilization_percentage", 2),
                           cell(e.metrics, "samples_per_second", -1), cell(e.metrics, "delivered_MB_per_second", -1),
                           cell(e.metrics, "delivered_MiB_per_second", -1),
                           cell(e.metrics, "batch_wait_s_mean", 3, 1e3), cell(e.metrics, "wall_s", 2), e.step_count);
        if (!e.samples_proved && r.status == "complete")
            out += paint(fmt::format("    samples of epoch {} were not proved to be read exactly once", e.index + 1),
                         Colour::yellow, colour) +
                   "\n";
    }
    const Metric* dropped = row(r.metrics, "dropped_sample_count");
    if (dropped != nullptr && dropped->value && *dropped->value > 0)
        out += fmt::format("  {:.0f} samples in all did not fill a step and were left out.\n", *dropped->value);
    return out;
}

// What it lay on, and what the client's library counted of each server.
std::string storages(const RunResult& r) {
    std::string out;
    for (const StorageResult& storage : r.storages) {
        const std::string name = r.storages.size() > 1 ? "storage of " + storage.use : "storage";
        if (const std::string text = storage_text(storage); !text.empty()) out += line(name, text);
        for (const EndpointResult& endpoint : storage.endpoints) out += line("  server", endpoint_text(endpoint));
    }
    return out;
}

std::string checkpoints(const RunResult& r) {
    if (r.checkpoints.empty()) return {};
    return line("checkpoints", fmt::format("{}   {} (mean of rates {})   {} each", r.checkpoints.size(),
                                           value_text(row(r.metrics, "checkpoint_GiB_per_second"), -1),
                                           value_text(row(r.metrics, "checkpoint_GiB_per_second_mean_of_rates"), -1),
                                           value_text(row(r.metrics, "checkpoint_duration_s_mean"), 2)));
}

} // namespace

std::string render_console(const RunResult& r, const RenderOptions& options) {
    std::string out = header(r, options.colour) + headline(r, options) + state(r, options.colour) + "\n" +
                      (is_checkpoint(r) ? checkpoint_figures(r) : figures(r, options.colour) + checkpoints(r)) +
                      storages(r);
    if (is_checkpoint(r))
        if (const std::string table = checkpoint_table(r, options.colour); !table.empty()) out += "\n" + table;
    if (const std::string table = epochs(r, options.colour); !table.empty()) out += "\n" + table;
    out += scaling(r, options);
    const Finding* first = deciding(r); // said above
    if (r.findings.size() > (first != nullptr ? 1u : 0u)) out += "\n";
    for (const Finding& finding : r.findings)
        if (&finding != first)
            out +=
                wrap(fmt::format("{} ({}): {}", finding.verdict, finding.rule, finding.evidence), options.width, "  ");
    if (!r.explanation.empty()) out += "\n" + wrap(r.explanation, options.width, "  ");
    if (!r.results_folder.empty()) out += "\nresults: " + r.results_folder + "\n";
    return out;
}

} // namespace feedbench::reporters
