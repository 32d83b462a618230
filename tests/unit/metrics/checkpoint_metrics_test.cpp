#include "harness/metrics/checkpoint_metrics.hpp"

#include <catch2/catch.hpp>

#include "harness/metrics/aggregate.hpp"

using namespace feedbench;
using namespace feedbench::metrics;

namespace {

double value(const std::vector<Metric>& rows, const std::string& key) {
    const Metric* metric = find_metric(rows, key);
    INFO(key);
    REQUIRE(metric != nullptr);
    REQUIRE(metric->value.has_value());
    return *metric->value;
}

// Ranks of one GiB each, with these durations.
CheckpointResult checkpoint(const std::string& kind, std::vector<double> durations_s) {
    CheckpointResult c;
    c.kind = kind;
    for (const double s : durations_s) {
        CheckpointRankResult rank;
        rank.rank = static_cast<std::uint32_t>(c.ranks.size());
        rank.bytes = std::uint64_t{1} << 30;
        rank.duration_s = s;
        rank.transfer_s = 0.5 * s;
        rank.fsync_s = 0.3 * s;
        rank.commit_s = 0.1 * s;
        rank.content_s = 0.05 * s;
        c.ranks.push_back(rank);
        c.bytes += rank.bytes;
        c.duration_s = std::max(c.duration_s, s);
    }
    c.data_s = 0.6 * c.duration_s;
    c.synced_s = 0.9 * c.duration_s;
    c.visible_s = 1.25 * c.duration_s;
    return c;
}

} // namespace

TEST_CASE("T8: 100 GiB in 5 s and in 20 s: 8.0 GiB/s is the headline, 12.5 the mean of rates") {
    CheckpointResult fast, slow;
    fast.bytes = slow.bytes = std::uint64_t{100} << 30;
    fast.duration_s = 5;
    slow.duration_s = 20;
    const auto rows = checkpoint_run_rows({fast, slow});
    CHECK(value(rows, "checkpoint_write_GiB_per_second") == Approx(8.0));
    CHECK(value(rows, "checkpoint_write_GiB_per_second_mean_of_rates") == Approx(12.5));
    CHECK(value(rows, "checkpoint_write_GiB_per_second_stdev_of_rates") == Approx(7.5));
    CHECK(value(rows, "checkpoint_write_MB_per_second") == Approx(8.0 * 1073.741824));
    CHECK(value(rows, "checkpoint_write_duration_s_mean") == Approx(12.5));
    CHECK(value(rows, "checkpoint_write_duration_s_max") == Approx(20));
    CHECK(value(rows, "checkpoint_size_GiB") == Approx(100));
    CHECK(find_metric(rows, "checkpoint_write_rank_GiB_per_second_min")->reason == kNoRanks);
    CHECK(find_metric(rows, "checkpoint_read_GiB_per_second") == nullptr);
}

TEST_CASE("a checkpoint takes as long as its slowest rank, and says how the ranks differ") {
    const auto rows = checkpoint_rows(checkpoint("write", {4, 5, 6}));
    CHECK(value(rows, "GiB_per_second") == Approx(0.5));
    CHECK(value(rows, "GiB_per_second_until_visible") == Approx(3 / 7.5));
    CHECK(value(rows, "rank_GiB_per_second_min") == Approx(1.0 / 6));
    CHECK(value(rows, "rank_GiB_per_second_max") == Approx(0.25));
    CHECK(value(rows, "rank_duration_s_min") == 4);
    CHECK(value(rows, "rank_duration_s_max") == 6);
    CHECK(value(rows, "rank_duration_spread_over_mean") == Approx(0.4));
    CHECK(value(rows, "transfer_percentage") == Approx(50));
    CHECK(value(rows, "fsync_percentage") == Approx(30));
    CHECK(value(rows, "commit_percentage") == Approx(10));
    CHECK(value(rows, "content_percentage") == Approx(5));
    CHECK(value(rows, "synced_after_data_s") == Approx(1.8));
    CHECK(value(rows, "visible_after_data_s") == Approx(3.9));
}

TEST_CASE("written and read are told apart; ranks without a file are no ranks; nothing at all is a reason") {
    CheckpointResult read = checkpoint("read", {2, 2});
    read.ranks.push_back({});
    const auto rows = checkpoint_run_rows({checkpoint("write", {4, 5, 6}), read});
    CHECK(value(rows, "checkpoint_write_count") == 1);
    CHECK(value(rows, "checkpoint_read_GiB_per_second") == Approx(1));
    CHECK(value(rows, "checkpoint_read_rank_duration_spread_over_mean") == 0);
    CHECK(find_metric(rows, "checkpoint_read_fsync_percentage") == nullptr);
    const auto none = checkpoint_run_rows({});
    REQUIRE(none.size() == 1);
    CHECK(none[0].reason == kNoCheckpoint);
    CHECK(find_metric(checkpoint_rows({}), "GiB_per_second")->reason == kNoTime);
}
