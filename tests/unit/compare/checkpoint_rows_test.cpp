// Rows of checkpoint results: groups of their own, their own columns and rules.
#include <catch2/catch.hpp>

#include "reporters/compare/formats.hpp"
#include "tests/unit/compare/rows.hpp"

using namespace feedbench::compare;
using namespace feedbench::compare::test;
using feedbench::ingest::CheckpointSide;
using feedbench::ingest::IngestedRun;
using feedbench::ingest::Kind;

namespace {

IngestedRun checkpoints(const std::string& submitter, std::optional<double> save_s, std::optional<double> load_s) {
    IngestedRun r;
    r.kind = Kind::checkpoint;
    r.submitter = submitter;
    r.system = "Sys";
    r.path = "/t/" + submitter + "/results/Sys/checkpointing/llama3-8b/20250801_101500";
    r.set_path = "/t/" + submitter + "/results/Sys/checkpointing/llama3-8b";
    r.workload = "llama3-8b";
    r.edition = "2.0";
    r.division = "closed";
    r.accelerator_count = 8;
    r.host_count = 2;
    r.host_memory_GiB = 100;
    r.start_time = "2025-08-01T10:15:00";
    r.checkpoint.emplace();
    r.checkpoint->size_GiB = 104;
    const auto side = [](std::optional<double> s) {
        return s ? CheckpointSide{10, 104 / *s, 105 / *s, s} : CheckpointSide{0, {}, {}, {}};
    };
    r.checkpoint->save = side(save_s);
    r.checkpoint->load = side(load_s);
    return r;
}

} // namespace

TEST_CASE("checkpoints are ranked by what they write, and never with a training") {
    std::vector<IngestedRun> runs = five();
    runs.push_back(checkpoints("Slow", 20, 5));
    runs.push_back(checkpoints("Fast", 8, 4));
    runs.push_back(checkpoints("Reader", {}, 1));
    runs.back().invalid_reasons = {};
    const Comparison all = compared(std::move(runs));
    REQUIRE(all.groups.size() == 2);
    CHECK(all.groups[0].kind == Kind::training);
    const Group& group = all.groups[1];
    CHECK(group.title() == "llama3-8b checkpoints / edition 2.0 / closed");
    REQUIRE(group.rows.size() == 3);
    CHECK(group.rows[0].submitter == "Fast");
    CHECK(group.rows[0].position == 1);
    CHECK(group.rows[1].submitter == "Slow");
    CHECK(group.rows[2].submitter == "Reader");
    CHECK(group.rows[2].position == 0); // wrote nothing
    CHECK(value(group.rows[0], "save_GiB_per_second") == 13);
    CHECK(value(group.rows[0], "save_GiB_per_second_mean_of_rates") == 105.0 / 8);
    CHECK(value(group.rows[0], "load_GiB_per_second_per_host") == 13);
    CHECK(*value(group.rows[0], "save_GB_per_second") == Approx(13 * 1.073741824));
    for (const Row& row : group.rows)
        for (const Column& column : columns(Kind::checkpoint)) {
            INFO(column.key);
            const feedbench::Metric* metric = feedbench::reporters::row(row.metrics, column.key);
            REQUIRE(metric != nullptr);
            CHECK(metric->value.has_value() == metric->reason.empty());
        }
    for (const Format& format : formats()) CHECK(format.render(all, {}).find("llama3-8b") != std::string::npos);
}

TEST_CASE("writes and reads in two runs are one row, each direction by the run that has it") {
    IngestedRun write = checkpoints("Acme", 8, {}), read = checkpoints("Acme", {}, 4);
    read.path += "x";
    const Row row = row_of({write, read});
    CHECK(row.runs.size() == 2);
    CHECK(value(row, "save_duration_s") == 8);
    CHECK(value(row, "save_count") == 10);
    CHECK(value(row, "load_count") == 10);
    CHECK(value(row, "load_duration_s") == 4);
    CHECK(footnote(row, "checkpoint_count").empty());
    CHECK(footnote(row, "read_from_memory").empty());
    CHECK(footnote(row, "run_count").empty());
}

TEST_CASE("checkpoint footnotes: other counts than the rules', and reading what memory may still hold") {
    IngestedRun run = checkpoints("Acme", 8, 4);
    run.checkpoint->save.checkpoint_count = 8;
    Row row = row_of({run});
    CHECK(footnote(row, "checkpoint_count").find("8 checkpoints written and 10 read") == 0);
    CHECK(footnote(row, "read_from_memory").find("1.04 of the client hosts' memory") != std::string::npos);
    run.checkpoint->save.checkpoint_count = 10;
    run.host_memory_GiB = 30;
    row = row_of({run});
    CHECK(row.footnotes.empty());
    run.host_memory_GiB = 100;
    run.tool = feedbench::ingest::Tool::feedbench; // judges its caches itself
    CHECK(footnote(row_of({run}), "read_from_memory").empty());
    run.division.clear();
    run.checkpoint->save.checkpoint_count = 3;
    CHECK(footnote(row_of({run}), "checkpoint_count").empty());
}
