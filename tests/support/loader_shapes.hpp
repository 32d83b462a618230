// Shapes of runs for the contract of loaders, and what of their batches is checked in each.
//
// Thread: the test's. Owner: the test. Units: counts, bytes. Errors: Catch2 failures.
#pragma once

#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "tests/support/loader_rig.hpp"

namespace feedbench::test {

namespace {

inline std::uint64_t read_delay(const Operation& one) {
    // Uneven, so that reads overtake each other.
    return one.kind == engine::IoKind::read
               ? kNsPerMs * (1 + mix64(std::hash<std::string>{}(one.path) + one.offset) % 5)
               : 0;
}

struct Shape {
    const char* name;
    std::uint64_t files;
    std::uint32_t samples_per_file, accelerators, batch, threads, prefetch;
};

inline LoaderSetup setup_of(const Shape& shape, std::string_view loader, std::string_view format) {
    LoaderSetup setup;
    setup.format = format;
    setup.loader = loader;
    const formats::Format& of = **formats::find_format(format);
    setup.samples_per_file = std::min(shape.samples_per_file, of.most_samples_per_file());
    setup.files = shape.files * (shape.samples_per_file / setup.samples_per_file); // as many samples in all
    setup.accelerators = shape.accelerators;
    setup.batch = shape.batch;
    setup.read_threads = shape.threads;
    setup.prefetch = shape.prefetch;
    setup.queue_depth = 8;
    setup.sample_bytes = 3000;
    return setup;
}

inline void check_batches(const EpochPlan& plan, const std::vector<std::vector<loader::Batch>>& got) {
    REQUIRE(got.size() == plan.accelerator_count());
    for (std::uint32_t a = 0; a < got.size(); ++a) {
        REQUIRE(got[a].size() == plan.step_count());
        for (std::uint64_t step = 0; step < plan.step_count(); ++step) {
            const loader::Batch& batch = got[a][step];
            INFO("accelerator " << a << ", step " << step);
            if (batch.error) FAIL(batch.error->describe());
            CHECK(batch.sample_count == plan.batch_size());
            CHECK(batch.id_checksum == planned_checksum(plan, a, step)); // in order
            CHECK(batch.ready_ns >= batch.storage_wait_ns);
        }
    }
}

} // namespace

} // namespace feedbench::test
