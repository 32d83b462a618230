// A small training run of which everything is drawn from a seed: storage, loader, format, plan, think time, extras.
//
// Thread: the test's. Owner: the test. Units: as Workload. Errors: none; every one of them is a run that can be.
#pragma once

#include "harness/types/random.hpp"
#include "tests/support/virtual_run.hpp"

namespace feedbench::test {

template <class T>
const T& one_of(Random& random, const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(random.uniform() * static_cast<double>(choices.size()))];
}
inline std::uint32_t between(Random& random, std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random.uniform() * (high - low + 1));
}

inline VirtualRun random_run(std::uint64_t seed) {
    Random random(stream_seed(seed, "random run"));
    const std::string storage = one_of<std::string>(
        random, {"null:", "model:latency=3ms,jitter=2ms", "model:bandwidth=1e7,latency=100us", "model:iops=2000",
                 "model:latency=1ms,open_latency=2ms", "fault:delay=50ms,delay_at=5%;inner=model:latency=1ms"});
    VirtualRun run(storage, one_of<std::string>(random, {"pytorch", "tensorflow", "native"}));
    Workload& w = run.workload;
    run.seed = seed;
    w.dataset.format = one_of<std::string>(random, {"raw", "npz", "npy", "tfrecord", "hdf5", "indexed_binary"});
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
        w.checkpoint.asynchronous = random.uniform() < 0.5;
        if (random.uniform() < 0.5) w.checkpoint.type = CheckpointWriters::all_ranks;
        if (random.uniform() < 0.3) w.checkpoint.checkpoint_folder = w.dataset.data_folder; // one storage for both
    }
    return run;
}

} // namespace feedbench::test
