// The checker on trees that others made: 125 published runs of edition 1.0, and what must never crash.
#include <catch2/catch.hpp>

#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/system_description.hpp"
#include "submission_tree.hpp"

using namespace feedbench;
using namespace feedbench::submission;
using namespace feedbench::submission::test;

namespace {

const fs::path kCorpus = fs::path(FEEDBENCH_SOURCE_DIR) / ".." / "shared" / "corpus" / "mlperf-storage-v1.0";

} // namespace

TEST_CASE("the published tree of edition 1.0 gives the findings that it has") {
    if (!fs::exists(kCorpus / "expected.csv")) {
        std::cout << "skipped: corpus not found\n";
        SUCCEED();
        return;
    }
    const auto result = check_tree(kCorpus, {});
    REQUIRE(result);
    CHECK(result->edition == "1.0");
    CHECK(result->submitter_count == 11);
    CHECK(result->set_count == 25);
    CHECK(result->run_count == 125);
    std::multimap<std::string, const RuleFinding*> by_rule;
    for (const RuleFinding& finding : result->findings) by_rule.emplace(finding.rule, &finding);
    const auto count = [&](const char* rule) { return by_rule.count(rule); };
    const auto has = [&](const char* rule, const std::string& path, const std::string& found) {
        const auto [from, to] = by_rule.equal_range(rule);
        for (auto it = from; it != to; ++it)
            if (it->second->path.find(path) != std::string::npos && it->second->found.find(found) != std::string::npos)
                return true;
        return false;
    };
    // Every one reached its bar, and ran five times.
    CHECK(count("au_below_bar") == 0);
    CHECK(count("run_count") == 0);
    CHECK(count("workload_unknown") == 0);
    CHECK(count("uneven_accelerators") == 0);
    CHECK(count("edition_differs") == 0);
    // Names are case-sensitive: Closed and Open; the copy holds no code and no PDF.
    CHECK(count("division_name") == 11);
    CHECK(count("folder_missing") >= 11);
    CHECK(count("pdf_missing") > 0);
    // Broken on purpose.
    CHECK(has("file_broken", "Closed/Lightbits_Labs/systems", "comma"));
    CHECK(has("file_broken", "Closed/Juicedata/systems", "comma"));
    CHECK(has("file_broken", "Closed/Micron/systems/Micron_6500", "comma"));
    CHECK(count("file_stray") == 4 + 1); // AppleDouble files, one JSON schema
    // .JSON in capitals is another name.
    CHECK(has("description_missing", "Closed/HPE/systems", ".JSON"));
    // Layouts of their own.
    CHECK(has("run_misplaced", "Closed/HPE/results/Cray_C500_4xHDR200_1host", ""));
    // Host memory of 247 GiB was there: 5 x 32 GiB was what they sized for, and 499 steps.
    CHECK(count("dataset_too_small") == 2);
    CHECK(has("dataset_too_small", "Closed/Juicedata/results/JuiceFS-cloud-nvme-distributed-cache/resnet50-10acc",
              "499.8 steps"));
    CHECK(count("file_broken") == 4);
    CHECK(count("report_missing") == 0);
    for (const RuleFinding& finding : result->findings) {
        CHECK_FALSE(finding.expected.empty());
        CHECK(finding.path.find("/work/") == std::string::npos);
    }
}

TEST_CASE("a part of a tree is checked as that part") {
    if (!fs::exists(kCorpus / "expected.csv")) return; // said above
    const auto submitter = check_tree(kCorpus / "Closed" / "Huawei", {});
    REQUIRE(submitter);
    CHECK(submitter->run_count == 5);
    CHECK(submitter->submitter_count == 1);
    const auto division = check_tree(kCorpus / "Open", {});
    REQUIRE(division);
    CHECK(division->run_count == 10);
}

TEST_CASE("an empty tree, a tree of nonsense and no tree at all have an answer") {
    TemporaryFolder folder;
    const auto empty = check_tree(folder.path(), {});
    REQUIRE(empty);
    CHECK_FALSE(empty->passed());
    CHECK_FALSE(check_tree(folder.path() / "nothing", {}));
    CHECK_FALSE(check_tree(folder.path(), {"4.0", "closed"}));
    CHECK_FALSE(check_tree(folder.path(), {"", "ajar"}));
    const fs::path nonsense = folder.path() / "closed" / "acme";
    for (const char* file : {"results/s/unet3d-h100/run1/summary.json", "results/s/unet3d-h100/run2/result.json",
                             "results/s/training/unet3d/run/20260101_000000/summary.json", "systems/s.json",
                             "systems/s.yaml", "submission.yaml", "results/s/unet3d-h100/run1/config.yaml"})
        for (const char* text :
             {"", "[", "[1, {}]", "{\"metric\": 3}", "{\"metric\": {\"x_checkpoint\": []}}",
              "{\"num_accelerators\": -1, \"metric\": {\"train_throughput_mean_samples_per_second\": 1}}",
              "\xff\xfe\0\0"}) {
            write_text(nonsense / file, text);
            const auto result = check_tree(folder.path(), {});
            REQUIRE(result);
            CHECK_FALSE(result->passed());
            CHECK_FALSE(render_console(*result).empty());
            CHECK_FALSE(render_json(*result).empty());
        }
}

TEST_CASE("a run that knows nothing of itself is checked, too") {
    TemporaryFolder folder;
    const fs::path set = folder.path() / "closed/acme/results/s/training/unet3d/run";
    for (const char* kind : {"training", "checkpoint"}) {
        RunResult empty;
        empty.kind = kind;
        write_text(set / "20260101_000000" / "result.json", reporters::find_reporter("json")->render(empty, {}));
        for (const char* edition : {"1.0", "2.0", "3.0"}) {
            const auto result = check_tree(folder.path(), {edition, "closed"});
            REQUIRE(result);
            CHECK(lines(*result).find("run_not_valid") != std::string::npos);
        }
    }
}

TEST_CASE("a description says what hosts said, and asks for the rest") {
    const std::string fresh = description_yaml({{{"h1"}, "CPU: with \"quotes\"", "6.1", "", 8, 15.5, "", {}}},
                                               {"/mnt/x", "nfs4", "server:/x"}, "");
    CHECK(fresh.find(kStatement) != std::string::npos);
    TemporaryFolder folder;
    write_text(folder.path() / "fresh.yaml", fresh);
    write_text(folder.path() / "filled.yaml", filled_description());
    const auto read = [&](const char* name) {
        auto yaml = ingest::read_yaml(folder.path() / name);
        REQUIRE(yaml);
        return *yaml;
    };
    std::size_t by_person = 0;
    for (const DescriptionField& field : description_fields()) by_person += field.by_person ? 1 : 0;
    // And the name, the operating system and the network, which this host did not say.
    CHECK(description_problems(read("fresh.yaml")).size() == by_person + 3);
    CHECK(description_problems(read("filled.yaml")).empty());
    CHECK(is_ours(read("filled.yaml")));
    const auto json = nlohmann::json::parse(description_json(read("filled.yaml")));
    CHECK(json["storage_system"]["usable_capacity_GiB"] == 1000);
    CHECK(json["storage_system"]["shared_capabilities"]["multi_host_support"] == true);
    CHECK(json["clients"][0]["cpu_model"] == "Some CPU");
    // Compare reads it, too.
    std::vector<ingest::Problem> problems;
    const auto compared = ingest::read_system_description(folder.path() / "filled.yaml", problems);
    REQUIRE(compared);
    CHECK(compared->vendor == "Acme");
    CHECK(compared->usable_capacity_GiB == 1000);
    CHECK(compared->watts == 2400);
    std::vector<ClientDescription> hosts(3);
    hosts[0].host_names = {"a"};
    hosts[1].host_names = {"b"};
    hosts[2].host_names = {"c"};
    for (ClientDescription& host : hosts) host.memory_GiB = 16;
    hosts[2].memory_GiB = 32;
    const auto groups = group_alike(hosts);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].host_names == std::vector<std::string>{"a", "b"});
}
