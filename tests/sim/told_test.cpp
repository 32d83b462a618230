// What a run tells while it is under way is what its result holds afterwards.
#include "tests/support/virtual_run.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

class Told final : public RunObserver {
  public:
    std::vector<Slice> slices;
    std::vector<EpochResult> epochs;
    std::vector<double> elapsed_s;
    void on_slice(const Slice& slice) override { slices.push_back(slice); }
    void on_epoch(const EpochResult& epoch) override { epochs.push_back(epoch); }
    void on_progress(const Progress& progress) override { elapsed_s.push_back(progress.elapsed_s); }
};

} // namespace

TEST_CASE("seconds are told as they end, epochs with the figures that the result will have") {
    Told told;
    VirtualRun run("model:latency=1ms,bandwidth=1GB", GENERATE("pytorch", "tensorflow", "native"));
    run.workload.dataset.num_files_train = 200;
    run.workload.train.epochs = 3;
    run.workload.train.computation_time.mean_s = 0.21;
    const auto result = run.run(&told);
    REQUIRE(result);
    // Every whole second, in order; the last one is cut short by the end of the run, and known to the result alone.
    REQUIRE(told.slices.size() + 1 >= result->slices.size());
    REQUIRE(told.slices.size() >= 5);
    for (std::size_t i = 0; i < told.slices.size(); ++i) {
        CHECK(told.slices[i].start_ns == i * kNsPerS);
        CHECK(told.slices[i].bytes == result->slices.at(i).bytes);
        CHECK(told.slices[i].steps == result->slices.at(i).steps);
        CHECK(told.slices[i].in_flight_reads == result->slices.at(i).in_flight_reads);
    }
    CHECK(std::is_sorted(told.elapsed_s.begin(), told.elapsed_s.end()));
    CHECK(static_cast<double>(told.elapsed_s.size()) >= told.elapsed_s.back()); // at least one a second
    REQUIRE(told.epochs.size() == result->epochs.size());
    for (std::size_t e = 0; e < told.epochs.size(); ++e) {
        REQUIRE(told.epochs[e].metrics.size() == result->epochs[e].metrics.size());
        for (std::size_t m = 0; m < told.epochs[e].metrics.size(); ++m) {
            INFO(told.epochs[e].metrics[m].key);
            CHECK(told.epochs[e].metrics[m].key == result->epochs[e].metrics[m].key);
            CHECK(told.epochs[e].metrics[m].value == result->epochs[e].metrics[m].value);
        }
    }
}
