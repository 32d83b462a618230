#include "reporters/submission/edition_facts.hpp"

#include <array>
#include <cctype>

#include "reporters/ingest/published_workloads.hpp"

namespace feedbench::submission {
namespace {

constexpr std::array kEditions{
    EditionFacts{"1.0", k10, 5, 5, 0, false, {}, false},
    EditionFacts{"2.0", k20, 5, 6, 6, true, {}, false},
    EditionFacts{"3.0", k30, 6, 6, 6, true, 30, true},
};

constexpr std::array kWorkloads{
    WorkloadFacts{"unet3d", k10 | k20, kTraining, "a100 h100", 90},
    WorkloadFacts{"resnet50", k10 | k20, kTraining, "a100 h100", 90},
    WorkloadFacts{"cosmoflow", k10 | k20, kTraining, "a100 h100", 70},
    WorkloadFacts{"unet3d", k30, kTraining, "b200 mi355", 90},
    WorkloadFacts{"retinanet", k30, kTraining, "b200 mi355", 85},
    WorkloadFacts{"llama3-8b", k20 | k30, kCheckpoint, "", 0},
    WorkloadFacts{"llama3-70b", k20 | k30, kCheckpoint, "", 0},
    WorkloadFacts{"llama3-405b", k20 | k30, kCheckpoint, "", 0},
    WorkloadFacts{"llama3-1t", k20 | k30, kCheckpoint, "", 0},
};

} // namespace

std::span<const EditionFacts> editions() { return kEditions; }
std::span<const WorkloadFacts> workloads() { return kWorkloads; }

const EditionFacts* find_edition(std::string_view name) {
    for (const EditionFacts& edition : kEditions)
        if (edition.name == name) return &edition;
    return nullptr;
}

std::string edition_names(unsigned bits) {
    std::string names;
    for (const EditionFacts& edition : kEditions)
        if ((edition.bit & bits) != 0) names += (names.empty() ? "" : ", ") + std::string(edition.name);
    return names;
}

std::string division_names(unsigned bits) {
    return bits == kBoth ? "closed, open" : bits == kClosed ? "closed" : bits == kOpen ? "open" : "none";
}

std::optional<unsigned> division_of(std::string_view name) {
    if (name == "closed") return kClosed;
    if (name == "open") return kOpen;
    return {};
}

const WorkloadFacts* find_workload(const EditionFacts& edition, std::string_view model) {
    for (const WorkloadFacts& workload : kWorkloads)
        if (workload.model == model && (workload.editions & edition.bit) != 0) return &workload;
    return nullptr;
}

std::string workload_names(const EditionFacts& edition) {
    std::string names;
    for (const WorkloadFacts& workload : kWorkloads)
        if ((workload.editions & edition.bit) != 0) {
            names += (names.empty() ? "" : ", ") + std::string(workload.model);
            if (!workload.accelerators.empty()) names += " (" + std::string(workload.accelerators) + ")";
        }
    return names;
}

bool has_accelerator(const WorkloadFacts& workload, std::string_view accelerator) {
    const std::string padded = " " + std::string(workload.accelerators) + " ";
    return !accelerator.empty() && padded.find(" " + std::string(accelerator) + " ") != std::string::npos;
}

std::string folder_model(std::string_view model) {
    std::string name;
    for (const char c : model) name += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name.starts_with("llama-")) name.insert(5, "3");
    return name.starts_with("llama3-") ? name : ingest::model_name(model);
}

std::string profile_name(std::string_view model, std::string_view accelerator) {
    std::string name = folder_model(model);
    if (name.starts_with("llama3-")) {
        name[6] = '_';
        return name;
    }
    return accelerator.empty() ? name : name + "_" + std::string(accelerator);
}

} // namespace feedbench::submission
