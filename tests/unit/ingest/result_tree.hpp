// Writes small result trees of our own making into a folder that goes away with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>
#include <vector>

#include "reporters/ingest/ingest.hpp"

namespace feedbench::ingest::test {

namespace fs = std::filesystem;
using nlohmann::json;

class ResultTree {
  public:
    ResultTree() {
        std::string pattern = (fs::temp_directory_path() / "feedbench-ingest.XXXXXX").string();
        root_ = mkdtemp(pattern.data());
    }
    ~ResultTree() {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }
    ResultTree(const ResultTree&) = delete;
    ResultTree& operator=(const ResultTree&) = delete;

    const fs::path& root() const { return root_; }
    void write(const fs::path& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path, std::ios::binary) << text;
    }
    void write(const fs::path& path, const char* text) const { write(path, std::string(text)); }
    void write(const fs::path& path, const json& value) const { write(path, value.dump(1)); }
    Ingested read(const fs::path& below = {}) const {
        const std::vector<fs::path> inputs{below.empty() ? root_ : root_ / below};
        return ingest(inputs);
    }

  private:
    fs::path root_;
};

// unet3d on 4 H100 of 2 hosts at AU 95 % and 92 % of the ideal rate; `run` makes runs differ a little.
inline constexpr double kIdeal = 4 * 7 / 0.323;
inline json summary(int run = 0, int epochs = 5) {
    const double rate = 0.92 * kIdeal + run;
    json metric;
    metric["train_au_percentage"] = std::vector<double>(static_cast<std::size_t>(epochs), 95.0);
    metric["train_au_mean_percentage"] = 95.0;
    metric["train_throughput_samples_per_second"] = std::vector<double>(static_cast<std::size_t>(epochs), rate);
    metric["train_throughput_mean_samples_per_second"] = rate;
    metric["train_io_mean_MB_per_second"] = rate * 146600628 / 1048576;
    json s;
    s["start"] = "2024-08-1" + std::to_string(run) + "T22:55:06.210629";
    s["end"] = "2024-08-1" + std::to_string(run) + "T23:27:19.738037";
    s["num_accelerators"] = 4;
    s["num_hosts"] = 2;
    s["metric"] = metric;
    s["num_files_train"] = 14000;
    s["num_samples_per_file"] = 1;
    s["host_memory_GB"] = {128.0, 128.0};
    s["data_size_per_host_GB"] = 955.7;
    return s;
}

inline json report(const std::vector<json>& summaries, const std::string& model = "unet3d",
                   const std::string& accelerator = "h100") {
    json r;
    double sum = 0;
    for (std::size_t i = 0; i < summaries.size(); ++i) {
        const double rate = summaries[i]["metric"]["train_throughput_mean_samples_per_second"];
        sum += rate;
        // names of runs in reports need not occur in the tree
        r["runs"]["result_iter" + std::to_string(i)] = {{"train_throughput_samples_per_second", rate}};
    }
    r["overall"] = {{"model", model},
                    {"accelerator", accelerator},
                    {"train_num_accelerators", std::to_string(summaries[0]["num_accelerators"].get<int>())},
                    {"train_throughput_mean_samples_per_second", sum / static_cast<double>(summaries.size())}};
    return r;
}

inline std::string description(const std::string& vendor) {
    return R"({"storage_system": {"vendor_name": ")" + vendor +
           R"(", "usable_capacity_GiB": 1000, "raw_capacity_GiB": "Inf", "max_power_consumption_in_watts": 2400}})";
}

// The one problem whose path ends like this, or nullptr.
inline const Problem* problem_at(const Ingested& ingested, const std::string& end) {
    for (const Problem& problem : ingested.problems)
        if (problem.path.ends_with(end)) return &problem;
    return nullptr;
}
inline bool says(const std::vector<std::string>& notes, const std::string& part) {
    for (const std::string& note : notes)
        if (note.find(part) != std::string::npos) return true;
    return false;
}

} // namespace feedbench::ingest::test
