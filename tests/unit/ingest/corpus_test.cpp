// Ranks' files of a published run against its summary; the 25 results against expected.csv: unit_compare.
#include <catch2/catch.hpp>

#include <filesystem>
#include <iostream>

#include "reporters/ingest/ingest.hpp"

using namespace feedbench::ingest;

TEST_CASE("15 published files of ranks give the AU and rate of their summary") {
    const auto run =
        std::filesystem::path(FEEDBENCH_SOURCE_DIR) / ".." / "shared" / "corpus" /
        "mlperf-storage-v1.0/Closed/HPE/results/Cray_ClusterStor_E1000_6xSlingShot200_5hosts/unet3d_h100/run-3";
    if (!std::filesystem::exists(run)) {
        std::cout << "skipped: corpus not found\n";
        return;
    }
    const std::vector<std::filesystem::path> inputs{run};
    const Ingested all = ingest(inputs);
    REQUIRE(all.runs.size() == 1);
    const IngestedRun& one = all.runs[0];
    CHECK(one.submitter == "HPE");
    CHECK(one.edition == "1.0");
    REQUIRE(one.ranks);
    CHECK(one.ranks->rank_count == 15);
    CHECK(*one.ranks->au_percentage == Approx(*one.au_percentage).epsilon(1e-12));
    CHECK(*one.ranks->samples_per_second == Approx(*one.samples_per_second).epsilon(1e-12));
    CHECK(*one.ranks->effective_utilization_percentage == Approx(*one.effective_utilization_percentage).margin(0.01));
}
