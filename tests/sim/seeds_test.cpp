// Runs of random small configurations from many seeds: the invariants hold in each; and the same seed is the same run.
#include "tests/support/virtual_run.hpp"

#include "harness/types/random.hpp"
#include "reporters/result_json.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

template <class T>
const T& one_of(Random& random, const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(random.uniform() * static_cast<double>(choices.size()))];
}
std::uint32_t between(Random& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random.uniform() * (high - low + 1));
}

VirtualRun random_run(std::uint64_t seed) {
    Random random(stream_seed(seed, "random run"));
    const std::string storage = one_of<std::string>(
        random, {"null:", "model:latency=3ms,jitter=2ms", "model:bandwidth=1e7,latency=100us", "model:iops=2000",
                 "model:latency=1ms,open_latency=2ms", "fault:delay=50ms,delay_at=5%;inner=model:latency=1ms"});
    VirtualRun run(storage, one_of<std::string>(random, {"pytorch", "tensorflow", "native"}));
    Workload& w = run.workload;
    run.seed = seed;
    w.dataset.format = one_of<std::string>(random, {"raw", "npz", "npy", "tfrecord", "hdf5"});
    run.accelerators = between(random, 1, 5);
    w.dataset.num_samples_per_file = between(random, 1, 6);
    w.reader.batch_size = between(random, 1, 6);
    const std::uint32_t least =
        run.accelerators * (w.reader.batch_size / w.dataset.num_samples_per_file + 1); // one step of each
    w.dataset.num_files_train = least + between(random, 0, 40);
    w.dataset.record_length_bytes = between(random, 64, 400000);
    if (random.uniform() < 0.5) w.dataset.record_length_bytes_stdev = w.dataset.record_length_bytes / 4;
    w.reader.read_threads = between(random, w.reader.data_loader == "pytorch" ? 0 : 1, 5);
    w.reader.prefetch_size = between(random, 0, 5);
    w.reader.queue_depth = between(random, 1, 12);
    w.reader.transfer_size = one_of<std::uint64_t>(random, {4096, 65536, 262144});
    w.reader.file_shuffle = one_of<Shuffle>(random, {Shuffle::off, Shuffle::seed, Shuffle::random});
    w.reader.sample_shuffle = one_of<Shuffle>(random, {Shuffle::off, Shuffle::seed, Shuffle::random});
    w.reader.shuffle_size = between(random, 0, 20);
    w.train.epochs = between(random, 1, 3);
    w.train.computation_time = one_of<TimeDistribution>(
        random, {{.mean_s = 0.01},
                 {.kind = TimeDistribution::Kind::normal, .mean_s = 0.01, .stdev_s = 0.003},
                 {.kind = TimeDistribution::Kind::exponential, .mean_s = 0.005, .scale_s = 0.005},
                 {.mean_s = 0}});
    if (random.uniform() < 0.2) w.train.total_training_steps = between(random, 1, 12);
    if (random.uniform() < 0.3) {
        w.workflow.evaluation = true;
        w.reader.batch_size_eval = between(random, 1, 3);
        w.dataset.num_files_eval = run.accelerators * w.reader.batch_size_eval + between(random, 0, 10);
        w.evaluation.eval_time.mean_s = 0.004;
    }
    if (random.uniform() < 0.3) {
        w.workflow.checkpoint = true;
        w.checkpoint.checkpoint_folder = "model:bandwidth=1e8";
        w.model.model_size_bytes = between(random, 1, 5000000);
        if (random.uniform() < 0.5) w.checkpoint.steps_between_checkpoints = between(random, 1, 6);
    }
    return run;
}

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

TEST_CASE("the same seed is the same run to the last digit; another seed is another one") {
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
