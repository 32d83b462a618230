#include <catch2/catch.hpp>

#include "reporters/ingest/rank_output.hpp"
#include "tests/unit/ingest/result_tree.hpp"

using namespace feedbench::ingest;
using namespace feedbench::ingest::test;

namespace {

// n steps of 0.323 s, the first takes `first_s`, the others 0.34 s: T = first_s + (n - 1) * 0.34.
json rank_file(int epochs, int n, double first_s) {
    const double block_s = first_s + (n - 1) * 0.34;
    json file;
    for (int e = 1; e <= epochs; ++e) {
        json& epoch = file[std::to_string(e)];
        epoch["proc"]["block1"] = std::vector<double>(static_cast<std::size_t>(n), 0.33);
        epoch["proc"]["block1"][0] = first_s;
        epoch["load"]["block1"] = {9, 9, 9};
        epoch["compute"]["block1"] = std::vector<double>(static_cast<std::size_t>(n), 0.323);
        epoch["compute"]["eval"] = {100, 100};
        epoch["throughput"]["block1"] = n * 7 / block_s;
        epoch["au"]["block1"] = 1;
        epoch["host_meminfo"] = {{"MemTotal", "1 kB"}};
    }
    file["hostname"] = "h";
    return file;
}

} // namespace

TEST_CASE("ranks' files: AU without the first step, effective utilization with it") {
    const ResultTree tree;
    for (const char* name : {"0_output.json", "1_output.json"}) tree.write(name, rank_file(2, 11, 3.4));
    std::vector<RankOutput> ranks;
    for (const char* name : {"0_output.json", "1_output.json"}) {
        auto rank = read_rank_output(tree.root() / name);
        REQUIRE(rank);
        ranks.push_back(*rank);
    }
    REQUIRE(ranks[0].epochs.size() == 2);
    CHECK(ranks[0].epochs.at(1).size() == 1); // the evaluation is not training
    CHECK(ranks[0].epochs.at(1).at("block1").step_count == 11);
    CHECK(*mean_think_time_s(ranks) == Approx(0.323));
    const auto figures = combine_ranks(ranks, 7);
    REQUIRE(figures);
    CHECK(figures->rank_count == 2);
    CHECK(*figures->au_percentage == Approx(100 * 0.323 / 0.34));
    CHECK(*figures->effective_utilization_percentage == Approx(100 * 11 * 0.323 / 6.8));
    CHECK(*figures->samples_per_second == Approx(2 * 77 / 6.8));
}

TEST_CASE("a rank's file with NaN is read, a torn one is refused, and without rates there are no figures") {
    const ResultTree tree;
    std::string text = rank_file(1, 3, 1).dump();
    text.replace(text.find("\"au\":{\"block1\":1}"), 17, "\"au\":{\"block1\":NaN}");
    tree.write("nan.json", text);
    const auto nan = read_rank_output(tree.root() / "nan.json");
    REQUIRE(nan);
    CHECK(nan->epochs.at(1).at("block1").step_count == 3);
    tree.write("torn.json", text.substr(0, 60));
    const auto torn = read_rank_output(tree.root() / "torn.json");
    REQUIRE_FALSE(torn);
    CHECK(torn.error().message.find("not valid JSON") != std::string::npos);
    json silent = rank_file(1, 3, 1);
    silent["1"].erase("throughput");
    tree.write("silent.json", silent);
    const auto quiet = read_rank_output(tree.root() / "silent.json");
    REQUIRE(quiet);
    CHECK_FALSE(combine_ranks(std::vector{*quiet}, 7));
}

TEST_CASE("in a run folder: all ranks are used, a part of them is not") {
    const ResultTree tree;
    tree.write("a/summary.json", summary());
    for (int r = 0; r < 4; ++r) tree.write("a/" + std::to_string(r) + "_output.json", rank_file(5, 11, 3.4));
    tree.write("a/per_epoch_stats.json", json{{"1",
                                               {{"start", "2024-08-17T23:00:00"},
                                                {"end", "2024-08-17T23:00:10"},
                                                {"duration", "10.00"},
                                                {"block1", {{"start", "x"}, {"duration", "6.80"}}}}}});
    const Ingested whole = tree.read("a");
    REQUIRE(whole.runs.size() == 1);
    REQUIRE(whole.runs[0].ranks);
    CHECK(whole.runs[0].ranks->rank_count == 4);
    CHECK(*whole.runs[0].epochs[0].wall_s == Approx(10));
    CHECK(*whole.runs[0].epochs[0].block_s == Approx(6.8));
    CHECK_FALSE(whole.runs[0].whole_epoch_utilization_percentage); // of one epoch in five
    tree.write("a/2_output.json", std::string("{"));
    const Ingested part = tree.read("a");
    REQUIRE(part.runs.size() == 1);
    CHECK_FALSE(part.runs[0].ranks);
    CHECK(says(part.runs[0].notes, "files of 3 ranks for 4 accelerators"));
    REQUIRE(problem_at(part, "2_output.json") != nullptr);
    CHECK(problem_at(part, "2_output.json")->used);
    fs::remove(tree.root() / "a/summary.json");
    const Ingested none = tree.read("a");
    CHECK(none.runs.empty());
    REQUIRE(none.problems.size() == 1);
    CHECK(none.problems[0].found.find("no summary.json") != std::string::npos);
}
