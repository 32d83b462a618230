// Facts of a run from the files in its folder: result.json where feedbench measured, else summary.json and what the
// reference tool writes beside it.
//
// Source: summary.json (reference facts, section 4); dlio_config/overrides.yaml: a list of "++workload.key=value".
#include <cmath>
#include <fmt/format.h>
#include <system_error>

#include "reporters/ingest/epoch_stats.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/light_result.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_json.hpp"
#include "reporters/submission/run_facts.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<std::string_view, 2> kNotAsked{"slices", "histograms"};

// The configuration stays, unlike in a comparison.
Expected<RunResult> read_result(const fs::path& path) {
    auto text = ingest::read_text(path, std::uintmax_t{1} << 30);
    if (!text) return text.error();
    return reporters::from_json(ingest::without_arrays(*text, kNotAsked), path.string());
}

bool differ(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && std::abs(*a - *b) > 1e-6 * std::max(1.0, std::abs(*a));
}

void hold_against(const RunResult& result, const json& summary, RunFacts& facts) {
    const json& metric = ingest::member(summary, "metric");
    const auto compare = [&](const char* key, const std::optional<double>& in_result,
                             const std::optional<double>& in_summary) {
        if (differ(in_result, in_summary))
            facts.disagreements.push_back(
                fmt::format("{} is {:.10g} in summary.json and {:.10g} in result.json", key, *in_summary, *in_result));
    };
    compare("num_accelerators", result.accelerator_count, ingest::number_at(summary, "num_accelerators"));
    compare("num_hosts", static_cast<double>(result.hosts.size()), ingest::number_at(summary, "num_hosts"));
    if (facts.kind != kTraining) return;
    compare("num_files_train", static_cast<double>(result.num_files_train),
            ingest::number_at(summary, "num_files_train"));
    compare("train_au_mean_percentage", facts.au_percentage, ingest::number_at(metric, "train_au_mean_percentage"));
    compare("train_throughput_mean_samples_per_second", facts.samples_per_second,
            ingest::number_at(metric, "train_throughput_mean_samples_per_second"));
}

// "++workload.dataset.num_files_train=3500" -> key and value; nothing for "workload=unet3d_h100".
std::optional<ParameterChange> override_of(std::string text) {
    while (text.starts_with('+')) text.erase(0, 1);
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || !text.starts_with("workload.")) return {};
    return ParameterChange{text.substr(9, equals - 9), text.substr(equals + 1), ""};
}

void take_overrides(const fs::path& path, RunFacts& facts, std::vector<ingest::Problem>& problems) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {
        facts.changes_reason = "there is no overrides.yaml beside its config.yaml";
        return;
    }
    const auto file = ingest::read_yaml(path);
    if (!file || !(file->is_array() || file->is_null())) {
        problems.push_back(
            {path.string(), file ? "no list" : file.error().message, "a list of overrides as hydra writes it", false});
        facts.changes_reason = "overrides.yaml cannot be read";
        return;
    }
    facts.changes.emplace();
    for (const json& entry : *file)
        if (entry.is_string())
            if (auto change = override_of(entry.get<std::string>())) facts.changes->push_back(std::move(*change));
}

void take_settings(const ingest::RunFolder& folder, RunFacts& facts, std::vector<ingest::Problem>& problems) {
    if (folder.config.empty()) {
        facts.changes_reason = "there is no configuration beside it (dlio_config, configs or .hydra)";
        return;
    }
    take_overrides(folder.config.parent_path() / "overrides.yaml", facts, problems);
    const auto file = ingest::read_yaml(folder.config);
    if (!file) return; // ingest names it
    const json& workload = ingest::member(*file, "workload").is_object() ? ingest::member(*file, "workload") : *file;
    const json& flow = ingest::member(workload, "workflow");
    const auto flag = [](const json& object, const char* key) -> std::optional<bool> {
        const std::string text = ingest::text_at(object, key);
        if (text.empty()) return {};
        return text == "true" || text == "True";
    };
    facts.trains = flag(flow, "train");
    facts.generates = flag(flow, "generate_data");
    facts.checkpoints = flag(flow, "checkpoint");
    const json& checkpoint = ingest::member(workload, "checkpoint");
    facts.checkpoint_fsync = flag(checkpoint, "fsync");
    const auto count = [&](const char* key) -> std::optional<std::int64_t> {
        const auto value = ingest::number_at(checkpoint, key);
        return value ? std::optional(std::max<std::int64_t>(0, static_cast<std::int64_t>(*value))) : std::nullopt;
    };
    facts.checkpoint_writes = count("num_checkpoints_write");
    facts.checkpoint_reads = count("num_checkpoints_read");
    const std::string name = ingest::text_at(ingest::member(workload, "model"), "name");
    if (facts.model.empty() && !name.empty()) facts.model = folder_model(name);
}

// Checkpoints inside training leave both kinds of figures: that is training.
bool is_checkpoint(const json& summary) {
    const json& metric = ingest::member(summary, "metric");
    if (!metric.is_object() || ingest::number_at(metric, "train_throughput_mean_samples_per_second")) return false;
    for (const auto& [key, value] : metric.items())
        if (key.find("checkpoint") != std::string::npos) return true;
    return false;
}

void take_summary(const json& summary, RunFacts& facts) {
    const auto count = [&](const char* key) -> std::optional<std::uint32_t> {
        const auto value = ingest::number_at(summary, key);
        return value && *value >= 1 && *value < 1e8 ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
    };
    facts.accelerator_count = facts.rank_count = count("num_accelerators");
    facts.host_count = count("num_hosts");
    if (facts.kind == kTraining) {
        facts.file_count = count("num_files_train");
        facts.samples_per_file = count("num_samples_per_file");
    }
    double memory = 0;
    const json& memories = ingest::member(summary, "host_memory_GB");
    if (memories.is_array())
        for (const json& one : memories) memory += ingest::number(one).value_or(0);
    if (memory > 0) facts.host_memory_GiB = memory;
    facts.start_s = ingest::seconds_of_time(ingest::text_at(summary, "start"));
    facts.end_s = ingest::seconds_of_time(ingest::text_at(summary, "end"));
}

} // namespace

RunFacts facts_of(const ingest::RunFolder& folder, const ingest::IngestedRun* ingested, PublishedProfiles& profiles,
                  std::vector<ingest::Problem>& problems) {
    const std::string path = folder.folder.string();
    json summary;
    if (!folder.summary.empty()) {
        if (auto file = ingest::read_json(folder.summary))
            summary = std::move(file->value);
        else if (!folder.result.empty()) // else ingest has read it, and named it
            problems.push_back({folder.summary.string(), file.error().message, "summary.json of the run", false});
    }
    if (!folder.result.empty()) {
        if (const auto result = read_result(folder.result)) {
            RunFacts facts = facts_of(*result, path, profiles);
            hold_against(*result, summary, facts);
            return facts;
        }
        // ingest has named the file; what the summary says is still looked at
    }
    RunFacts facts;
    facts.path = path;
    facts.tool = folder.result.empty() ? Tool::reference : Tool::feedbench;
    facts.kind = is_checkpoint(summary) ? kCheckpoint : kTraining;
    facts.is_unreadable = !summary.is_object();
    if (facts.is_unreadable) return facts;
    take_summary(summary, facts);
    if (ingested != nullptr) {
        facts.workload = ingested->workload;
        facts.model = folder_model(ingested->workload);
        facts.accelerator = ingested->accelerator_model;
        facts.edition = ingested->edition;
        facts.record_length_bytes = ingested->record_length_bytes;
        facts.batch_size = ingested->batch_size;
        facts.au_percentage = ingested->au_percentage;
        facts.samples_per_second = ingested->samples_per_second;
    }
    take_settings(folder, facts, problems);
    if (ingested != nullptr && !ingested->variant.empty()) {
        if (!facts.changes) facts.changes.emplace();
        facts.changes->push_back({"the workload itself", ingested->variant, ""});
    }
    if (facts.model.empty() && facts.kind == kCheckpoint) // checkpointing/<model>/<stamp>
        facts.model = folder_model(folder.folder.parent_path().filename().string());
    return facts;
}

} // namespace feedbench::submission
