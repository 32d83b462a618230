// The pytorch model: worker w of W takes batches w, w + W, ... and reads the samples of its batch one after another.
//
// Source: DESIGN section 5; torch's DataLoader: prefetch_factor batches a worker may be ahead, handed over in order.
// With read_threads 0 there is no worker: the accelerator's own process reads when it asks.
#include <algorithm>
#include <cassert>
#include <vector>

#include "harness/loader/file_reading.hpp"
#include "harness/loader/models.hpp"

namespace feedbench::loader {

using engine::Task;

namespace {

class PytorchLoader final : public Loader {
  public:
    explicit PytorchLoader(const LoaderContext& context)
        : context_(context), group_(*context.reactor), batch_ready_(*context.reactor),
          workers_(context.reader->read_threads) {
        context_.stopping = &stopping_;
        context_.wait = &wait_;
        for (std::uint32_t w = 0; w < workers_; ++w)
            window_moved_.push_back(std::make_unique<engine::Signal>(*context.reactor));
    }

    void start(const EpochPlan& plan, std::uint32_t accelerator_index) override {
        plan_ = &plan;
        accelerator_ = context_.accelerator_index = accelerator_index;
        step_count_ = plan.step_count();
        taken_ = 0;
        stopping_ = false;
        stopped_.reset();
        window_ = workers_ == 0 ? 0 : std::uint64_t{workers_} * pytorch_batches_per_worker(*context_.reader);
        slots_.clear();
        slots_.resize(window_);
        for (std::uint32_t w = 0; w < workers_; ++w) group_.spawn(work(w));
    }

    Task<Batch> next() override {
        assert(stopped_ || taken_ < step_count_);
        if (stopped_ && workers_ == 0) co_return refused();
        if (workers_ == 0) {
            wait_.begin(context_.reactor->now_ns(), taken_ + 1);
            Batch read = co_await read_batch(taken_++, own_);
            read.storage_wait_ns = wait_.end(read.ready_ns);
            co_return keep_error(std::move(read));
        }
        std::optional<Batch>* slot = &slots_[taken_ % window_];
        const bool must_wait = !*slot;
        if (must_wait) wait_.begin(context_.reactor->now_ns(), taken_ + 1);
        while (!*slot && !stopped_) co_await batch_ready_.wait();
        if (!*slot) co_return refused();
        Batch batch = keep_error(std::move(**slot));
        if (must_wait) batch.storage_wait_ns = wait_.end(batch.ready_ns);
        slot->reset();
        ++taken_;
        // The batch that has just come into the window belongs to one worker.
        window_moved_[(taken_ - 1 + window_) % workers_]->notify();
        co_return batch;
    }

    void stop(const Error& reason) override {
        stopped_ = reason;
        stopping_ = true;
        batch_ready_.notify();
        for (auto& signal : window_moved_) signal->notify();
    }

    Task<void> close() override {
        stopping_ = true;
        for (auto& signal : window_moved_) signal->notify();
        co_await group_.join();
        group_.clear();
        co_await own_.close();
    }

  private:
    Batch refused() const {
        Batch none;
        none.error = stopped_;
        return none;
    }
    // The first error ends the loader: whoever asks again hears it again.
    Batch keep_error(Batch batch) {
        if (batch.error && !stopped_) stop(*batch.error);
        if (batch.error) batch.error = stopped_;
        return batch;
    }

    Task<void> work(std::uint32_t worker) {
        KeptFile kept;
        for (std::uint64_t step = worker; step < step_count_; step += workers_) {
            while (step >= taken_ + window_ && !stopping_) co_await window_moved_[worker]->wait();
            if (stopping_) break;
            Batch batch = co_await read_batch(step, kept);
            const bool failed = batch.error.has_value();
            slots_[step % window_] = std::move(batch);
            batch_ready_.notify();
            if (failed) break;
        }
        co_await kept.close();
    }

    Task<Batch> read_batch(std::uint64_t step, KeptFile& kept) {
        Batch batch;
        for (std::uint32_t position = 0; position < plan_->batch_size() && !stopping_; ++position) {
            const SampleRef sample = plan_->sample(accelerator_, step, position);
            if (take_at_hand(context_, sample, kept, batch)) continue;
            auto status = co_await read_sample_in_order(context_, sample, step, batch, &kept);
            if (!status) {
                batch.error = status.error();
                break;
            }
        }
        if (stopping_ && !batch.error) batch.error = stopped_; // what a stop cut short is not a batch
        batch.ready_ns = context_.reactor->now_ns();
        co_return batch;
    }

    LoaderContext context_;
    KeptFile own_; // of the accelerator's own process, where there is no worker
    WaitAccount wait_;
    engine::TaskGroup group_;
    engine::Signal batch_ready_;
    std::vector<std::unique_ptr<engine::Signal>> window_moved_; // one a worker
    std::uint32_t workers_;
    const EpochPlan* plan_ = nullptr;
    std::uint32_t accelerator_ = 0;
    std::uint64_t step_count_ = 0, taken_ = 0, window_ = 0;
    bool stopping_ = false;
    MaybeError stopped_;
    std::vector<std::optional<Batch>> slots_; // batch of step s waits in slot s mod window
};

} // namespace

std::uint32_t pytorch_batches_per_worker(const ReaderSection& reader) {
    if (reader.prefetch_size == 0) return 2; // the reference falls back to its own default
    return (reader.prefetch_size + reader.read_threads - 1) / reader.read_threads;
}

std::unique_ptr<Loader> make_pytorch_loader(const LoaderContext& context) {
    return std::make_unique<PytorchLoader>(context);
}

std::uint32_t pytorch_buffers(const ReaderSection& reader) { return std::max(1u, reader.read_threads); }

} // namespace feedbench::loader
