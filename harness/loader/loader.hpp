// Turns an accelerator's part of the epoch plan into batches, asking the storage for what the framework would ask.
//
// Thread: reactor thread. Owner: the accelerator, one loader each; it outlives its workers (close() drains them).
// Units: ns, bytes. Errors: inside Batch; the first error ends the loader.
// Source: DESIGN section 5. A loader model is one file and one line in registry.cpp.
#pragma once

#include <memory>
#include <span>

#include "formats/format.hpp"
#include "generators/content.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/sync.hpp"
#include "harness/loader/index_cache.hpp"
#include "harness/loader/wait_account.hpp"
#include "harness/metrics/epoch_counts.hpp"
#include "harness/types/epoch_plan.hpp"
#include "storage/backend.hpp"

namespace feedbench::loader {

struct Batch {
    std::uint32_t sample_count = 0;
    std::uint64_t bytes_delivered = 0;
    std::uint64_t read_count = 0;
    std::uint64_t id_checksum = 0;     // wrapping sum of sample_id_fingerprint
    std::uint64_t ready_ns = 0;        // it was put into the queue
    std::uint64_t storage_wait_ns = 0; // of the time that next() waited: WaitAccount
    MaybeError error;
};

// Latencies and totals of one rank; shared by its loaders.
struct LoaderCounters {
    metrics::EpochCounts epoch;                                 // begins anew with each epoch
    std::uint64_t bytes = 0, samples = 0, reads = 0, steps = 0; // running totals, for the one-second slices
    std::uint32_t in_flight = 0;
    std::uint32_t stalled_accelerators = 0;
    bool is_detailed = true; // metric.instrumentation: else `epoch` stays empty, and no clock is looked at for it
};

// What all loaders of a rank share.
struct LoaderContext {
    engine::Reactor* reactor = nullptr;
    storage::Backend* backend = nullptr;
    const formats::Format* format = nullptr;
    const dataset::DatasetPlan* plan = nullptr;
    const generators::Content* content = nullptr; // for Verify::content
    engine::BufferPool* pool = nullptr;
    engine::Semaphore* buffers = nullptr; // one permit a buffer of the pool
    LoaderCounters* counters = nullptr;
    const ReaderSection* reader = nullptr;
    std::uint64_t seed = 0;
    IndexCache* indexes = nullptr; // for formats with an index; nullptr: read anew with every file
    bool keeps_files_open = false; // a worker keeps its file open for the next sample (dataset.layout shared)
    // Set by each loader in its own copy.
    std::uint32_t accelerator_index = 0; // global
    const bool* stopping = nullptr;      // true = no further read is begun
    WaitAccount* wait = nullptr;         // of its accelerator
};

class Loader {
  public:
    virtual ~Loader() = default;
    // Starts the workers on steps [0, plan.step_count()) of this accelerator. The plan outlives close().
    virtual void start(const EpochPlan& plan, std::uint32_t accelerator_index) = 0;
    virtual engine::Task<Batch> next() = 0; // batches in order, one a step
    // The run stops: a next() that waits answers with this error at once, workers end after the read they are in.
    virtual void stop(const Error& reason) = 0;
    // Stops the workers, waits until nothing is in flight; must be awaited before destruction.
    virtual engine::Task<void> close() = 0;
};

struct LoaderEntry {
    std::string_view name; // value of reader.data_loader
    std::string_view help;
    bool shards_files; // needs a FileShardPlan
    std::unique_ptr<Loader> (*make)(const LoaderContext& context);
    // Buffers of transfer_size that one accelerator may hold at once.
    std::uint32_t (*buffers_per_accelerator)(const ReaderSection& reader);
};

std::span<const LoaderEntry> loaders();
Expected<const LoaderEntry*> find_loader(std::string_view name);

} // namespace feedbench::loader
