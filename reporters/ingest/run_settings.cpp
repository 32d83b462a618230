#include "reporters/ingest/run_settings.hpp"

#include <cmath>
#include <fmt/format.h>
#include <system_error>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/published_workloads.hpp"

namespace feedbench::ingest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<double> first_number(const json& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const auto value = number_at(object, key)) return value;
    return {};
}

// A model is a word in edition 1.0's configuration and an object with a name later.
std::string model_in(const json& object) {
    const json& model = member(object, "model");
    if (model.is_string()) return model_name(model.get<std::string>());
    const std::string name = text_at(model, "name");
    return name.empty() ? std::string() : model_name(name);
}

void declare(IngestedRun& run, const char* what, std::string value, const std::string& where) {
    if (!value.empty()) run.declared.push_back({what, std::move(value), where});
}

void take_checkpoint(const json& section, RunSettings& settings) {
    if (!settings.checkpoint_writes) settings.checkpoint_writes = number_at(section, "num_checkpoints_write");
    if (!settings.checkpoint_reads) settings.checkpoint_reads = number_at(section, "num_checkpoints_read");
    if (settings.checkpoint_mode.empty()) settings.checkpoint_mode = text_at(section, "mode");
}

void take_config(const json& file, RunSettings& settings, IngestedRun& run) {
    const json& workload = member(file, "workload").is_object() ? member(file, "workload") : file;
    declare(run, "workload", model_in(workload), "config.yaml");
    const json& think = member(member(workload, "train"), "computation_time");
    settings.think_time_s = think.is_object() ? number_at(think, "mean") : number(think);
    settings.batch_size = first_number(member(workload, "reader"), {"batch_size"});
    settings.record_length_bytes = first_number(member(workload, "dataset"), {"record_length_bytes", "record_length"});
    take_checkpoint(member(workload, "checkpoint"), settings);
    if (const auto bar = number_at(member(workload, "metric"), "au"))
        settings.au_bar_percentage = *bar <= 1 ? 100 * *bar : *bar;
}

// The first thing that a file says; empty: none says it.
std::string declared(const IngestedRun& run, std::string_view what) {
    for (const Declared& one : run.declared)
        if (one.what == what) return one.value;
    return {};
}

bool differs(const std::optional<double>& found, double published) {
    return found && std::abs(*found / published - 1) > 1e-3;
}

void set_variant(const PublishedWorkload& published, IngestedRun& run) {
    if (!differs(run.batch_size, published.batch_size) && !differs(run.think_time_s, published.think_time_s) &&
        !differs(run.record_length_bytes, published.record_length_bytes))
        return;
    run.variant =
        fmt::format("batch {:.10g}, think {:.10g} s, record {:.10g} bytes",
                    run.batch_size.value_or(published.batch_size), run.think_time_s.value_or(published.think_time_s),
                    run.record_length_bytes.value_or(published.record_length_bytes));
}

} // namespace

RunSettings read_settings(const RunFolder& folder, IngestedRun& run, std::vector<Problem>& problems) {
    RunSettings settings;
    if (!folder.config.empty()) {
        if (auto file = read_yaml(folder.config))
            take_config(*file, settings, run);
        else
            problems.push_back({folder.config.string(), file.error().message, "the run's configuration", true});
    }
    if (!folder.metadata.empty()) {
        if (auto file = read_json(folder.metadata)) {
            settings.has_metadata = true;
            const json& top = file->value;
            const std::string where = folder.metadata.filename().string();
            std::string model = model_in(top);
            if (model.empty()) model = model_in(member(top, "parameters"));
            declare(run, "workload", model, where);
            take_checkpoint(member(member(top, "parameters"), "checkpoint"), settings);
            const std::string accelerator = text_at(top, "accelerator");
            if (!accelerator.empty()) declare(run, "accelerator", accelerator_name(accelerator), where);
            for (const char* key : {"mlpstorage_version", "version", "benchmark_version"})
                if (settings.tool_version.empty()) settings.tool_version = text_at(top, key);
        } else {
            problems.push_back({folder.metadata.string(), file.error().message, "the run's metadata in JSON", true});
        }
    }
    return settings;
}

void identify_workload(const RunSettings& settings, const Place& place, std::optional<double> sleep_s,
                       IngestedRun& run) {
    run.batch_size = settings.batch_size;
    run.think_time_s = settings.think_time_s;
    run.record_length_bytes = settings.record_length_bytes;
    if (!run.record_length_bytes && run.nominal_MiB_per_second && run.samples_per_second && *run.samples_per_second > 0)
        run.record_length_bytes = *run.nominal_MiB_per_second * 1048576 / *run.samples_per_second;

    NameParts named;
    for (const std::string& name : place.names) {
        const NameParts parts = parts_of_name(name);
        if (!parts.model.empty()) named.model = parts.model;
        if (!parts.accelerator.empty()) named.accelerator = parts.accelerator;
    }
    run.workload = declared(run, "workload");
    if (run.workload.empty() && run.record_length_bytes) {
        run.workload = model_of_record_length(*run.record_length_bytes);
        if (!run.workload.empty())
            run.notes.push_back("no file names the workload: it follows from the record length, " +
                                fmt::format("{:.0f} bytes", *run.record_length_bytes));
    }
    if (run.workload.empty() && !named.model.empty()) {
        run.workload = named.model;
        run.notes.push_back("no file names the workload: only a folder's name does");
    }

    run.accelerator_model = declared(run, "accelerator");
    const auto imply = [&](std::string_view accelerator, std::string_view from) {
        if (!run.accelerator_model.empty() || accelerator.empty()) return;
        run.accelerator_model = accelerator;
        run.notes.push_back(fmt::format("no file names the accelerator: {} fits {}", accelerator, from));
    };
    if (settings.think_time_s && run.accelerator_model.empty()) // a setting of the run, not a guess
        run.accelerator_model = accelerator_of_think_time(run.workload, *settings.think_time_s);
    if (sleep_s) imply(accelerator_of_think_time(run.workload, *sleep_s), "the length of the ranks' sleeps");
    if (run.au_percentage && run.samples_per_second)
        imply(accelerator_of_figures(run.workload, *run.au_percentage, *run.samples_per_second, run.accelerator_count),
              "AU and samples/s");
    imply(named.accelerator, "a folder's name, and nothing else says so");

    if (const PublishedWorkload* published = find_published(run.workload, run.accelerator_model)) {
        set_variant(*published, run);
        if (!run.batch_size) run.batch_size = published->batch_size;
        if (!run.think_time_s) run.think_time_s = published->think_time_s;
        if (!run.record_length_bytes) run.record_length_bytes = published->record_length_bytes;
    }
    run.au_bar_percentage = settings.au_bar_percentage;
    if (!run.au_bar_percentage)
        for (const PublishedWorkload& one : published_workloads())
            if (one.model == run.workload) run.au_bar_percentage = one.au_bar_percentage;
}

std::string edition_of(const RunSettings& settings, const Report* report, const Place& place,
                       const std::string& accelerator_model) {
    if (report != nullptr) return "1.0";
    std::error_code ignored;
    const bool submission_3 = !place.root.empty() && fs::exists(place.root / "submission.yaml", ignored);
    if (settings.tool_version.starts_with("3") || submission_3) return "3.0";
    if (settings.tool_version.starts_with("2")) return "2.0";
    if (!settings.has_metadata) return {};
    return accelerator_model == "b200" || accelerator_model == "mi355" ? "3.0" : "2.0";
}

} // namespace feedbench::ingest
