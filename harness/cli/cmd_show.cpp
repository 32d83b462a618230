#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "harness/cli/commands.hpp"
#include "harness/config/checkpoint_sizes.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::cli {

void print_effective(const Workload& workload) { fmt::print("{}", config::effective_yaml(workload)); }

Status take_overrides(const CLI::App& command, WorkloadOptions& options) {
    for (const std::string& extra : command.remaining()) {
        const bool override =
            extra.find('=') != std::string::npos && (extra.rfind("+", 0) == 0 || extra.rfind("workload.", 0) == 0);
        if (!override)
            return usage_error("'" + extra + "' is neither an option of '" + command.get_name() +
                               "' nor an override like ++workload.reader.batch_size=7; see feedbench " +
                               command.get_name() + " --help");
        options.overrides.push_back(extra);
    }
    return {};
}

void print_rows(const std::vector<workloads::PlanRow>& rows) {
    std::string group;
    for (const workloads::PlanRow& row : rows) {
        if (row.group != group) fmt::print("{}:\n", group = row.group);
        fmt::print("  {:<28} {}\n", row.name, row.value);
    }
}

namespace {

// Files and bytes of a workload that only checkpoints; running it is another workload kind's.
int print_checkpoint(Session& session, const Workload& workload, std::uint64_t ranks) {
    const std::uint64_t closed = config::closed_rank_count(workload.model.name).value_or(1);
    auto sizes = config::CheckpointSizes::of(workload, ranks ? ranks : closed);
    if (!sizes) return session.fail(sizes.error());
    const config::RankBytes total = sizes->total();
    fmt::print("checkpoint of {} by {} ranks (TP {} x PP {} x DP {}):\n", workload.model.name, sizes->rank_count(),
               sizes->tensor_parallelism(), sizes->pipeline_parallelism(), sizes->data_parallelism());
    fmt::print("  {:<28} {:.4f} GiB = model {:.4f} + optimizer {:.4f}\n", "in all",
               to_GiB(static_cast<double>(total.total())), to_GiB(static_cast<double>(total.model)),
               to_GiB(static_cast<double>(total.optimizer)));
    std::uint64_t files = 0, largest = 0;
    for (std::uint64_t rank = 0; rank < sizes->rank_count(); ++rank) {
        files += sizes->files(rank).size();
        largest = std::max(largest, sizes->rank(rank).total());
    }
    fmt::print("  {:<28} {}\n  {:<28} {:.4f} GiB\n", "files", files, "largest rank",
               to_GiB(static_cast<double>(largest)));
    fmt::print("files of rank 0:\n");
    for (const config::CheckpointFile& file : sizes->files(0)) fmt::print("  {:<52} {} bytes\n", file.name, file.bytes);
    return 0;
}

} // namespace

std::function<int(Session&)> add_show(CLI::App& command) {
    struct State {
        WorkloadOptions options;
        std::uint32_t accelerators = 0;
    };
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command.add_option("-a,--accelerators", state->accelerators, "Accelerators in all (checkpoint workloads: ranks)");
    command.footer("Example: feedbench show unet3d_h100 --accelerators 8\n         feedbench show llama3_405b");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        auto workload = session.load(state->options);
        if (!workload) return session.fail(workload.error());
        if (session.is_first()) {
            print_effective(*workload);
            fmt::print("\n");
        }
        if (workload->checkpoint_only())
            return session.is_first() ? print_checkpoint(session, *workload, state->accelerators) : 0;
        auto kind = workloads::find_kind(*workload);
        if (!kind) return session.is_first() ? (fmt::print("{}\n", kind.error().describe()), 0) : 0;
        auto reactor = session.reactor(true, false); // a plan needs no storage and no time
        if (!reactor) return session.fail(reactor.error());
        workloads::RunRequest request;
        request.workload = &*workload;
        request.communicator = &session.communicator();
        request.reactor = *reactor;
        request.accelerator_count =
            state->accelerators ? state->accelerators : static_cast<std::uint32_t>(session.communicator().size());
        auto rows = (*kind)->plan(request);
        if (!rows) return session.fail(rows.error());
        if (session.is_first()) print_rows(*rows);
        return 0;
    };
}

} // namespace feedbench::cli
