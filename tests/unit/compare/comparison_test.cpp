#include <catch2/catch.hpp>

#include "tests/unit/compare/rows.hpp"

using namespace feedbench::compare;
using namespace feedbench::compare::test;
using feedbench::ingest::IngestedRun;

namespace {

template <class F>
std::vector<IngestedRun> changed(F&& change) {
    std::vector<IngestedRun> runs = five();
    for (IngestedRun& run : runs) change(run);
    return runs;
}

std::vector<IngestedRun> together(std::vector<IngestedRun> a, const std::vector<IngestedRun>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

TEST_CASE("runs of one set are one row: means, margins, rates per host and accelerator") {
    std::vector<IngestedRun> runs = five();
    runs[3] = run(4, 90.25, 70);
    const Row row = row_of(runs);
    CHECK(row.position == 1);
    CHECK(value(row, "run_count") == 5);
    CHECK(*value(row, "au_percentage") == Approx((4 * 95 + 90.25) / 5));
    CHECK(*value(row, "au_margin_points") == Approx(4.05));
    CHECK(*value(row, "au_margin_points_worst_run") == Approx(0.25));
    CHECK(*value(row, "samples_per_second") == Approx(78));
    CHECK(*value(row, "MB_per_second") == Approx(78 * 146.600628));
    CHECK(*value(row, "MiB_per_second") == Approx(78 * 146600628.0 / 1048576));
    CHECK(*value(row, "MB_per_second_per_host") == Approx(39 * 146.600628));
    CHECK(*value(row, "MB_per_second_per_accelerator") == Approx(19.5 * 146.600628));
    CHECK(*value(row, "run_spread_percentage") == Approx(100 * 4 / 78.0)); // population: sqrt((4*4 + 64)/5) = 4
    CHECK(*value(row, "later_over_first_epoch") == Approx(1));
    CHECK(*value(row, "dataset_over_memory") == Approx(1911.0 / 256));
    CHECK_FALSE(value(row, "watts"));
}

TEST_CASE("a figure that one run lacks is none of the row, with the reason") {
    std::vector<IngestedRun> runs = five();
    runs[2].au_percentage.reset();
    const Row row = row_of(runs);
    CHECK_FALSE(value(row, "au_percentage"));
    CHECK(feedbench::reporters::row(row.metrics, "au_percentage")->reason == "a run has no AU");
    CHECK(row.position == 0);
    CHECK(value(row, "samples_per_second"));
}

TEST_CASE("like with like: workload, accelerator, edition, division and variant never share a group") {
    const std::vector<IngestedRun> base = five();
    CHECK(compared(base).groups.size() == 1);
    for (const auto& other :
         {changed([](IngestedRun& r) { r.workload = "resnet50"; }),
          changed([](IngestedRun& r) { r.accelerator_model = "a100"; }),
          changed([](IngestedRun& r) { r.edition = "2.0"; }), changed([](IngestedRun& r) { r.division = "open"; }),
          changed([](IngestedRun& r) { r.variant = "batch 4"; })})
        CHECK(compared(together(base, other)).groups.size() == 2);
}

TEST_CASE("other sets, counts and arguments are rows of their own, ranked by MB/s") {
    const auto faster = changed([](IngestedRun& r) {
        r.accelerator_count = 8;
        r.nominal_MB_per_second = 20000;
    });
    const auto failing = changed([](IngestedRun& r) {
        r.set_path = "/t/Else";
        r.au_percentage = 80;
        r.nominal_MB_per_second = 30000;
    });
    const auto again = changed([](IngestedRun& r) { r.input_index = 1; });
    const Comparison all = compared(together(together(five(), faster), together(failing, again)));
    REQUIRE(all.groups.size() == 1);
    const auto& rows = all.groups[0].rows;
    REQUIRE(rows.size() == 4);
    CHECK(all.run_count == 20);
    CHECK(rows[0].position == 0); // 30000 MB/s, but below the bar
    CHECK(rows[1].accelerator_count == 8);
    CHECK(rows[1].position == 1);
    CHECK(rows[2].position == 2);
    CHECK(rows[3].position == 3);
}

TEST_CASE("what feedbench itself calls invalid has no place") {
    auto runs = changed([](IngestedRun& r) { r.division.clear(); });
    CHECK(row_of(runs).position == 1);
    runs[0].invalid_reasons = {"cached"};
    CHECK(row_of(runs).position == 0);
}

TEST_CASE("scaling: against the smallest size of the system, else of the submitter") {
    const auto larger = changed([](IngestedRun& r) {
        r.accelerator_count = 16;
        r.host_count = 4;
        r.nominal_MB_per_second = *r.nominal_MB_per_second * 3;
    });
    const Comparison all = compared(together(five(), larger));
    const Row& row = all.groups.at(0).rows.at(0);
    CHECK(row.accelerator_count == 16);
    CHECK(*value(row, "scaling_per_host_percentage") == Approx(150));
    CHECK(*value(row, "scaling_per_accelerator_percentage") == Approx(75));
    CHECK(*value(all.groups[0].rows.at(1), "scaling_per_host_percentage") == Approx(100));
    CHECK_FALSE(value(row_of(five()), "scaling_per_host_percentage"));
    auto elsewhere = larger;
    for (IngestedRun& r : elsewhere) r.system = "Sys_16";
    CHECK(*value(compared(together(five(), elsewhere)).groups.at(0).rows.at(0), "scaling_per_host_percentage") ==
          Approx(150));
    for (IngestedRun& r : elsewhere) r.submitter = "Other";
    CHECK_FALSE(value(compared(together(five(), elsewhere)).groups.at(0).rows.at(0), "scaling_per_host_percentage"));
}

TEST_CASE("edition 3.0: the first of six runs is warm-up") {
    auto runs = changed([](IngestedRun& r) { r.edition = "3.0"; });
    runs.push_back(run(0, 50, 10));
    runs.back().edition = "3.0";
    const Row row = row_of(runs);
    CHECK(row.warm_up.size() == 1);
    CHECK(*value(row, "samples_per_second") == Approx(80));
    CHECK(footnote(row, "run_count").empty());
    CHECK(footnote(row, "warm_up").find("run0") != std::string::npos);
}
