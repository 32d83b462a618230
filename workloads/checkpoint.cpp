#include "workloads/checkpoint.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "workloads/checkpoint_ceiling.hpp"
#include "workloads/checkpoint_result.hpp"
#include "workloads/host_limits.hpp"
#include "workloads/storage_facts.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::workloads {

namespace {

// Before the first byte: what is committed, and room for all that is to be written.
Status open_store(const CheckpointPlan& plan, const Workload& workload, storage::Backend& backend,
                  CheckpointStore& store) {
    if (auto opened = store.open(plan.write_count > 0); !opened) return opened;
    if (plan.write_count == 0) {
        if (!backend.capabilities().has_content) return {};
        auto readable = choose_readable(plan, workload, store.index(), backend.display_path(""));
        return readable ? Status{} : Status(readable.error());
    }
    std::vector<std::string> replaced;
    for (std::uint32_t i = 0; i < plan.write_count; ++i) replaced.push_back(CheckpointPlan::folder_of(i));
    return store.check_space(plan.checkpoints_at_once(workload), plan.bytes, replaced);
}

// Once nobody writes any more: what did not commit, and what is not to stay. Collective.
Status clean_up(const RunRequest& request, CheckpointRun& run, CheckpointStore& store) {
    if (request.communicator->rank() == 0 && !run.unfinished().empty()) store.abandon(run.unfinished(), run.files());
    return request.workload->checkpoint.keep_files ? Status{} : run.keep_newest(0);
}

// The job's first rank does it, all hear how it went.
template <class Work>
Status on_first(cluster::Communicator& communicator, Work&& work) {
    Status status;
    if (communicator.rank() == 0) status = work();
    return cluster::agree(communicator, status);
}

} // namespace

bool accepts_checkpoint(const Workload& workload) { return workload.checkpoint_only(); }

Expected<std::vector<PlanRow>> plan_checkpoint(const RunRequest& request) {
    const Workload& workload = *request.workload;
    auto plan = make_checkpoint_plan(request);
    if (!plan) return plan.error();
    const auto gib = [](std::uint64_t bytes) {
        return fmt::format("{} bytes ({:.4f} GiB)", bytes, to_GiB(static_cast<double>(bytes)));
    };
    std::uint64_t largest = 0;
    for (std::uint32_t r = 0; r < plan->placement.total; ++r) largest = std::max(largest, plan->sizes.rank(r).total());
    const std::uint64_t at_once = plan->checkpoints_at_once(workload);
    return std::vector<PlanRow>{
        {"ranks", "in all", std::to_string(plan->placement.total)},
        {"ranks", "tensor x pipeline x data",
         fmt::format("{} x {} x {}", plan->sizes.tensor_parallelism(), plan->sizes.pipeline_parallelism(),
                     plan->sizes.data_parallelism())},
        {"ranks", "of each process", std::to_string(plan->placement.count)},
        {"ranks", "hosts", std::to_string(request.communicator->hosts().size())},
        {"checkpoint", "files", std::to_string(plan->file_count)},
        {"checkpoint", "size", gib(plan->bytes)},
        {"checkpoint", "largest rank", gib(largest)},
        {"checkpoint", "to write", std::to_string(plan->write_count)},
        {"checkpoint", "to read", std::to_string(plan->read_count)},
        {"storage", "folder", config::checkpoint_location(workload)},
        {"storage", "room needed", gib(at_once * plan->bytes)},
        {"memory", "a process, at most",
         fmt::format("{:.0f} MiB", to_MiB(static_cast<double>(memory_bound_bytes(*plan))))},
    };
}

Expected<RunResult> run_checkpoint(const RunRequest& request) {
    cluster::Communicator& communicator = *request.communicator;
    const Workload& workload = *request.workload;
    auto plan = make_checkpoint_plan(request);
    if (auto status = cluster::agree(communicator, plan ? Status{} : Status(plan.error())); !status)
        return status.error();
    auto backend = open_storage(request, config::checkpoint_location(workload), workload.checkpoint.odirect);
    if (auto status = cluster::agree(communicator, backend ? Status{} : Status(backend.error())); !status)
        return status.error();
    if ((*backend)->capabilities().has_content && !plan->settings.makes_content) { // a test's, in virtual time
        plan->settings.makes_content = true;
        plan->buffers = CheckpointStream::buffers_for(plan->settings, plan->placement.count, false);
    }
    CheckpointStore store(**backend, workload.checkpoint.leftovers == "remove");
    if (auto status = on_first(communicator, [&] { return open_store(*plan, workload, **backend, store); }); !status)
        return status.error();
    const storage::Capabilities& data = (*backend)->capabilities();
    auto ceiling = measure_checkpoint_ceiling(request, *plan, {data.name, data.page_cached});
    if (!ceiling) return ceiling.error();
    auto pool = engine::BufferPool::make(plan->buffers);
    if (auto status = cluster::agree(communicator, pool ? Status{} : Status(pool.error())); !status)
        return status.error();
    engine::Uring* ring = request.reactor->uring();
    if (ring && ring->register_buffers((*pool)->buffers())) plan->settings.is_registered = true;

    CheckpointOutcome outcome;
    outcome.ceiling = std::move(*ceiling);
    const probes::HostLimits limits = measure_host_limits(request, **backend);
    const StorageResult facts = look_at_storage(**backend, "checkpoints", config::checkpoint_location(workload),
                                                request.reactor->clock().is_virtual());
    outcome.cpu_start = probes::cpu_mark({});
    outcome.cpu_start.limits = limits;
    Status cleaned;
    {
        CheckpointRun run(request, *plan, **backend, **pool, store);
        const Status status = request.reactor->run(run.run());
        outcome.error = status ? run.first_error() : std::optional<Error>(status.error());
        if (!status) { // a fault of our own: the other processes may wait for this one in the barrier
            std::fprintf(stderr, "feedbench: error: %s\n", status.error().describe().c_str());
            std::fflush(stderr);
            communicator.abort(exit_code(status.error().kind));
        }
        outcome.stop = run.stop_reason();
        gather_checkpoint_run(request, *plan, run, outcome);
        outcome.storages = gather_storage(communicator, **backend, facts);
        cleaned = clean_up(request, run, store);
    }
    if (ring) (void)ring->register_buffers({}).has_value();
    if (!cleaned) outcome.findings.push_back({"checkpoint_files", "warning", cleaned.error().describe()});
    return make_checkpoint_result(request, *plan, **backend, std::move(outcome));
}

} // namespace feedbench::workloads
