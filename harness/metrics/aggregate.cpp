#include "harness/metrics/aggregate.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "harness/metrics/attribution.hpp"
#include "harness/metrics/explain.hpp"
#include "harness/metrics/metric_table.hpp"
#include "harness/types/units.hpp"

namespace feedbench::metrics {
namespace {

// Blocks of one epoch by block number.
using BlockGroups = std::map<std::uint32_t, std::vector<BlockTotals>>;

std::vector<AcceleratorBlock> inputs(const std::vector<BlockTotals>& blocks, double batch_size, ThinkTime think) {
    std::vector<AcceleratorBlock> all;
    for (const BlockTotals& b : blocks) all.push_back({b.accelerator_index, block_input(b, batch_size, think)});
    return all;
}

Figures figures(std::string_view formula_name, const std::vector<BlockTotals>& blocks, double batch_size) {
    const Formula* formula = find_formula(formula_name);
    assert(formula != nullptr);
    return combine(*formula, inputs(blocks, batch_size, formula->think));
}

struct Window {
    std::uint64_t start_ns = 0, end_ns = 0;
};

// Earliest start to latest end over all accelerators (case T13).
Window window_of(const std::vector<BlockTotals>& blocks) {
    Window w{~std::uint64_t{0}, 0};
    for (const BlockTotals& b : blocks) {
        w.start_ns = std::min(w.start_ns, b.request_ns_first);
        w.end_ns = std::max(w.end_ns, b.barrier_end_ns_last);
    }
    return w;
}

double since(std::uint64_t time_ns, std::uint64_t start_ns) {
    return seconds_signed(static_cast<std::int64_t>(time_ns - start_ns));
}

WindowAggregate sums(const TrainingMeasurements& m, const std::vector<BlockTotals>& blocks, bool evaluation) {
    WindowAggregate w;
    w.evaluation = evaluation;
    w.accelerator_count = m.accelerator_count;
    w.batch_size = evaluation ? m.batch_size_eval : m.batch_size;
    w.record_length_bytes = m.record_length_bytes;
    std::map<std::uint32_t, double> steps; // of each accelerator
    for (const BlockTotals& b : blocks) {
        steps[b.accelerator_index] += static_cast<double>(b.step_count);
        w.accelerator_steps += static_cast<double>(b.step_count);
        w.sample_count += static_cast<double>(b.sample_count);
        w.bytes_delivered += static_cast<double>(b.bytes);
        w.think_s += seconds(b.think_ns);
        w.wait_s += seconds(b.wait_ns);
    }
    for (const auto& [accelerator, count] : steps) w.step_count = std::max(w.step_count, count);
    const Edition* edition = find_edition(m.edition);
    if (edition == nullptr) edition = find_edition(kDefaultEdition);
    w.figures = figures(edition->training->name, blocks, w.batch_size);
    w.identity_deviation = au_identity_deviation(blocks, w.figures.au_percentage, w.batch_size);
    w.dlio = figures("dlio", blocks, w.batch_size);
    w.dlio_current = figures("dlio_current", blocks, w.batch_size);
    return w;
}

// Complete slices only: one that the window cuts would look slower than it was.
void add_slices(const TrainingMeasurements& m, Window window, std::vector<TimedRate>& rates) {
    for (const Slice& slice : m.slices) {
        const std::uint64_t start = m.run_start_ns + slice.start_ns;
        if (start >= window.start_ns && start + m.slice_ns <= window.end_ns)
            rates.push_back({seconds(slice.start_ns), to_MB(static_cast<double>(slice.bytes)) / seconds(m.slice_ns)});
    }
}

template <class T>
bool is_of(const T& part, const EpochMeasurement& epoch) {
    return part.epoch_index == epoch.epoch_index && part.evaluation == epoch.evaluation;
}

std::size_t host_of(const TrainingMeasurements& m, std::uint32_t accelerator) {
    return accelerator < m.host_of_accelerator.size() ? m.host_of_accelerator[accelerator] : 0;
}

// Each host's part; adds what they counted to `sum`.
std::vector<HostEpochResult> host_results(const TrainingMeasurements& m, const EpochMeasurement& epoch,
                                          const std::vector<BlockTotals>& blocks, std::uint64_t wall_ns,
                                          EpochCounts& sum) {
    std::vector<HostEpochResult> hosts(m.hosts.size());
    std::vector<std::vector<BlockTotals>> of_host(hosts.size());
    std::vector<std::uint64_t> accelerators(hosts.size());
    for (std::uint32_t a = 0; a < m.accelerator_count; ++a)
        if (const std::size_t h = host_of(m, a); h < hosts.size()) ++accelerators[h];
    for (const BlockTotals& block : blocks) {
        const std::size_t h = host_of(m, block.accelerator_index);
        if (h >= hosts.size()) continue;
        of_host[h].push_back(block);
        hosts[h].bytes_delivered += block.bytes;
    }
    for (std::size_t h = 0; h < hosts.size(); ++h) {
        hosts[h].host = m.hosts[h].name;
        hosts[h].attribution = attribute(of_host[h], accelerators[h], wall_ns);
    }
    for (const HostCounts& one : m.counts) {
        if (!is_of(one, epoch)) continue;
        const EpochCounts counts = EpochCounts::parse(one.counts);
        sum.merge(counts);
        if (one.host_index >= hosts.size()) continue;
        HostEpochResult& host = hosts[one.host_index];
        host.loader_time = counts.loader_time();
        host.histograms = counts.histograms();
        host.process_cpu_s = counts.process_cpu_s;
        host.host_cpu_s = counts.host_cpu_s;
    }
    for (const HostCache& one : m.cache_evidence)
        if (is_of(one, epoch) && one.host_index < hosts.size()) hosts[one.host_index].cache = one.evidence;
    return hosts;
}

// Example: host 1 got 98 of 100 bytes from its device, host 2 3 of 100: 0.03; a host that cannot say is left out.
FormulaValue source_over_delivered(const std::vector<HostEpochResult>& hosts) {
    FormulaValue least = FormulaValue::none(kNoSource);
    for (const HostEpochResult& host : hosts) {
        if (!host.cache.source_bytes) continue;
        const FormulaValue one =
            ratio(*host.cache.source_bytes, static_cast<double>(host.cache.bytes_delivered), kNoBytes);
        if (!least || (one && *one.number < *least.number)) least = one;
    }
    return least;
}

EpochResult epoch_result(const TrainingMeasurements& m, const EpochMeasurement& epoch,
                         const std::vector<BlockTotals>& all, WindowAggregate& whole, EpochCounts& counts) {
    BlockGroups groups;
    for (const BlockTotals& b : all) groups[b.block()].push_back(b);
    EpochResult result;
    whole = sums(m, all, epoch.evaluation);
    for (const auto& [index, blocks] : groups) {
        const Window window = window_of(blocks);
        WindowAggregate part = sums(m, blocks, epoch.evaluation);
        part.wall_s = part.window_s = seconds(window.end_ns - window.start_ns);
        whole.window_s += part.window_s;
        add_slices(m, window, whole.slices);
        BlockResult block;
        block.index = index;
        block.step_count = static_cast<std::uint64_t>(part.step_count);
        block.sample_count = static_cast<std::uint64_t>(part.sample_count);
        block.bytes_delivered = static_cast<std::uint64_t>(part.bytes_delivered);
        block.start_s = since(window.start_ns, m.run_start_ns);
        block.end_s = since(window.end_ns, m.run_start_ns);
        block.metrics = block_rows(part);
        result.blocks.push_back(std::move(block));
    }
    // The caller's times and the steps' times come from the same clock; the epoch is at least as long as its blocks.
    const Window steps = window_of(all);
    const std::uint64_t start = std::min(epoch.start_ns, steps.start_ns), end = std::max(epoch.end_ns, steps.end_ns);
    whole.wall_s = seconds(end - start);
    whole.dropped_sample_count = static_cast<double>(epoch.dropped_sample_count);

    result.index = epoch.epoch_index;
    result.evaluation = epoch.evaluation;
    result.start_s = since(start, m.run_start_ns);
    result.end_s = since(end, m.run_start_ns);
    result.step_count = static_cast<std::uint64_t>(whole.step_count);
    result.sample_count = static_cast<std::uint64_t>(whole.sample_count);
    result.dropped_sample_count = epoch.dropped_sample_count;
    result.bytes_delivered = static_cast<std::uint64_t>(whole.bytes_delivered);
    result.samples_proved = epoch.samples_proved;
    result.attribution = attribute(all, m.accelerator_count, end - start);
    result.hosts = host_results(m, epoch, all, end - start, counts);
    result.loader_time = counts.loader_time();
    result.histograms = counts.histograms();
    whole.source_over_delivered = source_over_delivered(result.hosts);
    result.metrics = epoch_rows(whole);
    return result;
}

} // namespace

EpochResult epoch_result(const TrainingMeasurements& m, const EpochMeasurement& epoch) {
    std::vector<BlockTotals> blocks;
    for (const BlockTotals& b : m.blocks)
        if (b.step_count > 0 && b.epoch_index == epoch.epoch_index && b.evaluation() == epoch.evaluation)
            blocks.push_back(b);
    WindowAggregate whole;
    EpochCounts counts;
    return epoch_result(m, epoch, blocks, whole, counts);
}

void aggregate(const TrainingMeasurements& m, RunResult& result) {
    RunAggregate run;
    std::map<std::pair<std::uint32_t, bool>, std::vector<BlockTotals>> of_epoch; // (index, evaluation)
    for (const BlockTotals& b : m.blocks)
        if (b.step_count > 0) of_epoch[{b.epoch_index, b.evaluation()}].push_back(b);
    result.epochs.clear();
    result.attribution = {};
    EpochCounts trained;
    for (const EpochMeasurement& epoch : m.epochs) {
        WindowAggregate whole;
        const std::vector<BlockTotals>& blocks = of_epoch[{epoch.epoch_index, epoch.evaluation}];
        EpochCounts counts;
        EpochResult part = epoch_result(m, epoch, blocks, whole, counts);
        if (!epoch.evaluation) {
            add(result.attribution, part.attribution);
            trained.merge(counts);
            for (const BlockTotals& b : blocks) run.oversleep_s += seconds(b.oversleep_ns);
        }
        (epoch.evaluation ? run.evaluation : run.train).push_back(std::move(whole));
        result.epochs.push_back(std::move(part));
    }
    for (const HostFacts& host : m.hosts) {
        run.process_cpu_s += host.process_cpu_s;
        run.host_cpu_s += host.host_cpu_s;
        run.cpu_bytes += static_cast<double>(host.bytes_delivered);
    }
    run.sample_read_latency = trained.sample_read_latency.data("sample_read_latency");
    run.time_to_first_byte = trained.time_to_first_byte.data("time_to_first_byte");
    run.batch_wait = trained.batch_wait.data("batch_wait");
    run.think_error = trained.think_error.data("think_error");
    run.checkpoints = m.checkpoints;

    result.hosts = m.hosts;
    result.slices = m.slices;
    result.checkpoints = m.checkpoints;
    result.metrics = run_rows(run);
    result.loader_time = trained.loader_time();
    result.histograms = {run.sample_read_latency, run.time_to_first_byte, run.batch_wait, run.think_error};
    result.explanation = explain(result);
}

const Metric* find_metric(const std::vector<Metric>& rows, std::string_view key) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Metric& row) { return row.key == key; });
    return found == rows.end() ? nullptr : &*found;
}

} // namespace feedbench::metrics
