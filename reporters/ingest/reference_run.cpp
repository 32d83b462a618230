#include "reporters/ingest/reference_run.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/types/units.hpp"
#include "reporters/ingest/checkpoint_run.hpp"
#include "reporters/ingest/epoch_stats.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/ingest/rank_output.hpp"
#include "reporters/ingest/run_settings.hpp"

namespace feedbench::ingest {
namespace {

using nlohmann::json;

// The elements that are numbers; the others are nothing.
std::vector<std::optional<double>> numbers(const json& array) {
    std::vector<std::optional<double>> values;
    if (array.is_array())
        for (const json& item : array) values.push_back(number(item));
    return values;
}

// Nothing where one is missing: a mean over the others would be another figure.
std::optional<double> mean(const std::vector<std::optional<double>>& values) {
    double sum = 0;
    for (const auto& value : values) {
        if (!value) return {};
        sum += *value;
    }
    return values.empty() ? std::nullopt : std::optional(sum / static_cast<double>(values.size()));
}

// Host arrays hold sums in the first slots and zeros behind where ranks were placed round-robin: only the sum counts.
std::optional<double> sum_over_hosts(const json& value) {
    if (!value.is_array()) return number(value);
    double sum = 0;
    for (const json& item : value) sum += number(item).value_or(0);
    return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::string why_nothing(const json& metric) {
    if (!metric.is_object() || metric.empty())
        return "there is no metric in it: nothing was measured (data generation?)";
    return "there is neither train_throughput nor save_ or load_checkpoint_io in its metric: nothing that is compared";
}

void take_epochs(const json& metric, IngestedRun& run) {
    const auto au = numbers(member(metric, "train_au_percentage"));
    const auto rate = numbers(member(metric, "train_throughput_samples_per_second"));
    run.epochs.resize(std::max(au.size(), rate.size()));
    for (std::size_t i = 0; i < au.size(); ++i) run.epochs[i].au_percentage = au[i];
    for (std::size_t i = 0; i < rate.size(); ++i) run.epochs[i].samples_per_second = rate[i];
    run.au_percentage = number_at(metric, "train_au_mean_percentage");
    run.au_percentage_of_epochs = mean(au);
    if (!run.au_percentage && !member(metric, "train_au_mean_percentage").is_null())
        run.notes.push_back("train_au_mean_percentage is not a number");
    if (!run.au_percentage) run.au_percentage = run.au_percentage_of_epochs;
    for (std::size_t i = 0; i < au.size(); ++i)
        if (!au[i]) run.notes.push_back(fmt::format("AU of epoch {} is not a number", i + 1));
    run.samples_per_second = number_at(metric, "train_throughput_mean_samples_per_second");
    if (!run.samples_per_second) run.samples_per_second = mean(rate);
    run.nominal_MiB_per_second = number_at(metric, "train_io_mean_MB_per_second");
    if (!run.nominal_MiB_per_second)
        run.nominal_MiB_per_second = mean(numbers(member(metric, "train_io_throughput_MB_per_second")));
}

Status take_counts(const json& summary, const RunFolder& folder, IngestedRun& run) {
    auto accelerators = number_at(summary, "num_accelerators");
    if (!accelerators && !folder.rank_outputs.empty()) {
        accelerators = static_cast<double>(folder.rank_outputs.size());
        run.notes.push_back("num_accelerators is missing: as many as there are files of ranks");
    }
    if (!accelerators) return format_error(folder.summary.string(), "there is no num_accelerators in it");
    if (!(*accelerators >= 1 && *accelerators < 1e8))
        return format_error(folder.summary.string(), fmt::format("num_accelerators is {:g}", *accelerators));
    run.accelerator_count = static_cast<std::uint32_t>(*accelerators);
    const auto hosts = number_at(summary, "num_hosts");
    if (hosts && *hosts >= 1 && *hosts < 1e8) run.host_count = static_cast<std::uint32_t>(*hosts);
    run.start_time = text_at(summary, "start");
    run.end_time = text_at(summary, "end");
    const auto files = number_at(summary, "num_files_train"), samples = number_at(summary, "num_samples_per_file");
    if (files && *files > 0) run.sample_count = *files * samples.value_or(1);
    run.host_memory_GiB = sum_over_hosts(member(summary, "host_memory_GB"));
    if (run.host_memory_GiB && *run.host_memory_GiB <= 0) run.host_memory_GiB.reset();
    const auto size_per_host = number_at(summary, "data_size_per_host_GB");
    if (size_per_host && *size_per_host > 0 && run.host_count > 0) run.dataset_GiB = *size_per_host * run.host_count;
    return {};
}

void take_report(const Report* report, IngestedRun& run) {
    if (report == nullptr) return;
    const std::string where = "mlperf_storage_report.json";
    if (!report->model.empty()) run.declared.push_back({"workload", report->model, where});
    if (!report->accelerator.empty()) run.declared.push_back({"accelerator", report->accelerator, where});
    if (report->accelerator_count)
        run.declared.push_back({"accelerators", fmt::format("{:.0f}", *report->accelerator_count), where});
    run.report_mean_samples_per_second = report->mean_samples_per_second;
    if (run.samples_per_second) run.report_lacks_run = !report->has_run(*run.samples_per_second);
}

void take_row(const ReportRow* row, IngestedRun& run) {
    if (row == nullptr) return;
    if (!row->model.empty()) run.declared.push_back({"workload", row->model, "results.json"});
    if (!row->accelerator.empty()) run.declared.push_back({"accelerator", row->accelerator, "results.json"});
    run.report_mean_samples_per_second = row->samples_per_second;
}

// Empty where not every rank has a readable file: a part of them has no figure of the run.
std::vector<RankOutput> read_ranks(const RunFolder& folder, IngestedRun& run, std::vector<Problem>& problems) {
    std::vector<RankOutput> ranks;
    for (const auto& path : folder.rank_outputs) {
        if (auto rank = read_rank_output(path))
            ranks.push_back(std::move(*rank));
        else
            problems.push_back({path.string(), rank.error().message, "the file of a rank in JSON", true});
    }
    if (!folder.rank_outputs.empty() && ranks.size() != run.accelerator_count) {
        run.notes.push_back(fmt::format("files of {} ranks for {} accelerators: they were not used", ranks.size(),
                                        run.accelerator_count));
        ranks.clear();
    }
    return ranks;
}

// What folders' names say, so that it can be held against the files.
void take_names(const Place& place, IngestedRun& run) {
    for (const std::string& name : place.names) {
        const NameParts parts = parts_of_name(name);
        const std::string where = "the folder's name '" + name + "'";
        if (!parts.model.empty()) run.declared.push_back({"workload", parts.model, where});
        if (!parts.accelerator.empty()) run.declared.push_back({"accelerator", parts.accelerator, where});
        if (parts.accelerator_count > 0)
            run.declared.push_back({"accelerators", std::to_string(parts.accelerator_count), where});
        if (parts.hosts > 0) run.declared.push_back({"hosts", std::to_string(parts.hosts), where});
    }
}

void derive(IngestedRun& run) {
    if (run.nominal_MiB_per_second) {
        run.nominal_MB_per_second = to_MB(*run.nominal_MiB_per_second * static_cast<double>(kMiB));
    } else if (run.record_length_bytes && run.samples_per_second) {
        const double bytes_per_second = *run.samples_per_second * *run.record_length_bytes;
        run.nominal_MB_per_second = to_MB(bytes_per_second);
        run.nominal_MiB_per_second = to_MiB(bytes_per_second);
    }
    // data_size_per_host_GB is the same, but of samples that were divided by hosts without remainder.
    if (run.sample_count && run.record_length_bytes)
        run.dataset_GiB = to_GiB(*run.sample_count * *run.record_length_bytes);
    if (!run.think_time_s || !run.batch_size || *run.batch_size <= 0) return;
    const double per_sample = *run.think_time_s / *run.batch_size / run.accelerator_count;
    if (run.samples_per_second) run.effective_utilization_percentage = 100 * *run.samples_per_second * per_sample;
    double think_s = 0, wall_s = 0;
    for (const IngestedEpoch& epoch : run.epochs) {
        if (!epoch.samples_per_second || !epoch.block_s || !epoch.wall_s) return;
        think_s += *epoch.samples_per_second * per_sample * *epoch.block_s;
        wall_s += *epoch.wall_s;
    }
    if (wall_s > 0) run.whole_epoch_utilization_percentage = 100 * think_s / wall_s;
}

// Of a training: what report, epochs and ranks say besides. Answers the report that knows the run.
const Report* take_training(const RunFolder& folder, const Place& place, const RunSettings& settings,
                            const std::string& named, Surroundings& around, IngestedRun& run,
                            std::vector<Problem>& problems) {
    const Report* report = around.report_of(folder.folder, *run.samples_per_second, run.accelerator_count);
    take_report(report, run);
    if (report == nullptr) take_row(around.row_of(folder.folder, run.kind, run.accelerator_count), run);
    if (const NameParts parts = parts_of_name(named); !parts.model.empty()) {
        run.declared.push_back({"workload", parts.model, "summary.json"});
        if (!parts.accelerator.empty()) run.declared.push_back({"accelerator", parts.accelerator, "summary.json"});
    }
    if (!folder.epoch_stats.empty()) read_epoch_stats(folder.epoch_stats, run, problems);
    const std::vector<RankOutput> ranks = read_ranks(folder, run, problems);
    identify_workload(settings, place, mean_think_time_s(ranks), run);
    if (run.batch_size) run.ranks = combine_ranks(ranks, *run.batch_size);
    take_names(place, run);
    return report;
}

void take_checkpoint_settings(const RunSettings& settings, const Place& place, const ReportRow* row,
                              const std::string& named, IngestedRun& run) {
    take_row(row, run);
    if (!named.empty()) run.declared.push_back({"workload", named, "summary.json"});
    run.checkpoint->save.checkpoint_count = settings.checkpoint_writes;
    run.checkpoint->load.checkpoint_count = settings.checkpoint_reads;
    identify_checkpoint(settings.checkpoint_mode, place.names, run);
}

void take_surroundings(const Place& place, const RunSettings& settings, const Report* report, Surroundings& around,
                       IngestedRun& run) {
    run.edition = edition_of(settings, report, place, run.accelerator_model);
    run.division = place.division;
    run.submitter = place.submitter;
    run.system = place.system_folder;
    const SystemDescription* description = around.description_of(place);
    if (description == nullptr) return;
    run.description = *description;
    // A first folder that is called after the workload is none of a system's.
    const NameParts parts = parts_of_name(place.system_folder);
    const bool known = std::filesystem::path(description->path).stem().string() == place.system_folder;
    if (place.system_folder.empty() || (!known && !parts.model.empty()))
        run.system = std::filesystem::path(description->path).stem().string();
}

} // namespace

Expected<IngestedRun> read_reference_run(const RunFolder& folder, Surroundings& around,
                                         std::vector<Problem>& problems) {
    auto file = read_json(folder.summary);
    if (!file) return file.error();
    const json& summary = file->value;
    const json& metric = member(summary, "metric");
    const bool checkpoint = is_checkpoint_metric(metric);
    if (!checkpoint && (!metric.is_object() || (!metric.contains("train_throughput_samples_per_second") &&
                                                !metric.contains("train_throughput_mean_samples_per_second"))))
        return format_error(folder.summary.string(), why_nothing(metric));

    IngestedRun run;
    run.path = folder.folder.string();
    if (!file->repairs.empty()) run.notes.push_back("summary.json holds " + file->repairs + "; read after a repair");
    if (checkpoint) {
        run.kind = Kind::checkpoint;
        run.checkpoint = figures_of_metric(metric);
    } else {
        take_epochs(metric, run);
    }
    if (!checkpoint && !run.samples_per_second)
        return format_error(folder.summary.string(), "its samples/s are not numbers: nothing to compare");
    if (Status status = take_counts(summary, folder, run); !status) return status.error();

    const Place place = place_of(folder.folder);
    const RunSettings settings = read_settings(folder, run, problems);
    const Report* report = nullptr;
    if (checkpoint) {
        take_checkpoint_settings(settings, place, around.row_of(folder.folder, run.kind, run.accelerator_count),
                                 text_at(summary, "workload"), run);
    } else {
        report = take_training(folder, place, settings, text_at(summary, "workload"), around, run, problems);
    }
    take_surroundings(place, settings, report, around, run);
    if (!checkpoint) derive(run);
    return run;
}

} // namespace feedbench::ingest
