// One defect in a golden tree gives exactly one finding, with the right rule.
#include <catch2/catch.hpp>

#include "defects.hpp"
#include "reporters/submission/rules.hpp"

using namespace feedbench;
using namespace feedbench::submission;
using namespace feedbench::submission::test;

TEST_CASE("a single defect gives exactly one finding") {
    for (const Defect& defect : defects()) {
        INFO(defect.what << ": " << defect.rule);
        TemporaryFolder folder;
        fs::path submitter;
        if (defect.measure) {
            Runs runs = golden_runs(defect.edition, defect.model, defect.accelerator);
            defect.measure(runs);
            submitter = write_tree(folder.path(), defect.edition, defect.division, runs);
        } else {
            fs::copy(golden_tree(defect.edition, defect.division, defect.model, defect.accelerator), folder.path(),
                     fs::copy_options::recursive);
            submitter = folder.path() / "tree" / defect.division / "acme";
        }
        if (defect.damage) defect.damage(submitter);
        const auto result = check_tree(folder.path() / "tree", {});
        REQUIRE(result);
        INFO(lines(*result));
        CHECK(result->findings.size() == 1);
        if (result->findings.empty()) continue;
        const RuleFinding& finding = result->findings.front();
        CHECK(finding.rule == defect.rule);
        CHECK_FALSE(finding.path.empty());
        CHECK_FALSE(finding.found.empty());
        CHECK_FALSE(finding.expected.empty());
        CHECK_FALSE(result->passed());
        // The same in JSON.
        const auto json = nlohmann::json::parse(render_json(*result));
        CHECK(json["findings"][0]["rule"] == defect.rule);
        CHECK(json["passed"] == false);
    }
}

TEST_CASE("every rule on runs and sets has a defect above that breaks it") {
    std::string missing;
    for (const Rule& rule : rules())
        if (std::none_of(defects().begin(), defects().end(), [&](const Defect& one) { return one.rule == rule.id; }))
            missing += std::string(rule.id) + " ";
    CHECK(missing == "");
}

TEST_CASE("the dataset rule truncates as the official tool does, and splits no sample at the edge") {
    // 4 hosts x 754 GB x 5 x 2^30 / 322957 = 50,136,788.19 samples (reference facts).
    RunFacts run;
    run.path = "run1";
    run.model = "retinanet";
    run.accelerator = "b200";
    run.accelerator_count = 8;
    run.host_count = 4;
    run.host_memory_GiB = 4 * 754.0;
    run.record_length_bytes = 322957;
    run.batch_size = 24;
    run.samples_per_file = 1;
    run.au_percentage = 90;
    PublishedProfiles profiles;
    const auto too_small = [&](std::uint64_t files) {
        run.file_count = files;
        for (const RuleFinding& finding : check_run(run, {"3.0", "closed"}, profiles).findings)
            if (finding.rule == "dataset_too_small") return true;
        return false;
    };
    CHECK_FALSE(too_small(50'136'788));
    CHECK(too_small(50'136'787));
}

TEST_CASE("what can be known before a run is refused then") {
    PublishedProfiles profiles;
    const auto before = [&](const std::string& workload, const std::vector<std::string>& params, std::uint32_t ranks,
                            const std::string& division) {
        const auto loaded = config::load_workload({.workload = workload, .params = params});
        REQUIRE(loaded);
        PlannedRun plan;
        plan.workload = &*loaded;
        plan.accelerator_count = plan.rank_count = ranks;
        plan.ranks_of_hosts = {ranks};
        plan.memory_of_hosts = {std::uint64_t{16} << 30};
        plan.results_on_storage = false;
        std::string rules_broken;
        for (const RuleFinding& finding :
             check_run(facts_of(plan, profiles), {"2.0", division, RunJudgement::When::before}, profiles).findings)
            rules_broken += finding.rule + " ";
        return rules_broken;
    };
    const std::string enough = "dataset.num_files_train=14000";
    CHECK(before("unet3d_h100", {enough}, 4, "closed") == "");
    CHECK(before("unet3d_h100", {}, 4, "closed") == "dataset_too_small ");
    CHECK(before("unet3d_h100", {enough, "reader.data_loader=native"}, 4, "closed") == "parameter_not_allowed ");
    CHECK(before("unet3d_h100", {enough, "reader.data_loader=native"}, 4, "open") == "");
    CHECK(before("llama3_8b", {}, 8, "closed") == "");
    CHECK(before("llama3_8b", {}, 7, "closed") == "checkpoint_ranks ");
    CHECK(before("llama3_8b", {}, 7, "open") == "");
    CHECK(before("llama3_8b", {"checkpoint.num_checkpoints_write=3", "checkpoint.num_checkpoints_read=3"}, 8,
                 "closed") == "checkpoint_count ");
}
