// Runs of random small configurations from many seeds: the invariants hold in each; and the same seed is the same run.
#include "tests/support/random_run.hpp"

#include "harness/types/random.hpp"
#include "reporters/result_json.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

// The result as it is written, without what a real machine adds.
std::string text_of(RunResult result) {
    result.hosts.clear();
    std::erase_if(result.metrics, [](const Metric& metric) { return metric.key.starts_with("cpu_s_per_GB"); });
    result.start_time = result.end_time = {};
    return reporters::to_json(result);
}

} // namespace

TEST_CASE("150 random runs end, read every sample once, and explain every second") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        const VirtualRun run = random_run(seed);
        const Workload& w = run.workload;
        INFO("seed " << seed << ": " << w.reader.data_loader << " on " << w.dataset.data_folder << ", "
                     << w.dataset.format << ", " << w.dataset.num_files_train << " files x "
                     << w.dataset.num_samples_per_file << ", " << run.accelerators << " accelerators, batch "
                     << w.reader.batch_size << ", threads " << w.reader.read_threads << ", prefetch "
                     << w.reader.prefetch_size);
        const RunResult result = run.must_run();
        check_invariants(result);
        const std::uint64_t samples = w.dataset.num_files_train * w.dataset.num_samples_per_file;
        std::uint64_t trained = 0;
        for (const EpochResult& epoch : result.epochs) {
            if (epoch.evaluation) {
                CHECK(epoch.sample_count + epoch.dropped_sample_count ==
                      w.dataset.num_files_eval * w.dataset.num_samples_per_file);
                continue;
            }
            ++trained;
            CHECK(epoch.sample_count + epoch.dropped_sample_count == samples);
            CHECK(epoch.sample_count == epoch.step_count * w.reader.batch_size * run.accelerators);
        }
        if (w.train.total_training_steps < 0)
            CHECK(trained == w.train.epochs);
        else
            CHECK(value_of(result.metrics, "step_count") <= static_cast<double>(w.train.total_training_steps));
    }
}

TEST_CASE("the same seed is the same run to the last digit; another seed is another one", "[long]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        INFO("seed " << seed);
        VirtualRun run = random_run(seed);
        run.workload.dataset.data_folder = "model:latency=3ms,jitter=2ms";
        run.workload.reader.file_shuffle = Shuffle::random;
        const std::string once = text_of(run.must_run()), again = text_of(run.must_run());
        CHECK(once == again);
        run.seed += 1000;
        CHECK(text_of(run.must_run()) != once);
    }
}
