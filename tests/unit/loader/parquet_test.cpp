// Tables by every loader: what comes together is read once, and what is not read of a row does not count (case T12).
#include "tests/support/loader_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

constexpr std::uint32_t kRows = 4000, kGroup = 1000;
constexpr std::uint64_t kFiles = 3;

LoaderSetup table_setup(const std::string& loader) {
    LoaderSetup setup;
    setup.format = "parquet";
    setup.loader = loader;
    setup.files = kFiles;
    setup.samples_per_file = kRows;
    setup.batch = 250;
    setup.row_group_rows = kGroup;
    setup.keeps_files_open = true;
    for (int i = 0; i < 20; ++i) // 16 kB of each column in a row group: no gap is read over
        setup.columns.push_back({"c" + std::to_string(i), "float64", 2, i % 5 == 0});
    return setup;
}

struct Got {
    std::uint64_t delivered = 0, samples = 0;
};
Got run_all(LoaderRig& rig) {
    Got got;
    const auto plan = rig.epoch();
    for (const auto& batches : rig.run_epoch(*plan))
        for (const loader::Batch& batch : batches) {
            CHECK_FALSE(batch.error);
            got.delivered += batch.bytes_delivered;
            got.samples += batch.sample_count;
        }
    return got;
}

// Rows of one file, one a step.
class RowsInOrder final : public EpochPlan {
  public:
    explicit RowsInOrder(std::vector<std::uint32_t> rows) : rows_(std::move(rows)) {}
    std::uint64_t step_count() const override { return rows_.size(); }
    std::uint32_t batch_size() const override { return 1; }
    std::uint32_t accelerator_count() const override { return 1; }
    std::uint64_t dropped_sample_count() const override { return 0; }
    SampleRef sample(std::uint32_t, std::uint64_t step, std::uint32_t) const override { return {0, rows_[step]}; }

  private:
    std::vector<std::uint32_t> rows_;
};

constexpr std::uint64_t kValues = kFiles * kRows * 4 * 16; // of the 4 columns of 20 that are read

} // namespace

TEST_CASE("T12: each loader delivers the columns that are read, and their row groups once", "[loader][parquet]") {
    for (const std::string loader : {"pytorch", "tensorflow", "native"}) {
        INFO(loader);
        LoaderRig rig(table_setup(loader));
        const Got got = run_all(rig);
        CHECK(got.samples == kFiles * kRows);
        // Values, 48 page headers, three footers of 80 chunks.
        CHECK(got.delivered > kValues);
        CHECK(got.delivered < kValues + kFiles * 16 * 4 * 40 + kFiles * 8000);
        CHECK(rig.counters().bytes == got.delivered);
        CHECK(rig.counters().samples == got.samples);
    }
}

TEST_CASE("pytorch: with several workers each reads the row groups of its batches", "[loader][parquet]") {
    LoaderSetup setup = table_setup("pytorch");
    setup.read_threads = 4; // four batches in a row group, one of each worker
    LoaderRig rig(setup);
    const Got got = run_all(rig);
    CHECK(got.samples == kFiles * kRows);
    CHECK(got.delivered > 4 * kValues);
    CHECK(got.delivered < 4 * (kValues + kFiles * 16 * 4 * 40 + kFiles * 8000));
}

TEST_CASE("native: a row group is given to one worker, however deep the queue", "[loader][parquet]") {
    LoaderSetup setup = table_setup("native");
    setup.queue_depth = 16;
    setup.prefetch = 8;
    setup.transfer_size = 4096;
    LoaderRig rig(setup);
    const Got got = run_all(rig);
    CHECK(got.samples == kFiles * kRows);
    CHECK(got.delivered > kValues);
    CHECK(got.delivered < kValues + kFiles * 16 * 4 * 40 + 12 * 8000); // at most 12 workers open a file for a row group
}

TEST_CASE("pytorch: without a worker the accelerator's own process keeps the file open", "[loader][parquet]") {
    LoaderSetup setup = table_setup("pytorch");
    setup.read_threads = 0;
    LoaderRig rig(setup);
    const Got got = run_all(rig);
    CHECK(got.samples == kFiles * kRows);
    CHECK(got.delivered < kValues + kFiles * 16 * 4 * 40 + kFiles * 8000);
    CHECK(rig.backend().open_count == kFiles);
}

TEST_CASE("a table without content is read as one with it", "[loader][parquet]") {
    for (const std::string loader : {"pytorch", "tensorflow", "native"}) {
        INFO(loader);
        LoaderSetup setup = table_setup(loader);
        LoaderRig real(setup);
        setup.has_content = false;
        LoaderRig blind(setup);
        CHECK(run_all(real).delivered == run_all(blind).delivered);
    }
}

TEST_CASE("rows of the last row groups are at hand, and have no latency of a read", "[loader][parquet]") {
    for (const std::string loader : {"pytorch", "native"}) {
        INFO(loader);
        LoaderSetup setup = table_setup(loader);
        setup.files = 1;
        setup.samples_per_file = 400;
        setup.row_group_rows = 100; // four row groups: all that are kept
        setup.batch = 10;
        setup.sample_shuffle = Shuffle::random;
        LoaderRig rig(setup);
        CHECK(run_all(rig).samples == 400);
        const std::uint64_t reads = rig.counters().epoch.sample_read_latency.count();
        if (loader == "pytorch") CHECK(reads == 4);
        CHECK(reads <= rig.backend().open_count * 4);
    }
}

TEST_CASE("a row that is at hand keeps its row group there", "[loader][parquet]") {
    LoaderSetup setup = table_setup("pytorch");
    setup.files = 1;
    setup.samples_per_file = 500;
    setup.row_group_rows = 100;
    setup.batch = 1;
    LoaderRig rig(setup);
    // The fifth row group drives out the second: a row of the first was asked for after it.
    const RowsInOrder plan({0, 100, 200, 300, 1, 400, 2, 101});
    const auto got = rig.run_epoch(plan);
    CHECK(got[0].size() == 8);
    for (const loader::Batch& batch : got[0]) CHECK_FALSE(batch.error);
    CHECK(rig.counters().samples == 8);
    CHECK(rig.counters().epoch.sample_read_latency.count() == 6);
}
