// Rules on a single run.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/dataset/sizing.hpp"
#include "reporters/submission/rules.hpp"

namespace feedbench::submission {

void check_workload(const RunFacts& run, const Scene& scene, Report& report) {
    const WorkloadFacts* workload = find_workload(scene.edition, run.model);
    const std::string expected =
        fmt::format("one of edition {}: {}", scene.edition.name, workload_names(scene.edition));
    if (workload == nullptr || workload->kinds != run.kind)
        return report.finding(run.path,
                              fmt::format("{} '{}'", run.kind == kCheckpoint ? "checkpoints of" : "training of",
                                          run.model.empty() ? "(no file says the model)" : run.model),
                              expected);
    if (!workload->accelerators.empty() && !has_accelerator(*workload, run.accelerator))
        report.finding(run.path,
                       fmt::format("{} with accelerator '{}'", run.model,
                                   run.accelerator.empty() ? "(none said)" : run.accelerator),
                       expected);
}

void check_parameters(const RunFacts& run, const Scene& scene, Report& report) {
    const WorkloadFacts* workload = find_workload(scene.edition, run.model);
    if (workload == nullptr || (!workload->accelerators.empty() && !has_accelerator(*workload, run.accelerator)))
        return; // said by workload_unknown: there is nothing to hold it against
    if (!run.changes) return report.unknown(run.path, run.changes_reason);
    for (const ParameterChange& change : *run.changes)
        if (const std::string right = objection(change, scene.edition, scene.division, run.model); !right.empty())
            report.finding(run.path, fmt::format("{} = {}", change.key, change.value), right);
}

void check_workflow(const RunFacts& run, const Scene& scene, Report& report) {
    if (run.kind == kTraining) {
        if (run.trains && !*run.trains) report.finding(run.path, "workflow.train = false", "true in a training run");
        if (run.generates && *run.generates)
            report.finding(run.path, "workflow.generate_data = true", "false: data are generated before, by itself");
        if (scene.edition.bit == k20 && run.model == "unet3d" && run.checkpoints && !*run.checkpoints)
            report.finding(run.path, "workflow.checkpoint = false", "true: edition 2.0 wants unet3d's checkpoint");
        if (!run.trains) report.unknown(run.path, "no file says workflow.train");
        return;
    }
    if (run.trains && *run.trains) report.finding(run.path, "workflow.train = true", "false in a checkpoint run");
    if (run.checkpoints && !*run.checkpoints)
        report.finding(run.path, "workflow.checkpoint = false", "true in a checkpoint run");
    if (!run.checkpoints) report.unknown(run.path, "no file says workflow.checkpoint");
}

// Worked example (also a test): 4 hosts of 754 GB, records of 322957 bytes: 50,136,788 samples.
void check_dataset_size(const RunFacts& run, const Scene&, Report& report) {
    if (!run.file_count || !run.samples_per_file || !run.record_length_bytes || !run.batch_size ||
        !run.accelerator_count)
        return report.unknown(run.path, "files, samples, record length, batch or accelerators are not said");
    if (!run.host_memory_GiB || !run.host_count) return; // said by host_memory_unknown
    DatasetSection section;
    section.num_samples_per_file = static_cast<std::uint32_t>(*run.samples_per_file);
    section.record_length_bytes = *run.record_length_bytes;
    dataset::SizingRequest request;
    request.accelerator_count = *run.accelerator_count;
    request.batch_size = static_cast<std::uint32_t>(*run.batch_size);
    request.host_count = *run.host_count;
    // The official tool takes whole GB of a host. A sum that was divided again may be an ulp too small.
    const double memory_GB = *run.host_memory_GiB / *run.host_count;
    request.memory_GB_per_host = memory_GB >= 1 ? std::floor(memory_GB + 1e-6) : memory_GB;
    const auto least = dataset::size_dataset(section, request);
    if (!least) return report.unknown(run.path, least.error().message);
    if (*run.file_count >= least->file_count) return;
    report.finding(run.path,
                   fmt::format("{} files of {} samples: {:.1f} steps", *run.file_count, *run.samples_per_file,
                               static_cast<double>(*run.file_count * *run.samples_per_file) /
                                   (*run.batch_size * *run.accelerator_count)),
                   fmt::format("at least {} files: {}", least->file_count,
                               least->memory_decides ? fmt::format("5 x {:g} GiB of memory of {} host{}",
                                                                   request.memory_GB_per_host * *run.host_count,
                                                                   *run.host_count, *run.host_count == 1 ? "" : "s")
                                                     : "500 steps"));
}

void check_au(const RunFacts& run, const Scene& scene, Report& report) {
    const WorkloadFacts* workload = find_workload(scene.edition, run.model);
    if (run.is_warm_up || workload == nullptr || !run.has_ended) return;
    if (!run.au_percentage) return report.finding(run.path, "no mean AU", "train_au_mean_percentage of every run");
    if (*run.au_percentage < workload->au_bar_percentage)
        report.finding(run.path, fmt::format("AU {:.4f} %", *run.au_percentage),
                       fmt::format("at least {:.0f} % for {}", workload->au_bar_percentage, run.model));
}

void check_even_accelerators(const RunFacts& run, const Scene&, Report& report) {
    const auto& hosts = run.accelerators_of_hosts;
    if (!hosts.empty()) {
        const auto [least, most] = std::minmax_element(hosts.begin(), hosts.end());
        if (*least != *most)
            report.finding(run.path, fmt::format("{} to {} accelerators a host", *least, *most),
                           "the same number on every host");
    } else if (run.accelerator_count && run.host_count) {
        if (*run.accelerator_count % *run.host_count != 0)
            report.finding(run.path,
                           fmt::format("{} accelerators on {} hosts", *run.accelerator_count, *run.host_count),
                           "the same number on every host");
    } else {
        report.unknown(run.path, "accelerators or hosts are not said");
    }
}

void check_results_place(const RunFacts& run, const Scene&, Report& report) {
    if (!run.results_on_storage)
        return report.unknown(run.path, "no file says on which filesystems data and results lay");
    if (*run.results_on_storage)
        report.finding(run.path, "results and data on one filesystem", "results elsewhere (--results-dir)");
}

void check_host_memory(const RunFacts& run, const Scene&, Report& report) {
    if (!run.host_memory_GiB || !run.host_count)
        report.finding(run.path, "the hosts' memory is not said", "host_memory_GB of every client host");
}

void check_validity(const RunFacts& run, const Scene&, Report& report) {
    std::string reasons;
    for (const std::string& reason : run.invalid_reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
    if (!reasons.empty()) report.finding(run.path, reasons, "a complete run that is valid");
}

void check_scale(const RunFacts& run, const Scene&, Report& report) {
    if (run.model_scale && *run.model_scale != 1)
        report.finding(run.path, fmt::format("model.scale = {:g}", *run.model_scale), "1: the model as published");
}

void check_agreement(const RunFacts& run, const Scene&, Report& report) {
    std::string all;
    for (const std::string& one : run.disagreements) all += (all.empty() ? "" : "; ") + one;
    if (!all.empty()) report.finding(run.path, all, "the same in both, as feedbench wrote them");
}

void check_edition(const RunFacts& run, const Scene& scene, Report& report) {
    if (!run.edition.empty() && run.edition != scene.edition.name)
        report.finding(run.path, "measured for edition " + run.edition,
                       fmt::format("edition {} (run --edition {})", scene.edition.name, scene.edition.name));
}

} // namespace feedbench::submission
