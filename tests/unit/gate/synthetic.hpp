// Synthetic runs for the gate: figures of one run that scatter from run to run, made of parts that scatter within it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "harness/types/random.hpp"
#include "reporters/gate/gate.hpp"

namespace feedbench::gate::test {

enum class Tail { normal, heavy }; // heavy: Student's t with 3 degrees of freedom, of the same variance

// How runs scatter: `spread` is the standard deviation of a run's rate over its mean; other metrics in proportion.
struct World {
    double spread = 0.01;
    Tail tail = Tail::normal;
};

inline double gauss(Random& random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return radius * std::cos(2 * M_PI * random.uniform());
}

inline double deviation(Random& random, Tail tail) {
    const double z = gauss(random);
    if (tail == Tail::normal) return z;
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(gauss(random), 2);
    return z / std::sqrt(squares / 3) / std::sqrt(3.0);
}

inline std::vector<Fact> identity() {
    RunResult result;
    result.workload = "unet3d_mini";
    result.model = "unet3d";
    result.accelerator_model = "h100";
    result.backend = "posix";
    result.format = "npz";
    result.data_loader = "pytorch";
    result.accelerator_count = 4;
    result.hosts.resize(1);
    result.hosts[0].name = "client-1";
    return gate_run(result, "").identity;
}

// 20 parts whose mean is the figure, neighbours alike.
inline Parts parts_around(const std::string& key, double figure, double noise, Random& random) {
    Parts parts{key, "one-second slices", {}};
    double sum = 0, last = 0;
    for (int i = 0; i < 20; ++i) {
        last = 0.5 * last + noise * gauss(random);
        parts.parts.push_back({std::exp(last), 1});
        sum += std::exp(last);
    }
    for (Part& part : parts.parts) part.above *= figure * 20 / sum;
    return parts;
}

// `slower`: rate lower by this fraction; AU falls with it, waits and CPU stay.
inline GateRun run_of(const World& world, double slower, Random& random) {
    GateRun run;
    run.path = "run";
    run.valid = true;
    run.identity = identity();
    const auto scattered = [&](double middle, double times) {
        return middle * std::exp(times * world.spread * deviation(random, world.tail));
    };
    const double rate = scattered(1000 * (1 - slower), 1);
    run.figures = {{"delivered_MB_per_second", "MB/s", rate, "", "bytes_over_window"},
                   {"au_mean_percentage", "%", scattered(80 * (1 - slower), 1), "", "rules"},
                   {"batch_wait_s_p99", "s", scattered(0.020, 5), "", "histogram_quantile"},
                   {"cpu_s_per_GB_process", "s/GB", scattered(0.30, 2), "", "cpu_over_bytes"},
                   {"checkpoint_GiB_per_second", "GiB/s", scattered(1.5, 3), "", "bytes_over_time"}};
    run.parts.push_back(parts_around("delivered_MB_per_second", rate, 3 * world.spread, random));
    return run;
}

struct Pair {
    std::vector<GateRun> baseline, candidate;
};
struct Counts {
    std::size_t baseline = 5, candidate = 5;
};
inline Pair pair_of(std::uint64_t seed, const World& world, double slower, Counts counts) {
    Random random(stream_seed(seed, "synthetic pair"));
    Pair pair;
    for (std::size_t i = 0; i < counts.baseline; ++i) pair.baseline.push_back(run_of(world, 0, random));
    for (std::size_t i = 0; i < counts.candidate; ++i) pair.candidate.push_back(run_of(world, slower, random));
    return pair;
}

// How many of `count` seeded pairs get each answer.
struct Answers {
    int pass = 0, regressed = 0, not_comparable = 0, not_enough_data = 0;
};
inline Answers answers_of(int count, const World& world, double slower, Counts counts) {
    const Policy policy = built_in_policy();
    Answers answers;
    for (int i = 0; i < count; ++i) {
        Pair pair = pair_of(static_cast<std::uint64_t>(i) + 1, world, slower, counts);
        switch (judge(std::move(pair.baseline), std::move(pair.candidate), policy).answer) {
        case Answer::pass:
            ++answers.pass;
            break;
        case Answer::regressed:
            ++answers.regressed;
            break;
        case Answer::not_comparable:
            ++answers.not_comparable;
            break;
        case Answer::not_enough_data:
            ++answers.not_enough_data;
        }
    }
    return answers;
}

} // namespace feedbench::gate::test
