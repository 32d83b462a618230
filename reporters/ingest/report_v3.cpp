#include "reporters/ingest/report_v3.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/types/units.hpp"
#include "reporters/ingest/checkpoint_run.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/published_workloads.hpp"

namespace feedbench::ingest {
namespace {

using nlohmann::json;

std::uint32_t count_of(const std::optional<double>& value) {
    return value && *value >= 1 && *value < 1e8 ? static_cast<std::uint32_t>(*value) : 0;
}

ReportRow row_of(const json& one, bool checkpoint) {
    ReportRow row;
    row.submitter = text_at(one, "orgname");
    row.system = text_at(one, "systemname");
    row.division = text_at(one, "category");
    row.issues = text_at(one, "issues");
    row.rack_units = number_at(one, "sut_rus");
    const std::string model = text_at(one, "model");
    if (checkpoint) {
        row.kind = Kind::checkpoint;
        const std::string known = checkpoint_model(model);
        row.model = known.empty() ? model : known;
        row.host_count = number_at(one, "checkpoint_num_client_nodes");
        row.mode = text_at(one, "checkpoint_mode") == "Subset" ? "subset" : "";
        row.checkpoint.save.GiB_per_second_mean_of_rates = number_at(one, "checkpoint_write_bw_gibps");
        row.checkpoint.load.GiB_per_second_mean_of_rates = number_at(one, "checkpoint_read_bw_gibps");
        row.checkpoint.save.duration_s = number_at(one, "checkpoint_write_duration_secs");
        row.checkpoint.load.duration_s = number_at(one, "checkpoint_read_duration_secs");
        return row;
    }
    row.model = model.empty() ? "" : model_name(model);
    const std::string accelerator = text_at(one, "accelerator");
    row.accelerator = accelerator.empty() ? "" : accelerator_name(accelerator);
    row.accelerator_count = number_at(one, "train_num_simulated_accelerators");
    row.host_count = number_at(one, "train_num_client_nodes");
    row.au_percentage = number_at(one, "train_mean_of_au_percentage");
    row.samples_per_second = number_at(one, "train_mean_of_throughput_samples_per_second");
    if (const auto rate = number_at(one, "train_read_bw_gibps")) row.read_MiB_per_second = 1024 * *rate;
    return row;
}

void take_training(const ReportRow& row, IngestedRun& run) {
    run.accelerator_model = row.accelerator;
    run.au_percentage = row.au_percentage;
    run.samples_per_second = row.samples_per_second;
    const PublishedWorkload* published = find_published(run.workload, run.accelerator_model);
    if (published != nullptr) {
        run.au_bar_percentage = published->au_bar_percentage;
        run.think_time_s = published->think_time_s;
        run.batch_size = published->batch_size;
        run.record_length_bytes = published->record_length_bytes;
        run.effective_utilization_percentage =
            100 * *row.samples_per_second * published->think_time_s / published->batch_size / run.accelerator_count;
    }
    run.nominal_MiB_per_second = row.read_MiB_per_second;
    if (!run.nominal_MiB_per_second && published != nullptr)
        run.nominal_MiB_per_second = to_MiB(*row.samples_per_second * published->record_length_bytes);
    if (run.nominal_MiB_per_second)
        run.nominal_MB_per_second = to_MB(*run.nominal_MiB_per_second * static_cast<double>(kMiB));
}

} // namespace

Expected<std::vector<ReportRow>> parse_report_v3(const json& file, const std::string& path) {
    if (!file.is_array()) return format_error(path, "the top level is not a list of rows");
    std::vector<ReportRow> rows;
    for (std::size_t i = 0; i < file.size(); ++i) {
        if (!file[i].is_object()) return format_error(path, fmt::format("row {} is not an object", i + 1));
        const std::string type = text_at(file[i], "benchmark_type");
        if (type.empty()) return format_error(path, fmt::format("row {} names no benchmark_type", i + 1));
        if (type == "training" || type == "checkpointing") rows.push_back(row_of(file[i], type == "checkpointing"));
    }
    return rows;
}

std::optional<IngestedRun> run_of_row(const ReportRow& row, const std::string& path) {
    IngestedRun run;
    run.path = path;
    run.kind = row.kind;
    run.is_mean = true;
    run.workload = row.model;
    run.edition = "3.0";
    run.submitter = row.submitter;
    run.system = row.system;
    run.division = row.division == "closed" || row.division == "open" ? row.division : "";
    run.host_count = count_of(row.host_count);
    run.description.rack_units = row.rack_units;
    run.notes.push_back("only results.json is there: its means stand for the runs" +
                        (row.issues.empty() ? std::string() : "; it says: " + row.issues));
    if (row.kind == Kind::checkpoint) {
        const auto has = [](const CheckpointSide& side) {
            return side.GiB_per_second_mean_of_rates || side.duration_s;
        };
        if (!has(row.checkpoint.save) && !has(row.checkpoint.load)) return {};
        run.checkpoint = row.checkpoint;
        identify_checkpoint(row.mode, {}, run);
        return run;
    }
    run.accelerator_count = count_of(row.accelerator_count);
    if (!row.samples_per_second || run.accelerator_count == 0) return {};
    take_training(row, run);
    return run;
}

} // namespace feedbench::ingest
