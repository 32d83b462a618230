// What the rules' editions differ in: workloads, accelerators, bars, run counts, endings of files.
//
// Thread: any (constant tables). Owner: none. Units: percent, runs. Errors: nullptr where there is no such row.
// Source: rules of editions 1.0, 2.0 and 3.0 (reference facts, section 2). To add an edition: a row here and its bit in
// the rows of the other tables (layout.cpp, parameters.cpp, rules.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace feedbench::submission {

// Bits, so that a row can be of several.
enum Editions : unsigned { k10 = 1, k20 = 2, k30 = 4, kEveryEdition = 7 };
enum Divisions : unsigned { kClosed = 1, kOpen = 2, kBoth = 3 };
enum Kinds : unsigned { kTraining = 1, kCheckpoint = 2, kAnyKind = 3 };

struct EditionFacts {
    std::string_view name; // "2.0"
    unsigned bit;
    unsigned run_count_least, run_count_most; // of a training result
    unsigned run_count_with_warm_up;          // so many: the first is none of the result
    bool runs_follow;                         // no benchmark may have run between two of them
    std::optional<double> checkpoint_gap_s;   // from the end of the writes to the process that reads
    bool nothing_else;                        // what the layout does not name may not lie in the tree
};

struct WorkloadFacts {
    std::string_view model;        // as folders are called: "unet3d", "llama3-8b"
    unsigned editions, kinds;      // kinds: one bit
    std::string_view accelerators; // "a100 h100"; empty: checkpoints name none
    double au_bar_percentage;      // 0: none
};

std::span<const EditionFacts> editions();
const EditionFacts* find_edition(std::string_view name);
std::string edition_names(unsigned bits);  // "1.0, 2.0"
std::string division_names(unsigned bits); // "closed, open"
std::optional<unsigned> division_of(std::string_view name);

std::span<const WorkloadFacts> workloads();
const WorkloadFacts* find_workload(const EditionFacts& edition, std::string_view model);
// "unet3d, resnet50, ...", for messages.
std::string workload_names(const EditionFacts& edition);
bool has_accelerator(const WorkloadFacts& workload, std::string_view accelerator);

// "llama3_8b", "llama_8b", "llama3-8b" -> "llama3-8b"; other names as published_workloads knows them.
std::string folder_model(std::string_view model);
// The profile that holds the workload as published: "unet3d_h100", "llama3_8b".
std::string profile_name(std::string_view model, std::string_view accelerator);

} // namespace feedbench::submission
