#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "reporters/reporter.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;
using nlohmann::json;

TEST_CASE("the summary's rates keep their historical meaning: MiB/s of the nominal record length") {
    const RunResult r = test::passing();
    const json s = json::parse(render_mlperf_summary(r, {}));
    const double rate = s["metric"]["train_throughput_mean_samples_per_second"];
    CHECK(rate == Approx(*row(r.metrics, "samples_per_second_mean")->value));
    CHECK(s["metric"]["train_io_mean_MB_per_second"].get<double>() == Approx(rate * 146600628 / 1048576));
    CHECK(s["metric"]["train_au_meet_expectation"] == "success");
    CHECK(s["metric"]["train_au_percentage"].size() == 2);
    CHECK(s["metric"]["eval_au_percentage"].size() == 1);
    CHECK(s["metric"]["eval_io_mean_MB_per_second"].get<double>() > 0);
    CHECK(s["metric"]["save_checkpoint_io_mean_GB_per_second"].get<double>() == Approx(0.5));
    CHECK(s["metric"]["checkpoint_size_GB"].get<double>() == Approx(2));
    CHECK(s["epochs"] == 2);
    CHECK(s["start"] == "2026-12-31T23:59:50.250000");
    CHECK(s["data_size_per_host_GB"].get<double>() == Approx(168 * 146600628.0 / 2 / 1073741824));
    CHECK(s["potential_caching"] == json({1, 1}));
}

TEST_CASE("a checkpoint run's summary: means of rates under save and load, and no training key") {
    const json s = json::parse(render_mlperf_summary(test::checkpoints(), {}));
    const json& m = s["metric"];
    CHECK(m["save_checkpoint_io_mean_GB_per_second"].get<double>() == Approx(12.5)); // 8.0 by bytes over time (T8)
    CHECK(m["save_checkpoint_io_stdev_GB_per_second"].get<double>() == Approx(7.5));
    CHECK(m["save_checkpoint_duration_mean_seconds"].get<double>() == Approx(12.5));
    CHECK(m["load_checkpoint_io_mean_GB_per_second"].get<double>() == Approx(10));
    CHECK(m["load_checkpoint_duration_stdev_seconds"].get<double>() == 0);
    CHECK(m["checkpoint_size_GB"].get<double>() == Approx(100));
    CHECK(m.size() == 9);
    CHECK(s["num_accelerators"] == 2);
    CHECK(s["data_size_per_host_GB"].get<double>() == Approx(100));
    RunResult only_read = test::checkpoints();
    only_read.checkpoints.erase(only_read.checkpoints.begin(), only_read.checkpoints.begin() + 2);
    CHECK_FALSE(
        json::parse(render_mlperf_summary(only_read, {}))["metric"].contains("save_checkpoint_io_mean_GB_per_second"));
    const json epochs = json::parse(render_mlperf_epochs(test::checkpoints(), {}));
    CHECK(epochs["1"]["save_ckpt2"]["duration"] == "20.00");
    CHECK(epochs["1"]["load_ckpt1"]["start"] == "2027-01-01T00:00:26.250000");
}

TEST_CASE("a missed bar is 'fail', and an empty window is null and 'fail', never 0") {
    CHECK(json::parse(render_mlperf_summary(test::failing(), {}))["metric"]["train_au_meet_expectation"] == "fail");
    const json s = json::parse(render_mlperf_summary(test::interrupted(), {}));
    CHECK(s["metric"]["train_au_mean_percentage"].is_null());
    CHECK(s["metric"]["train_au_meet_expectation"] == "fail");
    CHECK_FALSE(s["metric"].contains("eval_au_percentage"));
}

TEST_CASE("T9: nine hosts, each with its own memory and CPUs") {
    RunResult r = test::passing();
    r.hosts.resize(9, r.hosts[0]);
    for (HostFacts& host : r.hosts) host.memory_bytes = static_cast<std::uint64_t>(503.5 * 1073741824);
    const json s = json::parse(render_mlperf_summary(r, {}));
    CHECK(s["num_hosts"] == 9);
    CHECK(s["host_memory_GB"] == json(std::vector<double>(9, 503.5)));
    CHECK(s["host_cpu_count"] == json(std::vector<int>(9, 64)));
}

TEST_CASE("the summary has every key of a published one, of the same type") {
    const auto path = std::filesystem::path(FEEDBENCH_SOURCE_DIR) /
                      "../shared/corpus/mlperf-storage-v1.0/Closed/HPE/results/"
                      "Cray_ClusterStor_E1000_6xSlingShot200_5hosts/unet3d_h100/run-3/summary.json";
    std::ifstream file(path);
    if (!file) {
        std::cout << "skipped: corpus not found\n";
        return;
    }
    const json published = json::parse(file), ours = json::parse(render_mlperf_summary(test::passing(), {}));
    const auto same = [](const json& a, const json& b) { return a.is_number() ? b.is_number() : a.type() == b.type(); };
    for (const auto& [key, value] : published.items()) {
        INFO(key);
        REQUIRE(ours.contains(key));
        CHECK(same(value, ours[key]));
    }
    for (const auto& [key, value] : published["metric"].items()) {
        INFO(key);
        REQUIRE(ours["metric"].contains(key));
        CHECK(same(value, ours["metric"][key]));
    }
}

TEST_CASE("per_epoch_stats counts seconds over midnight and the turn of the year") {
    const json s = json::parse(render_mlperf_epochs(test::passing(), {}));
    CHECK(s["1"]["start"] == "2026-12-31T23:59:50.500000");
    CHECK(s["2"]["ckpt1"]["start"] == "2027-01-01T00:00:11.250000");
    CHECK(s["2"]["ckpt1"]["end"] == "2027-01-01T00:00:15.250000");
    CHECK(s["2"]["ckpt1"]["duration"] == "4.00");
    CHECK(s["2"]["block1"].contains("end"));
    CHECK(s["2"]["eval"]["duration"] == "3.00");
    RunResult r = test::passing();
    r.start_time = "2028-02-28T23:59:59";
    CHECK(json::parse(render_mlperf_epochs(r, {}))["2"]["ckpt1"]["start"] == "2028-02-29T00:00:20.000000");
    r.start_time = "yesterday";
    CHECK(json::parse(render_mlperf_epochs(r, {}))["1"]["start"] == "");
}
