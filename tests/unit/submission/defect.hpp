// One thing that is wrong with a golden tree, and how it is put in.
#pragma once

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "submission_tree.hpp"

namespace feedbench::submission::test {

using Runs = std::vector<RunResult>;

struct Defect {
    std::string what, edition, model, accelerator, rule;
    std::function<void(Runs&)> measure = {};          // another result
    std::function<void(const fs::path&)> damage = {}; // to the submitter's folder
    std::string division = "closed";
};

// Where the first run of the tree lies.
inline fs::path run_folder(const fs::path& submitter) {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(submitter / "results"))
        if (entry.path().filename() == "result.json") all.push_back(entry.path().parent_path());
    std::sort(all.begin(), all.end());
    return all.at(0);
}
inline void replace_in(const fs::path& path, const std::string& from, const std::string& to) {
    std::string text = read_text(path);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_text(path, text.replace(at, from.size(), to));
}
inline void set_number(const fs::path& path, const std::vector<std::string>& keys, double value) {
    auto json = nlohmann::ordered_json::parse(read_text(path));
    auto* at = &json;
    for (const std::string& key : keys) at = &at->at(key);
    *at = value;
    write_text(path, json.dump(1));
}
inline std::function<void(Runs&)> all_with(const std::string& param) {
    return [param](Runs& runs) {
        const RunResult first = runs[0];
        for (std::size_t i = 0; i < runs.size(); ++i)
            runs[i] = first.kind == "checkpoint"
                          ? checkpoint(first.model, first.edition, static_cast<int>(i), 10, 10, {param})
                          : training(first.model, first.accelerator_model, first.edition, static_cast<int>(i), {param});
    };
}
inline void set_rate(RunResult& run, double factor) { run.metrics[1].value = *run.metrics[1].value * factor; }

} // namespace feedbench::submission::test
