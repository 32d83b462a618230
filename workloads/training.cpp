#include "workloads/training.hpp"

#include <fmt/format.h>

#include "harness/cluster/error_exchange.hpp"
#include "harness/config/checkpoint_table.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/dataset/spot_check.hpp"
#include "harness/probes/cpu.hpp"
#include "harness/types/units.hpp"
#include "workloads/ceiling.hpp"
#include "workloads/host_limits.hpp"
#include "workloads/storage_facts.hpp"
#include "workloads/training_result.hpp"
#include "workloads/training_run.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::uint64_t kSpotCheckFiles = 64;

// Rank 0 reads the manifest and looks at a few files; all ranks hear the outcome. Nothing for storage without content.
Expected<std::optional<dataset::Manifest>> find_dataset(const RunRequest& request, storage::Backend& backend) {
    if (!backend.capabilities().has_content) return std::optional<dataset::Manifest>{};
    const cluster::Doing doing(request.communicator->life(),
                               "looking at the dataset in " + backend.display_path("") + " (manifest, some files)");
    const Workload& workload = *request.workload;
    std::string text;
    Status status;
    if (request.communicator->rank() == 0) {
        auto manifest = dataset::read_manifest(backend);
        if (!manifest)
            status = manifest.error();
        else {
            DatasetSection asked = workload.dataset;
            if (!workload.workflow.evaluation) asked.num_files_eval = 0; // nobody will read valid/
            status = dataset::check_manifest(*manifest, asked, backend.display_path(""));
            auto format = formats::find_format(workload.dataset.format);
            if (status && !format) status = format.error();
            for (const Split split : {Split::train, Split::valid}) {
                if (!status || (split == Split::valid && !workload.workflow.evaluation)) continue;
                const std::uint64_t files =
                    split == Split::train ? workload.dataset.num_files_train : workload.dataset.num_files_eval;
                status = dataset::spot_check({backend, request.reactor}, *manifest, **format,
                                             {split, files, kSpotCheckFiles, request.run_seed});
            }
            text = dataset::to_json(*manifest);
        }
    }
    if (auto agreed = cluster::agree(*request.communicator, status); !agreed) return agreed.error();
    auto manifest = dataset::parse_manifest(request.communicator->broadcast(text), backend.display_path(""));
    if (!manifest) return manifest.error();
    return std::optional<dataset::Manifest>(std::move(*manifest));
}

PlanRow row(const char* group, const char* name, std::string value) { return {group, name, std::move(value)}; }

// Checkpoints inside training: an accelerator is one of their ranks.
Expected<std::vector<PlanRow>> checkpoint_rows(const RunRequest& request, const TrainingPlan& plan) {
    const Workload& workload = *request.workload;
    auto sizes = config::CheckpointSizes::of(workload, plan.placement.total);
    if (!sizes) return sizes.error();
    if (auto status = config::check_accelerator_memory(workload, *sizes); !status) return status.error();
    const CheckpointSection& c = workload.checkpoint;
    const std::string when =
        c.steps_between_checkpoints > 0
            ? fmt::format("every {} steps of an epoch", c.steps_between_checkpoints)
            : fmt::format("after epoch {}, then every {}", c.checkpoint_after_epoch, c.epochs_between_checkpoints);
    const std::uint64_t bytes = sizes->total().total();
    return std::vector<PlanRow>{
        row("checkpoints", "place", config::checkpoint_location(workload)),
        row("checkpoints", "when", when + (c.asynchronous ? "; training goes on" : "; training waits")),
        row("checkpoints", "bytes of one", fmt::format("{} ({:.4f} GiB)", bytes, to_GiB(static_cast<double>(bytes)))),
    };
}

} // namespace

bool accepts_training(const Workload& workload) { return workload.workflow.train; }

Expected<std::vector<PlanRow>> plan_training(const RunRequest& request) {
    const Workload& workload = *request.workload;
    auto plan = make_training_plan(request, nullptr);
    if (!plan) return plan.error();
    const std::uint64_t payload = plan->train.files->total_payload_bytes();
    const double sample_bytes = static_cast<double>(plan->train.files->total_read_bytes()) /
                                static_cast<double>(plan->train.files->file_count()) / plan->train.samples_per_file;
    const double think_s = workload.train.computation_time.mean_s;
    const double batch_MB = to_MB(sample_bytes * workload.reader.batch_size) * request.accelerator_count;
    std::vector<PlanRow> rows{
        row("accelerators", "in all", std::to_string(plan->placement.total)),
        row("accelerators", "per rank", std::to_string(plan->placement.count)),
        row("accelerators", "hosts", std::to_string(request.communicator->hosts().size())),
        row("epoch", "steps", std::to_string(plan->steps_per_epoch)),
        row("epoch", "samples dropped", std::to_string(plan->dropped_per_epoch)),
        row("epoch", "epochs", std::to_string(plan->epoch_count)),
        row("storage", "data", config::data_location(workload)),
        row("storage", "dataset files", std::to_string(plan->train.files->file_count())),
        row("storage", "dataset bytes (disk need)",
            fmt::format("{} ({:.3f} GB)", payload, static_cast<double>(payload) / 1e9)),
        row("memory", "a rank, at most",
            fmt::format("{:.0f} MiB", to_MiB(static_cast<double>(memory_bound_bytes(request, *plan))))),
    };
    if (workload.workflow.checkpoint) {
        auto more = checkpoint_rows(request, *plan);
        if (!more) return more.error();
        rows.insert(rows.end(), more->begin(), more->end());
    }
    if (plan->valid)
        rows.push_back(row("storage", "evaluation bytes", std::to_string(plan->valid->files->total_payload_bytes())));
    if (think_s > 0)
        rows.push_back(
            row("storage", "needed for 100 % AU",
                fmt::format("{:.1f} MB/s ({:.1f} MB a step of {:.6g} s)", batch_MB / think_s, batch_MB, think_s)));
    return rows;
}

Expected<RunResult> run_training(const RunRequest& request) {
    cluster::Communicator& communicator = *request.communicator;
    const Workload& workload = *request.workload;
    auto backend = open_storage(request, config::data_location(workload), workload.reader.odirect);
    if (auto status = cluster::agree(communicator, backend ? Status{} : Status(backend.error())); !status)
        return status.error();
    auto manifest = find_dataset(request, **backend);
    if (!manifest) return manifest.error();
    const dataset::Manifest* made_as = *manifest ? &**manifest : request.made;
    auto plan = make_training_plan(request, made_as);
    if (auto status = cluster::agree(communicator, plan ? Status{} : Status(plan.error())); !status)
        return status.error();

    RunRequest as_made = request;
    as_made.made = made_as;
    const storage::Capabilities& data = (*backend)->capabilities();
    auto ceiling = measure_ceiling(as_made, {data.name, data.page_cached}, request.ceiling_s);
    if (!ceiling) return ceiling.error();

    std::unique_ptr<storage::Backend> checkpoint_storage;
    std::unique_ptr<TrainingCheckpoints> checkpoints;
    if (workload.workflow.checkpoint) {
        // A storage that exists only in this process is one storage, however often it is named: what is written there
        // slows what is read.
        const std::string place = config::checkpoint_location(workload);
        const bool is_same = place == config::data_location(workload) && !data.has_content;
        if (!is_same) {
            auto made = open_storage(request, place, workload.checkpoint.odirect);
            if (auto status = cluster::agree(communicator, made ? Status{} : Status(made.error())); !status)
                return status.error();
            checkpoint_storage = std::move(*made);
        }
        auto made = TrainingCheckpoints::make(request, plan->placement, is_same ? **backend : *checkpoint_storage);
        if (!made) return made.error();
        checkpoints = std::move(*made);
    }
    auto pool = engine::BufferPool::make(plan->buffers);
    if (auto status = cluster::agree(communicator, pool ? Status{} : Status(pool.error())); !status)
        return status.error();
    // Registered buffers spare direct I/O the pinning of pages (a quarter of its CPU) and cost buffered I/O nothing;
    // where the kernel's memory lock limit forbids them, the pool works without.
    if (request.reactor->uring()) (void)request.reactor->uring()->register_buffers((*pool)->buffers()).has_value();

    const DatasetSection& made = made_as ? made_as->dataset : workload.dataset;
    const generators::ContentParameters content{made.seed, made.compress_percent, made.dedupe_percent};
    // A run that is limited to a few seconds belongs to a job that has asked already.
    const probes::HostLimits limits =
        request.limit.time_ns == 0 ? measure_host_limits(request, **backend) : probes::HostLimits{};
    const bool is_virtual = request.reactor->clock().is_virtual();
    const StorageResult data_facts = look_at_storage(**backend, "data", config::data_location(workload), is_virtual);
    StorageResult checkpoint_facts;
    if (checkpoint_storage)
        checkpoint_facts =
            look_at_storage(*checkpoint_storage, "checkpoints", config::checkpoint_location(workload), is_virtual);
    RunOutcome outcome;
    outcome.ceiling = std::move(*ceiling);
    outcome.cpu_start = probes::cpu_mark({});
    {
        TrainingRun run(request, *plan, **backend, checkpoints.get(), **pool, content);
        Status status = request.reactor->run(run.run());
        outcome.error = status ? run.first_error() : std::optional<Error>(status.error());
        if (!status) { // a fault of our own: the other ranks may wait for this one in the barrier
            std::fprintf(stderr, "feedbench: error: %s\n", status.error().describe().c_str());
            std::fflush(stderr);
            communicator.abort(exit_code(status.error().kind));
        }
        outcome.stop = run.stop_reason();
        if (run.settled_cpu()) outcome.cpu_start = *run.settled_cpu();
        outcome.cpu_start.limits = limits;
        gather_run(request, *plan, run, outcome);
        outcome.storages = gather_storage(communicator, **backend, data_facts);
        if (checkpoint_storage)
            for (StorageResult& one : gather_storage(communicator, *checkpoint_storage, checkpoint_facts))
                outcome.storages.push_back(std::move(one));
        if (checkpoints) {
            auto gathered = checkpoints->gather(run.clock_offset_ns(), outcome.measurements.run_start_ns);
            outcome.measurements.checkpoints = std::move(gathered.checkpoints);
            outcome.checkpoint_cost = gathered.cost;
            outcome.checkpoint_cost->checkpoint_count =
                static_cast<std::uint32_t>(outcome.measurements.checkpoints.size());
            checkpoints->clean_up();
        }
    }
    if (request.reactor->uring()) (void)request.reactor->uring()->register_buffers({}).has_value();
    return make_result(request, *plan, **backend, std::move(outcome));
}

} // namespace feedbench::workloads
