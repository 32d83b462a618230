// The native model: as many reads in flight as reader.queue_depth says, whatever a framework would do.
//
// Source: DESIGN section 5. Batches are read in order of step, prefetch_size of them ahead of the one asked for; their
// samples side by side, each file's extents side by side, all within queue_depth reads of one accelerator.
#include <cassert>

#include "harness/loader/file_reading.hpp"
#include "harness/loader/models.hpp"
#include "harness/loader/ring.hpp"
#include "harness/loader/signalled_loader.hpp"

namespace feedbench::loader {

using engine::Task;

namespace {

class NativeLoader final : public SignalledLoader {
  public:
    explicit NativeLoader(const LoaderContext& context)
        : SignalledLoader(context), depth_(*context.reactor, context.reader->queue_depth) {}

    void start(const EpochPlan& plan, std::uint32_t accelerator_index) override {
        plan_ = &plan;
        accelerator_ = context_.accelerator_index = accelerator_index;
        total_ = plan.step_count() * plan.batch_size();
        next_ = asked_ = taken_ = 0;
        together_ = context_.keeps_files_open ? context_.format->samples_together(context_.plan->shape(0)) : 1;
        restart();
        filling_.clear();
        // A worker reads one sample at a time; with small samples it takes queue_depth of them to fill the queue.
        const std::uint64_t workers = std::min<std::uint64_t>(context_.reader->queue_depth, total_);
        for (std::uint64_t i = 0; i < workers; ++i) group_.spawn(work());
    }

    Task<Batch> next() override {
        ++asked_;
        changed_.notify();
        const bool must_wait = !is_filled() && !error_;
        if (must_wait) wait_.begin(context_.reactor->now_ns(), taken_ + 1);
        while (!is_filled() && !error_) co_await changed_.wait();
        Batch batch;
        if (error_)
            batch.error = error_;
        else {
            batch = std::move(filling_.front().batch);
            filling_.pop_front();
            if (must_wait) batch.storage_wait_ns = wait_.end(batch.ready_ns);
            ++taken_;
        }
        co_return batch;
    }

  private:
    struct Filling {
        Batch batch;
        std::uint32_t finished = 0;
    };

    bool is_filled() const { return filling_.size() > 0 && filling_.front().finished == plan_->batch_size(); }
    // Samples that may be read now: those of the batches asked for and of the prefetch_size batches behind them.
    std::uint64_t limit() const {
        return std::min(total_, (asked_ + context_.reader->prefetch_size) * plan_->batch_size());
    }

    Task<void> work() {
        KeptFile kept;
        for (;;) {
            while (next_ >= limit() && next_ < total_ && !stopping_) co_await changed_.wait();
            if (next_ >= total_ || stopping_ || error_) break;
            const std::uint64_t index = next_++;
            const SampleRef first = sample(index);
            // Samples that lie together are read once, by one worker, even if not all of them are asked for yet.
            std::uint64_t end = index + 1;
            while (end < total_ && end - index < kRunMost && is_together(first, sample(end))) ++end;
            next_ = end;
            for (std::uint64_t i = index; i < end && !error_; ++i) {
                Batch part;
                const SampleRef one = i == index ? first : sample(i);
                const std::uint64_t step = i / plan_->batch_size();
                if (!take_at_hand(context_, one, kept, part)) {
                    auto status = co_await read_sample_in_parallel(context_, one, step, depth_,
                                                                   context_.reader->queue_depth, part, &kept);
                    if (!status && !error_) error_ = status.error();
                }
                if (!error_) finish(step, part);
            }
            if (!error_) continue;
            stopping_ = true;
            changed_.notify();
            break;
        }
        co_await kept.close();
    }

    SampleRef sample(std::uint64_t index) const {
        return plan_->sample(accelerator_, index / plan_->batch_size(),
                             static_cast<std::uint32_t>(index % plan_->batch_size()));
    }
    bool is_together(SampleRef a, SampleRef b) const {
        return together_ > 1 && a.file_index == b.file_index &&
               a.sample_index / together_ == b.sample_index / together_;
    }

    void finish(std::uint64_t step, const Batch& part) {
        while (filling_.size() <= step - taken_) filling_.emplace_back();
        Filling& filling = filling_[step - taken_];
        merge(filling.batch, part);
        if (++filling.finished < plan_->batch_size()) return;
        filling.batch.ready_ns = context_.reactor->now_ns();
        changed_.notify();
    }

    static void merge(Batch& into, const Batch& part) {
        into.sample_count += part.sample_count;
        into.bytes_delivered += part.bytes_delivered;
        into.read_count += part.read_count;
        into.id_checksum += part.id_checksum;
    }

    static constexpr std::uint64_t kRunMost = 65536;

    ReadPermits depth_;
    std::uint32_t together_ = 1; // samples of a file that one read brings
    const EpochPlan* plan_ = nullptr;
    std::uint32_t accelerator_ = 0;
    std::uint64_t total_ = 0, next_ = 0, asked_ = 0, taken_ = 0;
    Ring<Filling> filling_; // front: the batch that will be handed over next
};

} // namespace

std::unique_ptr<Loader> make_native_loader(const LoaderContext& context) {
    return std::make_unique<NativeLoader>(context);
}
std::uint32_t native_buffers(const ReaderSection& reader) { return reader.queue_depth; }

} // namespace feedbench::loader
