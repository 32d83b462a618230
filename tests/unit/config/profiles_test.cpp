// Workload files of our own: found by name, with the numbers of the rules.
#include "harness/config/profiles.hpp"

#include "harness/config/load_yaml.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace feedbench;
using namespace feedbench::config;

namespace {

Workload profile(const std::string& name) {
    auto w = load_workload({.workload = name});
    INFO((w ? "" : w.error().describe()));
    REQUIRE(w);
    CHECK(w->name == name);
    return *w;
}

double bytes_per_think_second(const Workload& w) {
    return w.dataset.record_length_bytes * w.reader.batch_size / w.train.computation_time.mean_s;
}

} // namespace

TEST_CASE("the training profiles have the rules' numbers") {
    struct Row {
        const char *name, *accelerator, *format, *loader;
        std::uint64_t files;
        std::uint32_t samples;
        double record, stdev, resize;
        std::uint32_t batch;
        double think_s, au;
        std::uint32_t read_threads;
    };
    const double u = 146600628, us = 68341808, r = 114660.07, c = 2828486;
    for (const auto& row :
         {Row{"unet3d_a100", "a100", "npz", "pytorch", 168, 1, u, us, 2097152, 7, 0.636, 0.9, 4},
          Row{"unet3d_h100", "h100", "npz", "pytorch", 168, 1, u, us, 2097152, 7, 0.323, 0.9, 4},
          Row{"unet3d_b200", "b200", "npz", "pytorch", 7200, 1, u, us, 2097152, 7, 0.162, 0.9, 4},
          Row{"resnet50_a100", "a100", "tfrecord", "tensorflow", 1024, 1251, r, 0, 150528, 400, 0.435, 0.9, 8},
          Row{"resnet50_h100", "h100", "tfrecord", "tensorflow", 1024, 1251, r, 0, 150528, 400, 0.224, 0.9, 8},
          Row{"cosmoflow_a100", "a100", "tfrecord", "tensorflow", 524288, 1, c, 71311, 0, 1, 0.00551, 0.7, 4},
          Row{"cosmoflow_h100", "h100", "tfrecord", "tensorflow", 524288, 1, c, 71311, 0, 1, 0.00350, 0.7, 4}}) {
        INFO(row.name);
        const Workload w = profile(row.name);
        CHECK(w.accelerator == row.accelerator);
        CHECK(w.dataset.format == row.format);
        CHECK(w.reader.data_loader == row.loader);
        CHECK(w.dataset.num_files_train == row.files);
        CHECK(w.dataset.num_samples_per_file == row.samples);
        CHECK(w.dataset.record_length_bytes == row.record);
        CHECK(w.dataset.record_length_bytes_stdev == row.stdev);
        CHECK(w.dataset.record_length_bytes_resize == row.resize);
        CHECK(w.reader.batch_size == row.batch);
        CHECK(w.train.computation_time.mean_s == row.think_s);
        CHECK(w.train.epochs == 5);
        CHECK(w.metric.au_is_set);
        CHECK(w.metric.au == row.au);
        CHECK(w.reader.read_threads == row.read_threads);
    }
}

TEST_CASE("the small profiles ask for as many bytes a second as the large ones, from 100 to 300 MB") {
    for (const std::string model : {"unet3d", "resnet50", "cosmoflow"}) {
        INFO(model);
        const Workload mini = profile(model + "_mini"), large = profile(model + "_h100");
        CHECK(mini.accelerator == "h100");
        CHECK(bytes_per_think_second(mini) == Approx(bytes_per_think_second(large)).epsilon(1e-4));
        CHECK(mini.dataset.record_length_bytes_stdev / mini.dataset.record_length_bytes ==
              Approx(large.dataset.record_length_bytes_stdev / large.dataset.record_length_bytes).epsilon(1e-4));
        const double total = static_cast<double>(mini.dataset.num_files_train) * mini.dataset.num_samples_per_file *
                             mini.dataset.record_length_bytes;
        CHECK(total >= 100e6);
        CHECK(total <= 300e6);
        CHECK(mini.reader.read_threads == large.reader.read_threads);
        CHECK(mini.dataset.format == large.dataset.format);
        CHECK(mini.metric.au == large.metric.au);
        // Enough samples for two accelerators, some ten steps each.
        CHECK(mini.dataset.num_files_train * mini.dataset.num_samples_per_file / mini.reader.batch_size / 2 >= 10);
    }
}

TEST_CASE("names are looked up, paths are taken as they stand") {
    const auto dir = std::filesystem::temp_directory_path() / ("feedbench_profiles_" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir / "workloads");
    std::ofstream(dir / "workloads" / "mine_a100.yml") << "train:\n  epochs: 3\n";
    std::ofstream(dir / "workloads" / "notes.txt") << "no workload\n";
    const std::vector<std::string> dirs{(dir / "workloads").string()};

    CHECK(workload_names(dirs) == std::vector<std::string>{"mine_a100"});
    const auto named = load_workload({.workload = "mine_a100", .search_dirs = dirs});
    REQUIRE(named);
    CHECK(named->train.epochs == 3);
    CHECK(named->accelerator == "a100");
    CHECK(load_workload({.workload = (dir / "workloads" / "mine_a100.yml").string()}));

    CHECK(load_workload({.workload = "mine_a10", .search_dirs = dirs}).error().message ==
          "no workload of that name; did you mean mine_a100? Known: mine_a100");
    CHECK(load_workload({.workload = "unet3d_h10"}).error().message.find("did you mean unet3d_h100?") !=
          std::string::npos);
    CHECK(load_workload({.workload = ""}).error().kind == ErrorKind::usage);
    CHECK(load_workload({.workload = "/no/such.yaml"}).error().message == "no such workload file");
    CHECK(load_workload({.workload = dir.string()}).error().message == "is a folder; expected a workload file");
    std::ofstream(dir / "empty.yaml") << "";
    CHECK(load_workload({.workload = (dir / "empty.yaml").string()}).error().message == "the workload file is empty");

    ::setenv("FEEDBENCH_CONFIGS", dir.c_str(), 1);
    CHECK(workload_dirs().front() == dirs.front());
    CHECK(load_workload({.workload = "mine_a100"}));
    ::unsetenv("FEEDBENCH_CONFIGS");
    CHECK_FALSE(load_workload({.workload = "mine_a100"}));
    std::filesystem::remove_all(dir);
}
