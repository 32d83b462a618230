// config.yaml loads to the same Workload that it was written from.
#include "harness/config/load_yaml.hpp"
#include "harness/config/profiles.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;
using namespace feedbench::config;

namespace {

void check_same(const Workload& a, const Workload& b) {
    CHECK(a.name == b.name);
    CHECK(a.accelerator == b.accelerator);
    CHECK(a.framework == b.framework);
    CHECK(a.model == b.model);
    CHECK(a.workflow == b.workflow);
    CHECK(a.storage == b.storage);
    CHECK(a.dataset == b.dataset);
    CHECK(a.reader == b.reader);
    CHECK(a.train == b.train);
    CHECK(a.evaluation == b.evaluation);
    CHECK(a.checkpoint == b.checkpoint);
    CHECK(a.output == b.output);
    CHECK(a.metric == b.metric);
    REQUIRE(a.values.size() == b.values.size());
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        INFO(a.values[i].key);
        CHECK(a.values[i].value == b.values[i].value);
    }
}

void check_round_trip(const Workload& w) {
    const std::string text = effective_yaml(w);
    const auto again = load_workload_text(text, "results/config.yaml");
    INFO(text);
    INFO((again ? "" : again.error().describe()));
    REQUIRE(again);
    check_same(w, *again);
}

} // namespace

TEST_CASE("profiles of our own round-trip") {
    const auto names = workload_names();
    CHECK(names.size() >= 14);
    for (const auto& name : names) {
        INFO(name);
        const auto w = load_workload({.workload = name});
        REQUIRE(w);
        check_round_trip(*w);
    }
}

TEST_CASE("a file with every kind of value round-trips") {
    const auto w = load_workload_text(R"(
model: {name: "odd: name #1", num_layers: 2, layer_parameters: [1, 2], model_size: 1e6, scale: 0.1}
workflow: {evaluation: yes, checkpoint: on}
storage: {storage_type: s3, storage_root: bucket, storage_options: {endpoint_url: "http://h:1", region: null, nested: {a: "b, c"}}}
dataset: {data_folder: "null:", format: hdf5, record_dims: [4, 5, 6], record_element_type: float32, num_files_eval: 3, enable_chunking: true,
          chunk_size: 16, compress_percent: 12.5, file_prefix: "true", keep_files: false}
reader: {data_loader: native, prefetch_size: 0, verify: content, io_engine: threads, file_shuffle: random, drop_cache: system,
         drop_cache_timeout: 2.5, dont_use_mmap: True,
         preprocess_time: {shape: 2.5, scale: 0.001, type: gamma}, transformed_record_dims: [3, 4]}
train: {computation_time: {mean: 0.3, stdev: 0.1, type: uniform}, seed: 9223372036854775807, total_training_steps: 12}
evaluation: {eval_time: 0.1, eval_time_stdev: 0.02}
checkpoint: {type: all_ranks, time_between_checkpoints: -1, ksm: {await_time: 5}}
output: {folder: "C:\\x\ty", metric: {exclude_start_steps: 0, exclude_end_steps: 1}}
metric: {au: 0.123456789012345}
profiling: {profiler: iostat, iostat_devices: sda}
)",
                                      "a/b_b200.yaml");
    INFO((w ? "" : w.error().describe()));
    REQUIRE(w);
    CHECK(w->accelerator == "b200");
    CHECK(w->dataset.record_length_bytes == 480);
    CHECK(w->storage.storage_options.at("nested.a") == "b, c");
    check_round_trip(*w);
}

TEST_CASE("secrets are not written down") {
    const auto w =
        load_workload_text("storage:\n  storage_options:\n    secret_access_key: hush-hush\n    region: x\n", "a.yaml");
    REQUIRE(w);
    CHECK(w->storage.storage_options.at("secret_access_key") == "hush-hush");
    const std::string text = effective_yaml(*w);
    CHECK(text.find("hush") == std::string::npos);
    CHECK(text.find("# secret_access_key is not written down") != std::string::npos);
    CHECK(text.find("region: x") != std::string::npos);
    for (const auto& value : w->values) CHECK(value.value.find("hush") == std::string::npos);
}

TEST_CASE("origins stand beside the values, keys without effect only where they were said") {
    const auto w = load_workload({.workload = "unet3d_h100", .params = {"train.epochs=3", "reader.pin_memory=false"}});
    REQUIRE(w);
    const std::string text = effective_yaml(*w);
    CHECK(text.find("  epochs: 3  # -p on the command line\n") != std::string::npos);
    CHECK(text.find("  batch_size: 7  # unet3d_h100.yaml:") != std::string::npos);
    CHECK(text.find("  pin_memory: false  # -p on the command line; accepted without effect: ") != std::string::npos);
    CHECK(text.find("dont_use_mmap") == std::string::npos);
    CHECK(text.find("    tensor: 1  # default\n") != std::string::npos);
}
