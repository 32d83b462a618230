// What an epoch plan reads, as ids, for the tests of plans.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/dataset/epoch_planner.hpp"

namespace feedbench::test {

using namespace feedbench::dataset;

using Ids = std::vector<std::uint64_t>; // file * samples_per_file + sample, in the order of reading

inline std::unique_ptr<EpochPlan> samples(const EpochRequest& request) {
    auto plan = plan_samples(request);
    INFO((plan ? std::string() : plan.error().describe()));
    REQUIRE(plan);
    return std::move(*plan);
}

inline std::unique_ptr<FileShardPlan> shards(const EpochRequest& request) {
    auto plan = plan_file_shards(request);
    INFO((plan ? std::string() : plan.error().describe()));
    REQUIRE(plan);
    return std::move(*plan);
}

inline Ids ids_of(const EpochPlan& plan, const EpochRequest& request, std::uint32_t accelerator) {
    Ids ids;
    for (std::uint64_t step = 0; step < plan.step_count(); ++step)
        for (std::uint32_t position = 0; position < plan.batch_size(); ++position) {
            const SampleRef ref = plan.sample(accelerator, step, position);
            if (ref.file_index >= request.file_count || ref.sample_index >= request.samples_per_file)
                FAIL("sample outside the dataset: file " << ref.file_index << ", sample " << ref.sample_index);
            ids.push_back(ref.file_index * request.samples_per_file + ref.sample_index);
        }
    return ids;
}

inline Ids ids_of(const EpochPlan& plan, const EpochRequest& request) {
    Ids all;
    for (std::uint32_t a = 0; a < plan.accelerator_count(); ++a) {
        const Ids ids = ids_of(plan, request, a);
        all.insert(all.end(), ids.begin(), ids.end());
    }
    return all;
}

inline std::set<std::uint64_t> dropped_of(const EpochPlan& plan, const EpochRequest& request) {
    std::vector<bool> used(request.file_count * request.samples_per_file);
    for (const std::uint64_t id : ids_of(plan, request)) {
        if (used[id]) FAIL("sample " << id << " is read twice");
        used[id] = true;
    }
    std::set<std::uint64_t> dropped;
    for (std::uint64_t id = 0; id < used.size(); ++id)
        if (!used[id]) dropped.insert(id);
    return dropped;
}

} // namespace feedbench::test
