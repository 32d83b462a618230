#include <catch2/catch.hpp>

#include "harness/config/load_yaml.hpp"

using namespace feedbench;

namespace {

Expected<Workload> load(const std::string& dataset, const std::string& loader = "pytorch") {
    return config::load_workload_text("model: {name: unet3d}\nframework: pytorch\nreader: {data_loader: " + loader +
                                          ", batch_size: 1}\ndataset:\n" + dataset,
                                      "sample.yaml", {});
}

std::string refusal(const std::string& dataset, const std::string& loader = "pytorch") {
    auto loaded = load(dataset, loader);
    return loaded ? "accepted" : loaded.error().describe();
}

} // namespace

TEST_CASE("dataset.layout shared: one file holds what all files would have held, of each set") {
    const auto w = load("  format: hdf5\n  layout: shared\n  num_files_train: 40\n  num_samples_per_file: 3\n"
                        "  num_files_eval: 5\n  record_length_bytes: 4096\n");
    REQUIRE(w);
    CHECK(w->dataset.num_files_train == 1);
    CHECK(w->dataset.num_samples_per_file == 120);
    CHECK(w->dataset.num_files_eval == 1);
    CHECK(w->dataset.num_samples_per_file_eval == 15);
    const auto again = load("  format: hdf5\n  layout: shared\n  num_files_train: 1\n  num_samples_per_file: 120\n"
                            "  num_files_eval: 1\n  num_samples_per_file_eval: 15\n  record_length_bytes: 4096\n");
    REQUIRE(again);
    CHECK(again->dataset == w->dataset); // the effective configuration of a run gives that run again
    const auto files = load("  format: hdf5\n  num_files_train: 40\n  num_samples_per_file: 3\n");
    REQUIRE(files);
    CHECK(files->dataset.num_files_train == 40);
    CHECK(files->dataset.num_samples_per_file == 3);
}

TEST_CASE("dataset.layout shared: what cannot be is refused, with the line") {
    const std::string shared = "  format: hdf5\n  layout: shared\n  num_files_train: 40\n";
    CHECK(refusal("  format: npz\n  layout: shared\n").find("sample.yaml:6") != std::string::npos);
    CHECK(refusal("  format: npz\n  layout: shared\n").find("which npz cannot: expected dataset.format hdf5") !=
          std::string::npos);
    CHECK(refusal(shared, "tensorflow").find("the tensorflow loader shares out files") != std::string::npos);
    CHECK(refusal(shared + "  record_length_bytes_stdev: 5\n").find("samples of one file have one size") !=
          std::string::npos);
    CHECK(refusal(shared + "  num_subfolders_train: 4\n").find("num_subfolders_train is 4") != std::string::npos);
    CHECK(refusal("  format: hdf5\n  layout: shared\n  num_files_train: 5000000000\n").find("4294967295") !=
          std::string::npos);
    CHECK(refusal("  format: hdf5\n  layout: sharde\n").find("shared") != std::string::npos);
    CHECK(refusal(shared, "native") == "accepted");
}
