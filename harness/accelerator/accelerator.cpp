#include "harness/accelerator/accelerator.hpp"

#include <algorithm>

#include "harness/types/time_distribution.hpp"
#include "harness/types/units.hpp"

namespace feedbench::accelerator {

using engine::Task;

namespace {
// A spin towards the deadline costs a core; it is worth it only where lateness would show in AU.
constexpr std::uint64_t kLatePartOfThink = 500; // 0.2 %
// However long it thinks, an accelerator notices a stop within this time.
constexpr std::uint64_t kStopNoticeNs = 500 * kNsPerMs;
} // namespace

Accelerator::Accelerator(Shared& shared, std::uint32_t global_index, std::uint32_t local_index,
                         std::unique_ptr<loader::Loader> loader)
    : shared_(shared), global_index_(global_index), local_index_(local_index), loader_(std::move(loader)),
      random_(stream_seed(shared.seed, "think", global_index)) {}

std::uint64_t Accelerator::word_after(const StepRecord& record, const Block& block) const {
    const TimeLimit& limit = shared_.limit;
    const std::uint64_t go_on = shared_.overlap && shared_.overlap->is_here() ? kBusy : kGoOn;
    if (!block.measured) return record.think_end_ns >= limit.settled_ns ? kSettled : go_on;
    const bool enough = block.measured_step_count + record.step_index + 1 >= limit.least_step_count;
    return record.think_end_ns >= limit.up_ns && enough ? kTimeIsUp : go_on;
}

Task<void> Accelerator::run(Block block) {
    steps_finished_ = 0;
    // Between two steps an accelerator only asks and begins to think: what is written down of a step waits until the
    // next think time is over. Of thousands that the barrier lets through together, the last would else begin late.
    std::optional<StepRecord> uncounted;
    bool uncounted_beside = false;
    std::uint64_t request_ns = shared_.reactor->now_ns();
    for (std::uint64_t i = 0; i < block.step_count; ++i) {
        const bool beside = shared_.overlap && shared_.overlap->is_anywhere();
        StepRecord record{};
        record.request_ns = request_ns;
        record.accelerator_index = global_index_;
        record.epoch_index = block.epoch_index;
        record.block_index = block.block_index;
        record.step_index = static_cast<std::uint32_t>(block.steps_before + i);
        const bool have_batch = co_await fetch(record);
        if (!have_batch) {
            // Nobody leaves a block before all ranks have agreed to: one that went on to the next collective call could
            // not hand its host's word on, and the ranks of other hosts would wait for it for ever.
            co_await shared_.barrier->arrive();
            break;
        }
        record.think_drawn_ns = to_ns(draw_s(*block.think, random_));
        // Thinking, here and not in a coroutine of its own: its frame would be one more piece of cold memory for each
        // of thousands of accelerators between the barrier and the begin of their think time.
        const std::uint64_t deadline_ns = record.ready_ns + record.think_drawn_ns;
        if (record.think_drawn_ns == 0) co_await shared_.reactor->yield(); // timers, signals and others get their turn
        for (std::uint64_t now = record.ready_ns; now < deadline_ns && !shared_.stopping;
             now = shared_.reactor->now_ns())
            co_await shared_.reactor->sleep_until(std::min(deadline_ns, now + kStopNoticeNs),
                                                  record.think_drawn_ns / kLatePartOfThink);
        record.think_end_ns = shared_.reactor->now_ns();
        if (uncounted) count(*std::exchange(uncounted, std::nullopt), uncounted_beside);
        const std::uint64_t stop = co_await shared_.barrier->arrive(word_after(record, block));
        record.barrier_end_ns = request_ns = shared_.reactor->now_ns();
        ++shared_.counters->steps;
        if (stop == kGoOn && shared_.overlap && shared_.overlap->is_anywhere()) shared_.overlap->ended_everywhere();
        // A step that a stop cut short is not a step: its times would be lies. The stop may be another rank's; whoever
        // is cut short has its rank arrive with the reason, so that a smaller word says that nobody was.
        if (stop <= kTimeIsUp) {
            ++steps_finished_;
            if (block.measured) uncounted = record;
            uncounted_beside = beside;
        }
        if (stop > kBusy) break;
    }
    if (uncounted) count(*uncounted, uncounted_beside);
}

void Accelerator::count(const StepRecord& record, bool beside) {
    shared_.log->add(local_index_, record);
    const bool is_training = (record.block_index & kEvaluationBlock) == 0;
    if (shared_.overlap && is_training && record.step_index > 0) shared_.overlap->add(record, beside);
    if (!shared_.counters->is_detailed) return;
    metrics::EpochCounts& counts = shared_.counters->epoch;
    counts.batch_wait.add(record.ready_ns - record.request_ns);
    const std::uint64_t deadline_ns = record.ready_ns + record.think_drawn_ns;
    counts.think_error.add(std::max(record.think_end_ns, deadline_ns) - deadline_ns);
}

Task<bool> Accelerator::fetch(StepRecord& record) {
    ++shared_.counters->stalled_accelerators;
    loader::Batch batch = co_await loader_->next();
    --shared_.counters->stalled_accelerators;
    record.ready_ns = shared_.reactor->now_ns();
    if (batch.error) {
        // An interrupted batch is the consequence of a stop, not its cause.
        const bool is_cause = batch.error->kind != ErrorKind::interrupted;
        if (is_cause && !shared_.first_error) {
            shared_.first_error = *batch.error;
            shared_.first_error->accelerator = global_index_;
        }
        shared_.stopping = true;
        if (is_cause)
            shared_.barrier->raise_stop(kFailed);
        else if (shared_.barrier->check_stop() == 0)
            shared_.barrier->raise_stop(kInterrupted);
        co_return false;
    }
    const std::uint64_t wait_ns = record.ready_ns - record.request_ns;
    // While nothing that the batch needed was in flight, the wait was the client's own: queues, checks, a busy loop.
    record.storage_wait_ns = std::min(batch.storage_wait_ns, wait_ns);
    record.client_wait_ns = wait_ns - record.storage_wait_ns;
    record.sample_count = batch.sample_count;
    record.bytes_delivered = batch.bytes_delivered;
    consumed_.sample_count += batch.sample_count;
    consumed_.id_checksum += batch.id_checksum;
    co_return true;
}

} // namespace feedbench::accelerator
