#include "workloads/training_run.hpp"

#include <algorithm>
#include <cstdio>

#include "harness/types/units.hpp"
#include "workloads/epoch_views.hpp"

namespace feedbench::workloads {

using accelerator::Accelerator;
using engine::Task;

namespace {

constexpr std::uint64_t kHeartbeatNs = 100 * kNsPerMs;
} // namespace

TrainingRun::TrainingRun(const RunRequest& request, const TrainingPlan& plan, storage::Backend& backend,
                         TrainingCheckpoints* checkpoints, engine::BufferPool& pool,
                         generators::ContentParameters content)
    : request_(request), workload_(*request.workload), plan_(plan), backend_(backend), checkpoints_(checkpoints),
      pool_(pool), buffers_(*request.reactor, pool.layout().buffer_count), content_(content),
      barrier_(*request.reactor, *request.communicator, plan.placement.count, accelerator::kFirstStop),
      log_(!request.steps_path.empty()), start_ns_(request.reactor->now_ns()),
      slices_(counters_, start_ns_, request.reactor->clock().is_virtual() ? nullptr : engine::process_cpu_ns),
      cache_(request, plan, backend, counters_) {
    shared_.reactor = request.reactor;
    shared_.barrier = &barrier_;
    shared_.log = &log_;
    shared_.counters = &counters_;
    shared_.seed = request.run_seed;
    if (checkpoints_) checkpoints_->attach(barrier_, shared_);
    counters_.is_detailed = workload_.metric.instrumentation != "none";
    measurements_.run_start_ns = start_ns_;
    steps_total_ = plan.steps_per_epoch * plan.epoch_count;
    if (request.limit.repeat_epoch) steps_total_ = RepeatedEpoch::kStepCount;
    if (workload_.train.total_training_steps > 0)
        steps_total_ =
            std::min<std::uint64_t>(steps_total_, static_cast<std::uint64_t>(workload_.train.total_training_steps));
}

TrainingRun::Phase TrainingRun::make_phase(const SetPlan& set, bool evaluation) {
    Phase phase;
    phase.set = &set;
    phase.evaluation = evaluation;
    phase.think = evaluation ? &workload_.evaluation.eval_time : &workload_.train.computation_time;
    phase.context = {request_.reactor, &backend_, plan_.format, set.files.get(),   &content_,
                     &pool_,           &buffers_, &counters_,   &workload_.reader, request_.run_seed};
    phase.indexes = std::make_unique<loader::IndexCache>();
    phase.context.indexes = phase.indexes.get();
    phase.context.keeps_files_open = workload_.dataset.layout == "shared" || plan_.format->is_kept_open();
    for (std::uint32_t i = 0; i < plan_.placement.count; ++i)
        phase.accelerators.push_back(
            std::make_unique<Accelerator>(shared_, plan_.placement.first + i, i, plan_.loader->make(phase.context)));
    return phase;
}

Task<void> TrainingRun::run() {
    synchronise_clocks();
    const cluster::Doing doing(request_.communicator->life(), "running the epochs");
    request_.reactor->set_heartbeat(kHeartbeatNs, [this] { heartbeat(); });
    request_.reactor->set_rescue([this] { return rescue(); });
    Phase train = make_phase(plan_.train, false);
    std::optional<Phase> valid;
    if (plan_.valid) valid = make_phase(*plan_.valid, true);
    for (std::uint32_t epoch = 0; epoch < plan_.epoch_count && !stopped() && steps_done_ < steps_total_; ++epoch) {
        co_await run_epoch(train, epoch);
        if (!valid) continue;
        // DLIO: after epochs a, a + b, a + 2b, ... counted from 1.
        const std::uint32_t ended = epoch + 1, first = std::max(1u, workload_.evaluation.eval_after_epoch);
        const bool evaluate =
            ended >= first && (ended - first) % std::max(1u, workload_.evaluation.epochs_between_evals) == 0;
        if (evaluate && !stopped()) co_await run_epoch(*valid, epoch);
    }
    current_ = nullptr;
    if (checkpoints_) co_await checkpoints_->finish();
    ended_ns_ = request_.reactor->now_ns();
    // The last meeting, from which on nobody's stop can ask for another one: a rank that heard of one a moment before
    // it left would else wait for the others in vain, or meet them in the job's next run.
    const std::uint64_t end = co_await barrier_.arrive_for_all(accelerator::kEnded);
    request_.reactor->set_heartbeat(0, nullptr);
    request_.reactor->set_rescue(nullptr);
    note_limit(end);
}

Task<void> TrainingRun::run_epoch(Phase& phase, std::uint32_t epoch_index) {
    auto whole = make_epoch_plan(request_, plan_, *phase.set, epoch_index);
    if (whole) co_await begin_evidence(phase, **whole);
    co_await barrier_.arrive_for_all();
    if (stopped()) co_return;
    EpochTally tally;
    if (!whole) { // the first epoch's plan was made before the run: only a fault of our own comes here
        fail(whole.error());
        co_await barrier_.arrive_for_all(accelerator::kFailed);
        co_return;
    }
    const bool repeat = request_.limit.repeat_epoch && !phase.evaluation;
    const RepeatedEpoch again(**whole);
    const FirstSteps plan(repeat ? static_cast<const EpochPlan&>(again) : **whole,
                          phase.evaluation ? (*whole)->step_count() : steps_total_ - steps_done_);
    current_ = &phase;
    epoch_shown_ = epoch_index;
    phase_shown_ = phase.evaluation ? "evaluation" : "epoch";
    epoch_steps_done_ = 0;
    epoch_steps_total_ = plan.step_count();

    counters_.epoch = {};
    epoch_cpu_ = probes::cpu_mark({});
    tally.start_ns = request_.reactor->now_ns();
    for (auto& one : phase.accelerators) one->loader().start(plan, one->global_index());
    if (loaders_stopped_) stop_loaders(); // the wish came between two epochs, when there was no loader to hear it
    if (epoch_index == 0 && !phase.evaluation) start_limit();
    tally.step_count = co_await run_blocks(phase, epoch_index, plan.step_count(), tally.start_ns);
    // What a time limit cuts off is not part of the epoch, and neither is waiting for its last reads.
    if (stopped()) tally.end_ns = request_.reactor->now_ns();
    for (auto& one : phase.accelerators) co_await one->loader().close();
    if (!stopped()) tally.end_ns = request_.reactor->now_ns();
    tally.dropped = repeat ? 0 : plan.dropped_after(tally.step_count);
    current_ = nullptr;
    if (!phase.evaluation) steps_done_ += tally.step_count;

    for (auto& one : phase.accelerators) {
        const accelerator::Consumed consumed = one->take_consumed();
        tally.consumed.sample_count += consumed.sample_count;
        tally.consumed.id_checksum += consumed.id_checksum;
    }
    const dataset::EpochChecksum expected =
        dataset::epoch_checksum(plan, {plan_.placement.first, plan_.placement.count}, tally.step_count);
    tally.expected = {expected.sample_count, expected.fingerprint_sum};
    gather_evidence(phase, epoch_index);
    gather_epoch(phase, epoch_index, tally);
}

Task<std::uint64_t> TrainingRun::run_blocks(Phase& phase, std::uint32_t epoch_index, std::uint64_t step_count,
                                            std::uint64_t& start_ns) {
    std::uint16_t block_index = 0;
    std::uint64_t step = 0, block_start = 0; // of the epoch: where the block under way began
    while (step < step_count && !stopped()) {
        std::uint64_t length = step_count - step;
        if (!phase.evaluation && checkpoints_) length = std::min(length, checkpoints_->steps_until(step));
        const std::uint64_t steps_before = step - block_start;
        accelerator::Block block{static_cast<std::uint16_t>(epoch_index),
                                 static_cast<std::uint16_t>(block_index | (phase.evaluation ? kEvaluationBlock : 0)),
                                 step,
                                 length,
                                 phase.think,
                                 phase.evaluation || !settling_,
                                 steps_measured_ - steps_before,
                                 steps_before};
        co_await run_block(phase, block);
        const std::uint64_t finished = phase.accelerators.front()->steps_finished();
        step += finished;
        if (block.measured && !phase.evaluation)
            steps_measured_ += finished;
        else if (!block.measured && barrier_.last_word() == accelerator::kSettled)
            start_ns = begin_measuring();
        bool goes_on = false;
        if (!stopped() && !phase.evaluation && checkpoints_)
            goes_on = co_await take_checkpoint(epoch_index, step, step - finished, step == step_count);
        if (goes_on && block.measured) continue;
        if (block.measured) ++block_index;
        block_start = step;
    }
    if (!phase.evaluation && checkpoints_) checkpoints_->epoch_ended(epoch_index);
    co_return step;
}

Task<bool> TrainingRun::take_checkpoint(std::uint32_t epoch_index, std::uint64_t step, std::uint64_t steps_before,
                                        bool epoch_is_over) {
    if (!checkpoints_->is_due(epoch_index, step, steps_before, epoch_is_over)) co_return false;
    phase_shown_ = "checkpoint";
    const bool stood_still = co_await checkpoints_->take(epoch_index, step);
    phase_shown_ = "epoch";
    co_return !stood_still;
}

Task<void> TrainingRun::run_block(Phase& phase, accelerator::Block block) {
    std::vector<std::uint32_t> indices;
    for (auto& one : phase.accelerators) indices.push_back(one->global_index());
    if (block.steps_before == 0) {
        log_.begin_block(indices, block.epoch_index, block.block_index);
        epoch_steps_done_ = block.first_step;
    }
    engine::TaskGroup group(*request_.reactor);
    for (auto& one : phase.accelerators) group.spawn(one->run(block));
    co_await group.join();
    group.clear();
}

std::vector<Slice> TrainingRun::last_slices() {
    if (!counters_.is_detailed) return {};
    slices_.finish(ended_ns_);
    return slices_.take();
}

void TrainingRun::fail(Error error) {
    if (!shared_.first_error) shared_.first_error = std::move(error);
    shared_.stopping = true;
    barrier_.raise_stop(accelerator::kFailed);
}

void TrainingRun::stop_loaders() {
    loaders_stopped_ = shared_.stopping = true;
    const Error reason{
        .kind = ErrorKind::interrupted, .message = "the run stops", .operation = {}, .path = {}, .host = {}};
    if (current_)
        for (auto& one : current_->accelerators) one->loader().stop(reason);
    backend_.cancel_pending();
    if (checkpoints_) checkpoints_->cancel();
}

void TrainingRun::heartbeat() {
    const std::uint64_t now = request_.reactor->now_ns();
    advance_slices(now);
    if (request_.signal && *request_.signal != 0) barrier_.raise_stop(accelerator::kInterrupted);
    if (now >= cut_ns_ && !stopped()) barrier_.raise_own_stop(accelerator::kCutShort);
    if (barrier_.check_stop() != 0 && !loaders_stopped_) stop_loaders();
    show_progress(now);
}

// Under the virtual clock, where a stalled operation is a deadlock that is seen at once: it is reported, cancelled and
// drained. (In real time a watchdog ends the process: what a device never answers cannot be drained.)
bool TrainingRun::rescue() {
    if (!deadlock_.can_cancel()) return false;
    if (barrier_.check_stop() == 0) fail(deadlock_.error());
    stop_loaders();
    return true;
}

} // namespace feedbench::workloads
