// A dataset in memory, a recording backend before it, and loaders that read it in virtual time.
//
// Thread: the test's. Owner: the test. Units: bytes, ns. Errors: Catch2 failures while making. Coroutines here use
// CHECK only: REQUIRE throws. Formats whose metadata needs a library's own thread (hdf5) have no content under the
// virtual clock.
#pragma once

#include <catch2/catch.hpp>

#include "formats/registry.hpp"
#include "harness/dataset/epoch_planner.hpp"
#include "harness/loader/file_reading.hpp"
#include "storage/registry.hpp"
#include "tests/support/memory_backend.hpp"
#include "tests/support/recording_backend.hpp"

namespace feedbench::test {

// One rig a source file: GCC 12 puts parts of an inlined coroutine (TaskGroup::watch) into the section of the inline
// function that starts it, and the linker then drops them with that function's second copy.
namespace {

struct LoaderSetup {
    std::string format = "raw", loader = "pytorch";
    std::uint64_t files = 4;
    std::uint32_t samples_per_file = 1, accelerators = 1, batch = 1;
    double sample_bytes = 4096, sample_bytes_stdev = 0;
    std::uint32_t read_threads = 1, prefetch = 0, queue_depth = 32;
    std::uint64_t transfer_size = 262144, shuffle_size = 0;
    Shuffle file_shuffle = Shuffle::off, sample_shuffle = Shuffle::off;
    std::uint64_t seed = 7;
    std::uint32_t buffers = 0; // 0: as many as the loaders may hold at once
    bool has_content = true, is_detailed = true;
    bool keeps_files_open = false;
    std::vector<TableColumn> columns{}; // parquet
    std::uint32_t row_group_rows = 1024;
};

class LoaderRig {
  public:
    explicit LoaderRig(const LoaderSetup& setup, std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock())
        : setup_(setup), clock_(std::move(clock)), reactor_(make_reactor(*clock_)),
          format_(*formats::find_format(setup.format)), entry_(*loader::find_loader(setup.loader)),
          content_({setup.seed, 0, 0}) {
        counters_.is_detailed = setup.is_detailed;
        auto plan = dataset::DatasetPlan::make(section(), Split::train);
        REQUIRE(plan);
        plan_ = std::make_unique<dataset::DatasetPlan>(std::move(*plan));
        if (setup.has_content && !format_->open_may_block())
            write_files();
        else {
            auto null = storage::make_null_backend({});
            REQUIRE(null);
            without_content_ = std::move(*null);
        }
        backend_ = std::make_unique<RecordingBackend>(
            *reactor_, without_content_ ? *without_content_ : static_cast<storage::Backend&>(memory_));
        reader_.read_threads = setup.read_threads;
        reader_.prefetch_size = setup.prefetch;
        reader_.queue_depth = setup.queue_depth;
        reader_.transfer_size = setup.transfer_size;
        reader_.shuffle_size = setup.shuffle_size;
        reader_.file_shuffle = setup.file_shuffle;
        reader_.sample_shuffle = setup.sample_shuffle;
        reader_.batch_size = setup.batch;
        reader_.verify = has_content() ? Verify::content : Verify::off;
        const std::uint32_t buffers =
            setup.buffers != 0 ? setup.buffers : setup.accelerators * entry_->buffers_per_accelerator(reader_);
        auto pool = engine::BufferPool::make(
            {.buffer_bytes = loader::landing_buffer_bytes(reader_), .buffer_count = buffers, .huge_pages = false});
        REQUIRE(pool);
        pool_ = std::move(*pool);
        permits_ = std::make_unique<engine::Semaphore>(*reactor_, buffers);
        for (std::uint32_t a = 0; a < setup.accelerators; ++a) loaders.push_back(entry_->make(context()));
    }

    const LoaderSetup& setup() const { return setup_; }
    engine::Reactor& reactor() { return *reactor_; }
    RecordingBackend& backend() { return *backend_; }
    MemoryBackend& memory() { return memory_; }
    const dataset::DatasetPlan& files() const { return *plan_; }
    const loader::LoaderCounters& counters() const { return counters_; }
    bool has_content() const { return !without_content_; }
    std::vector<std::unique_ptr<loader::Loader>> loaders; // one an accelerator

    std::uint64_t file_bytes(std::uint64_t file) const { return *format_->file_bytes(plan_->shape(file)); }

    std::unique_ptr<EpochPlan> epoch(std::uint32_t index = 0) const {
        dataset::EpochRequest request;
        request.file_count = setup_.files;
        request.samples_per_file = setup_.samples_per_file;
        request.accelerator_count = setup_.accelerators;
        request.batch_size = setup_.batch;
        request.file_shuffle = setup_.file_shuffle;
        request.sample_shuffle = setup_.sample_shuffle;
        request.seed = setup_.seed;
        request.epoch_index = index;
        request.cycle_length = std::max(1U, setup_.read_threads);
        if (!entry_->shards_files) {
            auto plan = dataset::plan_samples(request);
            if (!plan) FAIL(plan.error().describe());
            return std::move(*plan);
        }
        auto plan = dataset::plan_file_shards(request);
        if (!plan) FAIL(plan.error().describe());
        return std::move(*plan);
    }

    void run(engine::Task<void> task) {
        const Status status = reactor_->run(std::move(task));
        if (!status) FAIL(status.error().describe());
        CHECK(reactor_->in_flight() == 0);
        CHECK(backend_->open_count - open_errors == backend_->close_count);
        CHECK(pool_->free_count() == pool_->layout().buffer_count);
        CHECK(permits_->permits() == pool_->layout().buffer_count);
    }
    std::uint64_t open_errors = 0; // opens that the test let fail

    // One accelerator's epoch: asks, thinks, asks again; ends with the first error. Gives what it got.
    engine::Task<void> drive(const EpochPlan& plan, std::uint32_t accelerator, std::uint64_t think_ns,
                             std::vector<loader::Batch>& got) {
        loader::Loader& loader = *loaders[accelerator];
        loader.start(plan, accelerator);
        for (std::uint64_t step = 0; step < plan.step_count(); ++step) {
            got.push_back(co_await loader.next());
            if (got.back().error) break;
            if (think_ns > 0) co_await reactor_->sleep_until(reactor_->now_ns() + think_ns);
        }
        co_await loader.close();
    }
    // All accelerators side by side.
    engine::Task<void> drive_all(const EpochPlan& plan, std::uint64_t think_ns,
                                 std::vector<std::vector<loader::Batch>>& got) {
        got.assign(setup_.accelerators, {});
        engine::TaskGroup group(*reactor_);
        for (std::uint32_t a = 0; a < setup_.accelerators; ++a) group.spawn(drive(plan, a, think_ns, got[a]));
        co_await group.join();
    }
    std::vector<std::vector<loader::Batch>> run_epoch(const EpochPlan& plan, std::uint64_t think_ns = 0) {
        std::vector<std::vector<loader::Batch>> got;
        run(drive_all(plan, think_ns, got));
        return got;
    }

  private:
    static std::unique_ptr<engine::Reactor> make_reactor(engine::Clock& clock) {
        auto made = engine::Reactor::make(clock, {.use_uring = false});
        REQUIRE(made);
        return std::move(*made);
    }
    DatasetSection section() const {
        DatasetSection section;
        section.format = setup_.format;
        section.num_files_train = setup_.files;
        section.num_samples_per_file = setup_.samples_per_file;
        section.record_length_bytes = setup_.sample_bytes;
        section.record_length_bytes_stdev = setup_.sample_bytes_stdev;
        section.parquet_columns = setup_.columns;
        section.parquet_row_group_size = setup_.row_group_rows;
        return section;
    }
    loader::LoaderContext context() {
        return {reactor_.get(), backend_.get(), format_,  plan_.get(), &content_, pool_.get(),
                permits_.get(), &counters_,     &reader_, setup_.seed, &indexes_, setup_.keeps_files_open};
    }
    void write_files() {
        for (std::uint64_t i = 0; i < setup_.files; ++i) {
            auto encoder = format_->encode(plan_->shape(i), [this, i](std::uint64_t offset, std::span<std::byte> out) {
                content_.fill(plan_->content_index(i), offset, out);
            });
            REQUIRE(encoder);
            std::string& file = memory_.files[plan_->name(i)];
            file.resize((*encoder)->file_bytes());
            const std::size_t filled = (*encoder)->fill(std::as_writable_bytes(std::span(file)));
            REQUIRE(filled == file.size());
            for (const formats::Patch& patch : (*encoder)->patches())
                std::memcpy(file.data() + patch.offset, patch.bytes.data(), patch.bytes.size());
            for (std::size_t side = 0; side < format_->side_files().size(); ++side)
                memory_.files[formats::side_path(format_->side_files()[side], plan_->name(i))] =
                    format_->side_bytes(plan_->shape(i), side);
        }
    }

    LoaderSetup setup_;
    std::unique_ptr<engine::Clock> clock_;
    std::unique_ptr<engine::Reactor> reactor_;
    const formats::Format* format_;
    const loader::LoaderEntry* entry_;
    generators::Content content_;
    std::unique_ptr<dataset::DatasetPlan> plan_;
    MemoryBackend memory_;
    std::unique_ptr<storage::Backend> without_content_;
    std::unique_ptr<RecordingBackend> backend_;
    ReaderSection reader_;
    std::unique_ptr<engine::BufferPool> pool_;
    std::unique_ptr<engine::Semaphore> permits_;
    loader::LoaderCounters counters_;
    loader::IndexCache indexes_;
};

// What the ids of a batch add up to when it holds what the plan says.
inline std::uint64_t planned_checksum(const EpochPlan& plan, std::uint32_t accelerator, std::uint64_t step) {
    std::uint64_t sum = 0;
    for (std::uint32_t position = 0; position < plan.batch_size(); ++position)
        sum += sample_id_fingerprint(plan.sample(accelerator, step, position));
    return sum;
}

// Starts a loader, leaves it alone for a while, then closes it.
inline engine::Task<void> start_and_wait(LoaderRig& rig, const EpochPlan& plan, std::uint64_t wait_ns) {
    rig.loaders[0]->start(plan, 0);
    co_await rig.reactor().sleep_until(rig.reactor().now_ns() + wait_ns);
    co_await rig.loaders[0]->close();
}

} // namespace

} // namespace feedbench::test
