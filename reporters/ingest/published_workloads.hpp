// The published training workloads: what identifies them in files that do not name them, and what AU they must reach.
//
// Thread: any (constant table). Owner: none. Units: s, bytes, percent. Errors: nullptr, or empty, where nothing fits.
// Source: workload files of the rules' editions 1.0 to 3.0; AU bars of the rules. To add one: a line in the table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace feedbench::ingest {

struct PublishedWorkload {
    std::string_view model, accelerator;
    double batch_size, think_time_s, record_length_bytes, au_bar_percentage;
};

std::span<const PublishedWorkload> published_workloads();
const PublishedWorkload* find_published(std::string_view model, std::string_view accelerator); // nullptr: none
// The model that alone has this record length (within a thousandth); empty: none.
std::string_view model_of_record_length(double bytes);
bool is_published_model(std::string_view model);
bool is_accelerator(std::string_view word);

// "ResNet-50", "resnet" -> "resnet50"; "3d_unet" -> "unet3d"; "NVIDIA H100" -> "h100". Others: in lower case.
std::string model_name(std::string_view text);
std::string accelerator_name(std::string_view text);

// What a folder's or workload's name says: "unet3d_h100", "resnet-h100", "cosmoflow-10acc", "6hosts@25GPUs".
struct NameParts {
    std::string model, accelerator;            // empty: not said
    unsigned accelerator_count = 0, hosts = 0; // 0: not said
};
NameParts parts_of_name(std::string_view name);

// The accelerator whose think time explains these figures; empty where none does. The think time estimated from AU and
// rate is off by what the first step costs, so the nearest one within a factor of 1.25 is taken.
std::string_view accelerator_of_figures(std::string_view model, double au_percentage, double samples_per_second,
                                        double accelerator_count);
// The same from the length of the sleeps: within 5 %.
std::string_view accelerator_of_think_time(std::string_view model, double think_time_s);

} // namespace feedbench::ingest
