// Single defects of golden trees: what is wrong, and which rule must say it.
#pragma once

#include "defect.hpp"

namespace feedbench::submission::test {

inline const std::vector<Defect>& defects() {
    static const std::vector<Defect> kAll{
        // What was run.
        {"an OPEN-only parameter in CLOSED", "2.0", "unet3d", "h100", "parameter_not_allowed",
         all_with("reader.data_loader=native")},
        {"a parameter that nobody may change, in OPEN",
         "1.0",
         "cosmoflow",
         "a100",
         "parameter_not_allowed",
         all_with("train.epochs=3"),
         {},
         "open"},
        {"too much prefetching", "3.0", "unet3d", "b200", "parameter_not_allowed", all_with("reader.prefetch_size=3")},
        {"O_DIRECT where the rules do not have it", "2.0", "resnet50", "h100", "parameter_not_allowed",
         all_with("reader.odirect=True")},
        {"edition 2.0 without unet3d's checkpoint", "2.0", "unet3d", "a100", "workflow",
         all_with("workflow.checkpoint=False")},
        {"a scaled model", "2.0", "llama3-8b", "", "model_scaled", all_with("model.scale=0.5")},
        {"a run for another edition", "2.0", "resnet50", "a100", "edition_differs",
         [](Runs& runs) { runs[2].edition = "1.0"; }},
        {"an accelerator that the edition does not have", "1.0", "unet3d", "h100", "workload_unknown",
         [](Runs& runs) {
             for (RunResult& run : runs) run.accelerator_model = "v100";
         }},
        {"one file too few", "2.0", "cosmoflow", "h100", "dataset_too_small",
         [](Runs& runs) {
             for (RunResult& run : runs) --run.num_files_train;
         }},
        {"a host that does not say its memory", "1.0", "resnet50", "h100", "host_memory_unknown",
         [](Runs& runs) { runs[1].hosts[1].memory_bytes = 0; }},
        {"3 and 1 accelerators", "2.0", "unet3d", "h100", "uneven_accelerators",
         [](Runs& runs) {
             for (RunResult& run : runs) {
                 run.hosts[0].accelerator_count = 3;
                 run.hosts[1].accelerator_count = 1;
             }
         }},
        {"results on the storage under test", "3.0", "unet3d", "b200", "results_on_storage",
         [](Runs& runs) {
             runs[0].findings.push_back({"results_on_storage_under_test", "warning", "same"});
         }},
        {"AU a hair below the bar", "1.0", "cosmoflow", "h100", "au_below_bar",
         [](Runs& runs) { runs[4].metrics[0].value = 69.9999; }},
        {"a cached run", "2.0", "resnet50", "h100", "run_not_valid",
         [](Runs& runs) {
             runs[3].valid = false;
             runs[3].invalid_reasons = {"cached"};
         }},
        {"a figure changed by hand",
         "2.0",
         "unet3d",
         "h100",
         "files_disagree",
         {},
         [](const fs::path& submitter) {
             set_number(run_folder(submitter) / "summary.json", {"metric", "train_au_mean_percentage"}, 99);
         }},
        // The runs of one result.
        {"four runs", "1.0", "unet3d", "a100", "run_count", [](Runs& runs) { runs.pop_back(); }},
        {"five runs in edition 3.0", "3.0", "unet3d", "b200", "run_count", [](Runs& runs) { runs.pop_back(); }},
        {"a seed used twice", "2.0", "cosmoflow", "a100", "run_seed_repeated",
         [](Runs& runs) { runs[4].run_seed = runs[1].run_seed; }},
        {"a pause between two runs", "2.0", "unet3d", "h100", "run_gap",
         [](Runs& runs) { runs[4] = training("unet3d", "h100", "2.0", 5); }},
        {"another number of threads in one run", "2.0", "resnet50", "a100", "runs_not_alike",
         [](Runs& runs) { runs[1] = training("resnet50", "a100", "2.0", 1, {"reader.read_threads=16"}); }},
        {"one run much faster", "1.0", "resnet50", "h100", "runs_differ", [](Runs& runs) { set_rate(runs[2], 1.08); }},
        {"no report",
         "2.0",
         "cosmoflow",
         "h100",
         "report_missing",
         {},
         [](const fs::path& s) { fs::remove(s / "results/big4000/training/cosmoflow/mlperf_storage_report.json"); }},
        {"a report with another mean",
         "1.0",
         "unet3d",
         "h100",
         "report_disagrees",
         {},
         [](const fs::path& s) {
             set_number(s / "results/big4000/unet3d-h100/mlperf_storage_report.json",
                        {"overall", "train_throughput_mean_samples_per_second"}, 500);
         }},
        {"no generation of data",
         "2.0",
         "unet3d",
         "a100",
         "phase_missing",
         {},
         [](const fs::path& s) { fs::remove_all(s / "results/big4000/training/unet3d/datagen"); }},
        {"sizing said something else",
         "3.0",
         "unet3d",
         "b200",
         "datasize_differs",
         {},
         [](const fs::path& s) {
             for (const auto& one : fs::recursive_directory_iterator(s / "results/big4000/training/unet3d/datasize"))
                 if (one.path().filename() == "training_datasize_metadata.json")
                     set_number(one.path(), {"parameters", "dataset", "num_files_train"}, 15000);
         }},
        {"runs in folders of another name",
         "1.0",
         "resnet50",
         "a100",
         "run_misplaced",
         {},
         [](const fs::path& s) {
             fs::rename(s / "results/big4000/resnet50-a100", s / "results/big4000/resnet50_a100");
         }},
        {"too few ranks", "2.0", "llama3-70b", "", "checkpoint_ranks",
         [](Runs& runs) {
             runs[0].accelerator_count = 56;
             runs[0].hosts.pop_back();
         }},
        {"OPEN with ranks that TP x PP does not divide",
         "3.0",
         "llama3-70b",
         "",
         "checkpoint_ranks",
         [](Runs& runs) { runs[0].accelerator_count = 68; },
         {},
         "open"},
        {"three ranks on a host", "2.0", "llama3-8b", "", "checkpoint_ranks_per_host",
         [](Runs& runs) { runs[0].hosts[0].accelerator_count = 3; }},
        {"nine checkpoints written", "2.0", "llama3-8b", "", "checkpoint_count",
         [](Runs& runs) { runs = {checkpoint("llama3-8b", "2.0", 0, 9, 10)}; }},
        {"no fsync", "3.0", "llama3-8b", "", "checkpoint_fsync", all_with("checkpoint.fsync=False")},
        {"written but not read", "2.0", "llama3-8b", "", "checkpoint_phases",
         [](Runs& runs) { runs = {checkpoint("llama3-8b", "2.0", 0, 10, 0)}; }},
        {"31 s between write and read", "3.0", "llama3-70b", "", "checkpoint_gap",
         [](Runs& runs) {
             runs = {checkpoint("llama3-70b", "3.0", 0, 10, 0), checkpoint("llama3-70b", "3.0", 1, 0, 10)};
             runs[1].checkpoint_gap_s = 31;
         }},
        // Around the runs.
        {"a division in capitals",
         "2.0",
         "unet3d",
         "h100",
         "division_name",
         {},
         [](const fs::path& s) { fs::rename(s.parent_path(), s.parent_path().parent_path() / "Closed"); }},
        {"no code",
         "1.0",
         "unet3d",
         "a100",
         "folder_missing",
         {},
         [](const fs::path& s) { fs::remove_all(s / "code"); }},
        {"a system without runs",
         "2.0",
         "resnet50",
         "h100",
         "system_without_runs",
         {},
         [](const fs::path& s) { fs::create_directories(s / "results/other"); }},
        {"no description",
         "3.0",
         "llama3-8b",
         "",
         "description_missing",
         {},
         [](const fs::path& s) { fs::remove(s / "systems/big4000.yaml"); }},
        {"a description that nobody filled in",
         "2.0",
         "llama3-8b",
         "",
         "description_incomplete",
         {},
         [](const fs::path& s) {
             replace_in(s / "systems/big4000.yaml", "vendor_name: Acme", "vendor_name: FILL IN");
         }},
        {"edition 1.0: a description with a word for a number",
         "1.0",
         "cosmoflow",
         "a100",
         "description_incomplete",
         {},
         [](const fs::path& s) { replace_in(s / "systems/big4000.json", "1000", "\"Inf\""); }},
        {"a PDF that is none",
         "2.0",
         "unet3d",
         "h100",
         "pdf_missing",
         {},
         [](const fs::path& s) { write_text(s / "systems/big4000.pdf", "<html>"); }},
        {"the statement was taken out",
         "3.0",
         "llama3-8b",
         "",
         "statement_missing",
         {},
         [](const fs::path& s) { write_text(s / "README.md", "# Results\n"); }},
        {"a manifest of another edition",
         "3.0",
         "unet3d",
         "b200",
         "manifest_missing",
         {},
         [](const fs::path& s) {
             replace_in(s / "submission.yaml", "rules_edition: \"3.0\"", "rules_edition: \"2.0\"");
         }},
        {"a log is missing",
         "2.0",
         "cosmoflow",
         "h100",
         "file_missing",
         {},
         [](const fs::path& s) { fs::remove(run_folder(s) / "training_run.stderr.log"); }},
        {"something else lies in the tree",
         "3.0",
         "llama3-8b",
         "",
         "not_of_layout",
         {},
         [](const fs::path& s) { write_text(s / "results/big4000/checkpointing/llama3-8b/old.tar", "x"); }},
        {"a broken summary",
         "2.0",
         "unet3d",
         "a100",
         "file_broken",
         {},
         [](const fs::path& s) { write_text(run_folder(s) / "summary.json", "{\"start\": "); }},
        {"a run of which nothing can be read",
         "1.0",
         "resnet50",
         "a100",
         "file_broken",
         {},
         [](const fs::path& s) {
             const fs::path run = run_folder(s);
             fs::remove(run / "result.json");
             write_text(run / "summary.json", "");
         }},
        {"a comma too many in a report",
         "1.0",
         "cosmoflow",
         "h100",
         "file_broken",
         {},
         [](const fs::path& s) {
             replace_in(s / "results/big4000/cosmoflow-h100/mlperf_storage_report.json", "}\n}", "},\n}");
         }},
        {"an AppleDouble file",
         "2.0",
         "resnet50",
         "h100",
         "file_stray",
         {},
         [](const fs::path& s) { write_text(run_folder(s) / "._summary.json", std::string("\0\5\x16\7", 4)); }},
    };
    return kAll;
}

} // namespace feedbench::submission::test
