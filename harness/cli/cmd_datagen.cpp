#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "generators/dataset_writer.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/progress_option.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"
#include "workloads/storage_facts.hpp"

namespace feedbench::cli {

namespace {

struct State {
    WorkloadOptions options;
    std::string progress = "auto";
    bool no_fsync = false, odirect = false;
};

Expected<std::unique_ptr<storage::Backend>> open_data(Session& session, const Workload& workload,
                                                      engine::Reactor& reactor, bool odirect) {
    storage::BackendRequest request;
    request.uri = config::data_location(workload);
    for (const auto& [key, value] : workload.storage.storage_options) request.options[key] = value;
    request.odirect = odirect;
    request.will_write = true;
    // A buffered write is work of the kernel on this host, not a wait: a few threads of our own do it with less
    // switching than the ring's workers (docs/datasets.md). Direct writes wait for the device: the ring.
    request.io_engine = odirect ? IoEngine::uring : IoEngine::threads;
    request.io_threads = workload.reader.io_threads;
    request.rank = static_cast<std::uint32_t>(session.communicator().rank());
    request.reactor = &reactor;
    return storage::make_backend(std::move(request));
}

// What a client library counted of its servers, where anything went wrong; collective.
void print_retries(Session& session, const storage::Backend& backend, std::FILE* to) {
    for (const StorageResult& storage : workloads::gather_storage(session.communicator(), backend, {}))
        for (const EndpointResult& endpoint : storage.endpoints)
            if (const std::string words = workloads::retry_words(endpoint); !words.empty())
                fmt::print(to, "  {}\n", words);
}

int print_plan(Session& session, const Workload& workload) {
    if (!session.is_first()) return 0;
    print_effective(workload);
    for (const Split split : {Split::train, Split::valid}) {
        auto plan = dataset::DatasetPlan::make(workload.dataset, split);
        if (!plan) return session.fail(plan.error());
        if (plan->file_count() == 0) continue;
        fmt::print("\n{}: {} files x {} samples, {} ... {}\n  disk need {} bytes ({:.3f} GB), by {} ranks\n",
                   split == Split::train ? "train" : "valid", plan->file_count(), plan->samples_per_file(),
                   plan->name(0), plan->name(plan->file_count() - 1), plan->total_payload_bytes(),
                   static_cast<double>(plan->total_payload_bytes()) / 1e9, session.communicator().size());
    }
    fmt::print("\nmemory of a rank, at most: {:.0f} MiB\n",
               to_MiB(static_cast<double>(generators::memory_bound_bytes())));
    return 0;
}

int generate(Session& session, State& state) {
    session.set_stall_timeout(state.options.stall_timeout_s);
    const cluster::Doing doing(session.communicator().life(), "generating the dataset");
    auto workload = session.load(state.options);
    if (!workload) return session.fail(workload.error());
    if (workload->checkpoint_only())
        return session.fail(usage_error(workload->name + " reads no dataset: it only writes and reads checkpoints"));
    if (state.options.dry_run) return print_plan(session, *workload);
    auto reactor = session.reactor(false, state.odirect);
    if (!reactor) return session.fail(reactor.error());
    auto backend = open_data(session, *workload, **reactor, state.odirect);
    if (auto status = cluster::agree(session.communicator(), backend ? Status{} : Status(backend.error())); !status)
        return session.fail(status.error());
    Session::catch_signals();
    const auto progress = make_progress(session.is_first() ? state.progress : "off");
    auto report = generators::generate_dataset({&*workload, &session.communicator(), *reactor, backend->get(),
                                                session.is_first() ? progress.get() : nullptr, Session::signal_flag(),
                                                !state.no_fsync});
    if (!report) {
        const bool interrupted = report.error().kind == ErrorKind::interrupted;
        const std::string why = report.error().describe();
        print_retries(session, **backend, stderr);
        progress->finish({.status = interrupted ? "interrupted" : "failed", .valid = false, .message = why});
        return session.fail(report.error());
    }
    progress->finish({});
    if (session.is_first())
        fmt::print("{}: {} files written, {} found finished, {:.3f} GB in {:.1f} s: {:.1f} MB/s ({:.1f} MiB/s), {:.3f} "
                   "CPU s/GB\n",
                   (*backend)->display_path(""), report->files_written, report->files_kept,
                   static_cast<double>(report->bytes_written) / 1e9, report->duration_s,
                   to_MB(static_cast<double>(report->bytes_written)) / report->duration_s,
                   to_MiB(static_cast<double>(report->bytes_written)) / report->duration_s,
                   report->bytes_written ? report->cpu_s / (static_cast<double>(report->bytes_written) / 1e9) : 0.0);
    print_retries(session, **backend, stdout);
    return 0;
}

} // namespace

std::function<int(Session&)> add_datagen(CLI::App& command) {
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command.add_flag("--no-fsync", state->no_fsync, "Do not wait for stable storage before a file gets its name");
    command.add_flag("--odirect", state->odirect, "Write past the page cache");
    add_stall_timeout(command, state->options.stall_timeout_s);
    add_progress_option(command, state->progress);
    command.footer(
        "Example: mpirun -n 4 feedbench datagen unet3d_h100 -p dataset.num_files_train=168 --data-dir /mnt/x/unet3d");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        return generate(session, *state);
    };
}

} // namespace feedbench::cli
