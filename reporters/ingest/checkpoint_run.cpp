#include "reporters/ingest/checkpoint_run.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/types/units.hpp"
#include "reporters/ingest/lenient_json.hpp"

namespace feedbench::ingest {
namespace {

using nlohmann::json;

struct PublishedCheckpoint {
    std::string_view model, end_of_name; // of a name without separators
    double size_GiB;                     // all ranks, by the formulas of reference facts section 5
};
// "70b" before "0b" would be: the longer endings first.
constexpr std::array kCheckpoints{
    PublishedCheckpoint{"llama3-405b", "405b", 5292.2487},
    PublishedCheckpoint{"llama3-70b", "70b", 911.2121},
    PublishedCheckpoint{"llama3-8b", "8b", 104.7045},
    PublishedCheckpoint{"llama3-1t", "1t", 15426.5893},
};

const PublishedCheckpoint* published(std::string_view model) {
    for (const PublishedCheckpoint& one : kCheckpoints)
        if (one.model == model) return &one;
    return nullptr;
}

bool near(double found, double published) { return std::abs(found / published - 1) < 0.01; }

CheckpointSide side_of(const json& metric, const std::string& name, std::optional<double> size_GiB) {
    CheckpointSide side;
    side.GiB_per_second_mean_of_rates = number_at(metric, (name + "_checkpoint_io_mean_GB_per_second").c_str());
    side.duration_s = number_at(metric, (name + "_checkpoint_duration_mean_seconds").c_str());
    if (size_GiB && side.duration_s && *side.duration_s > 0) side.GiB_per_second = *size_GiB / *side.duration_s;
    return side;
}

CheckpointSide side_of(const std::vector<CheckpointResult>& checkpoints, std::string_view kind, double& bytes_each) {
    CheckpointSide side;
    double count = 0, bytes = 0, time_s = 0, rates = 0;
    for (const CheckpointResult& one : checkpoints) {
        if (one.kind != kind || (kind == "write" && !one.committed) || !(one.duration_s > 0)) continue;
        ++count;
        bytes += static_cast<double>(one.bytes);
        time_s += one.duration_s;
        rates += static_cast<double>(one.bytes) / one.duration_s;
    }
    side.checkpoint_count = count;
    if (count == 0) return side;
    side.duration_s = time_s / count;
    side.GiB_per_second = to_GiB(bytes / time_s);
    side.GiB_per_second_mean_of_rates = to_GiB(rates / count);
    bytes_each = bytes / count;
    return side;
}

// No file says how large a checkpoint was: the model does.
void take_size(double size_GiB, IngestedRun& run) {
    run.checkpoint->size_GiB = size_GiB;
    for (CheckpointSide* side : {&run.checkpoint->save, &run.checkpoint->load})
        if (side->duration_s && *side->duration_s > 0) side->GiB_per_second = size_GiB / *side->duration_s;
    run.notes.push_back(fmt::format("no file says how large a checkpoint was: the model's {:.1f} GiB", size_GiB));
}

} // namespace

bool is_checkpoint_metric(const json& metric) {
    if (!metric.is_object()) return false;
    for (const auto& [key, value] : metric.items()) {
        if (key.starts_with("train_")) return false; // the checkpoints of a training
    }
    return metric.contains("save_checkpoint_io_mean_GB_per_second") ||
           metric.contains("load_checkpoint_io_mean_GB_per_second");
}

CheckpointFigures figures_of_metric(const json& metric) {
    CheckpointFigures figures;
    figures.size_GiB = number_at(metric, "checkpoint_size_GB");
    figures.save = side_of(metric, "save", figures.size_GiB);
    figures.load = side_of(metric, "load", figures.size_GiB);
    return figures;
}

CheckpointFigures figures_of_checkpoints(const std::vector<CheckpointResult>& checkpoints) {
    CheckpointFigures figures;
    double bytes_each = 0;
    figures.load = side_of(checkpoints, "read", bytes_each);
    figures.save = side_of(checkpoints, "write", bytes_each);
    if (bytes_each > 0) figures.size_GiB = to_GiB(bytes_each);
    return figures;
}

std::string checkpoint_model(std::string_view text) {
    std::string word;
    for (const char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!word.starts_with("llama")) return {};
    if (const std::size_t zero = word.find("zero"); zero != std::string::npos) word.resize(zero);
    for (const PublishedCheckpoint& one : kCheckpoints)
        if (word.ends_with(one.end_of_name)) return std::string(one.model);
    return {};
}

void identify_checkpoint(const std::string& mode, const std::vector<std::string>& folder_names, IngestedRun& run) {
    for (Declared& one : run.declared) {
        if (one.what != "workload") continue;
        if (const std::string model = checkpoint_model(one.value); !model.empty()) one.value = model;
        if (run.workload.empty()) run.workload = one.value;
    }
    const double size_GiB = run.checkpoint ? run.checkpoint->size_GiB.value_or(0) : 0; // 0: not said
    if (run.workload.empty() && size_GiB > 0)
        for (const PublishedCheckpoint& one : kCheckpoints) {
            if (!near(size_GiB, one.size_GiB)) continue;
            run.workload = one.model;
            run.notes.push_back(
                fmt::format("no file names the model: it follows from the checkpoint's {:.1f} GiB", size_GiB));
        }
    for (const std::string& name : folder_names) {
        const std::string model = checkpoint_model(name);
        if (model.empty()) continue;
        if (run.workload.empty()) {
            run.workload = model;
            run.notes.push_back("no file names the model: only a folder's name does");
        }
        run.declared.push_back({"workload", model, "the folder's name '" + name + "'"});
    }
    const PublishedCheckpoint* known = published(run.workload);
    if (run.checkpoint && size_GiB <= 0 && known != nullptr && mode != "subset") take_size(known->size_GiB, run);
    if (mode == "subset")
        run.variant = "subset";
    else if (known != nullptr && size_GiB > 0 && !near(size_GiB, known->size_GiB))
        run.variant = fmt::format("checkpoint of {:.4g} GiB", size_GiB);
    else if (known == nullptr && size_GiB > 0)
        run.variant = fmt::format("checkpoint of {:.4g} GiB", size_GiB);
}

} // namespace feedbench::ingest
