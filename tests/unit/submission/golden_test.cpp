// A tree for every workload, accelerator and edition, made by the writer, passes; the writer refuses and never
// overwrites.
#include <catch2/catch.hpp>

#include <sstream>

#include "reporters/submission/rules.hpp"
#include "submission_tree.hpp"

using namespace feedbench;
using namespace feedbench::submission;
using namespace feedbench::submission::test;

namespace {

CheckResult checked(const fs::path& tree) {
    const auto result = check_tree(tree, {});
    REQUIRE(result);
    return *result;
}

std::vector<std::string> words(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> all;
    for (std::string word; in >> word;) all.push_back(word);
    if (all.empty()) all.push_back("");
    return all;
}

} // namespace

TEST_CASE("a golden tree of every workload, accelerator and edition passes") {
    std::size_t trees = 0;
    for (const EditionFacts& edition : editions())
        for (const WorkloadFacts& workload : workloads()) {
            if ((workload.editions & edition.bit) == 0) continue;
            for (const std::string& accelerator : words(workload.accelerators))
                for (const char* division : {"closed", "open"}) {
                    if (division[0] == 'o' && workload.model != "unet3d" && workload.model != "llama3-70b") continue;
                    INFO(edition.name << " " << workload.model << " " << accelerator << " " << division);
                    const std::string name(edition.name), model(workload.model);
                    const CheckResult result = checked(golden_tree(name, division, model, accelerator) / "tree");
                    INFO(lines(result));
                    CHECK(result.findings.empty());
                    CHECK(result.edition == edition.name);
                    CHECK(result.set_count == 1);
                    CHECK(result.run_count == (workload.kinds == kCheckpoint ? 1 : edition.run_count_least));
                    ++trees;
                }
        }
    CHECK(trees == (6 + 6 + 4 + 4 + 4) + (2 + 2 + 2 + 2)); // closed, open
}

TEST_CASE("write and read of a checkpoint may be split, and edition 2.0 may keep its warm-up") {
    TemporaryFolder folder;
    RunResult read = checkpoint("llama3-8b", "3.0", 1, 0, 10);
    read.checkpoint_gap_s = 29.5;
    write_tree(folder.path(), "3.0", "closed", {checkpoint("llama3-8b", "3.0", 0, 10, 0), read});
    CHECK(lines(checked(folder.path() / "tree")) == "");

    TemporaryFolder other;
    std::vector<RunResult> runs;
    for (int i = 0; i < 6; ++i) runs.push_back(training("unet3d", "h100", "2.0", i));
    runs[0].metrics[0].value = 60; // of the warm-up, which does not count
    write_tree(other.path(), "2.0", "closed", runs);
    CHECK(lines(checked(other.path() / "tree")) == "");
}

TEST_CASE("two accelerators of one model share a folder in edition 2.0, and each has its report") {
    TemporaryFolder folder;
    auto runs = golden_runs("2.0", "unet3d", "a100");
    for (int i = 5; i < 10; ++i) runs.push_back(training("unet3d", "h100", "2.0", i));
    write_tree(folder.path(), "2.0", "closed", runs);
    const CheckResult result = checked(folder.path() / "tree");
    CHECK(lines(result) == "");
    CHECK(result.set_count == 2);
}

TEST_CASE("submit add looks at everything first, refuses what does not belong, and never overwrites") {
    TemporaryFolder folder;
    const fs::path tree = folder.path() / "tree", results = folder.path() / "results";
    REQUIRE(init_tree({tree, "2.0", "acme", "closed", "", "", ""}));
    const auto add = [&](const fs::path& result, const std::string& system = "big4000") {
        Addition addition;
        addition.root = tree;
        addition.system = system;
        addition.results = {result};
        return add_results(addition);
    };
    const fs::path good = leave_result(results, training("unet3d", "h100", "2.0", 0));
    const auto added = add(good);
    REQUIRE(added);
    REQUIRE(added->placed.size() == 1);
    const fs::path placed = tree / "closed/acme/results/big4000/training/unet3d/run/20261130_100000";
    CHECK(added->placed[0] == placed);
    CHECK(read_text(placed / "summary.json") == read_text(good / "summary.json"));
    CHECK(read_text(placed / "dlio_config/overrides.yaml").find("++workload.dataset.num_files_train=14000") !=
          std::string::npos);
    for (const char* file : {"training_run.stdout.log", "dlio_config/overrides.yaml", "feedbench_metadata.json"})
        CHECK(read_text(placed / file).find(kStatement) != std::string::npos);

    const auto refused = [&](const RunResult& result, const std::string& rule) {
        INFO(rule);
        TemporaryFolder one;
        const auto answer = add(leave_result(one.path(), result));
        REQUIRE_FALSE(answer);
        CHECK(answer.error().kind == ErrorKind::usage);
        CHECK(answer.error().message.find(rule) != std::string::npos);
    };
    refused(training("unet3d", "h100", "2.0", 0), "there already");
    refused(training("unet3d", "h100", "3.0", 1), "edition_differs");
    refused(training("unet3d", "h100", "2.0", 1, {"reader.data_loader=native"}), "parameter_not_allowed");
    refused(training("unet3d", "h100", "2.0", 1, {"train.computation_time=0.1"}), "parameter_not_allowed");
    refused(checkpoint("llama3-8b", "2.0", 1, 10, 10, {"model.scale=0.01"}), "model_scaled");
    RunResult invalid = training("unet3d", "h100", "2.0", 1);
    invalid.valid = false;
    invalid.invalid_reasons = {"cached: 12 % came from the device"};
    refused(invalid, "run_not_valid");
    RunResult simulated = training("unet3d", "h100", "2.0", 1);
    simulated.virtual_time = true;
    refused(simulated, "run_not_valid");
    RunResult other = training("unet3d", "h100", "2.0", 1);
    other.model = "bert";
    refused(other, "workload_unknown");
    CHECK_FALSE(add(folder.path() / "nothing"));

    // One bad run among good ones: none is placed.
    leave_result(results, training("unet3d", "h100", "2.0", 2));
    leave_result(results, training("unet3d", "h100", "3.0", 3));
    CHECK_FALSE(add(results));
    CHECK_FALSE(fs::exists(placed.parent_path() / "20261130_100340"));
    CHECK(std::distance(fs::directory_iterator(placed.parent_path()), {}) == 1);

    // A tree is of one edition and one organisation.
    CHECK_FALSE(init_tree({tree, "3.0", "acme", "closed", "", "", ""}));
    CHECK_FALSE(init_tree({tree, "2.0", "other", "closed", "", "", ""}));
    CHECK_FALSE(init_tree({tree, "2.0", "a/b", "open", "", "", ""}));
    write_text(folder.path() / "d.yaml", filled_description());
    REQUIRE(init_tree({tree, "2.0", "acme", "closed", "big4000", folder.path() / "d.yaml", ""}));
    CHECK_FALSE(init_tree({tree, "2.0", "acme", "closed", "big4000", folder.path() / "d.yaml", ""}));
}

TEST_CASE("layout patterns are filled and matched by the same table") {
    for (const LayoutRow& row : layout()) {
        const Variables variables{{"system", "a_b-c.1"},
                                  {"model", "unet3d"},
                                  {"accelerator", "h100"},
                                  {"number", "12"},
                                  {"stamp", "20261130_100000"}};
        const std::string path = fill(row.pattern, variables);
        INFO(path);
        const auto found = match(row.pattern, path);
        REQUIRE(found);
        for (const auto& [name, value] : *found) CHECK(value == variables.find(name)->second);
        CHECK_FALSE(match(row.pattern, path + "x/y"));
    }
    CHECK(match("results/{system}/{model}-{accelerator}/run{number}", "results/s/cosmoflow-a100/run5"));
    CHECK_FALSE(match("results/{system}/{model}-{accelerator}/run{number}", "results/s/cosmoflow_a100/run5"));
    CHECK_FALSE(match("results/{system}/{model}-{accelerator}/run{number}", "results/s/cosmoflow-a100/run-5"));
    CHECK(is_above("results/{system}/training/{model}", "results/s/training"));
    CHECK_FALSE(is_above("results/{system}/training/{model}", "results/s/trainin"));
    CHECK(fits("*summary.json", "summary.json"));
    CHECK_FALSE(fits("*summary.json", "a/summary.json"));
}

TEST_CASE("every rule has an id of its own, one check, and says what and by which source") {
    std::vector<std::string_view> ids;
    for (const Rule& rule : rules()) {
        INFO(rule.id);
        CHECK(std::find(ids.begin(), ids.end(), rule.id) == ids.end());
        ids.push_back(rule.id);
        CHECK((rule.run != nullptr) + (rule.set != nullptr) + (rule.submitter != nullptr) == 1);
        CHECK_FALSE(rule.checks.empty());
        CHECK_FALSE(rule.source.empty());
        CHECK((rule.editions & ~unsigned(kEveryEdition)) == 0);
        CHECK((rule.before_run || rule.belongs ? rule.run != nullptr : true));
        CHECK(find_rule(rule.id) == &rule);
    }
}

TEST_CASE("docs/submission.md knows every rule, every parameter and every file of the layout") {
    const std::string text = read_text(fs::path(FEEDBENCH_SOURCE_DIR) / "docs" / "submission.md");
    REQUIRE_FALSE(text.empty());
    for (const Rule& rule : rules()) {
        INFO(rule.id);
        CHECK(text.find("`" + std::string(rule.id) + "`") != std::string::npos);
        CHECK(text.find(rule.checks) != std::string::npos);
    }
    for (const ParameterRule& rule : parameter_rules()) {
        INFO(rule.key);
        CHECK(text.find("`" + std::string(rule.key) + "`") != std::string::npos);
    }
    for (const LayoutRow& row : layout()) {
        INFO(row.pattern);
        CHECK(text.find(row.pattern) != std::string::npos);
    }
    CHECK(text.find(kStatement) != std::string::npos);
}
