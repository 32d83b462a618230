#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>

#include "harness/cli/commands.hpp"
#include "harness/cli/show_checkpoint.hpp"
#include "harness/config/load_yaml.hpp"
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

// CLI11's own answer prints the largest double with all its digits.
std::string above_zero(std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool good = !text.empty() && *end == '\0' && value > 0 && std::isfinite(value);
    return good ? std::string() : "'" + text + "' is not a number above 0";
}

struct State {
    WorkloadOptions options;
    std::uint32_t accelerators = 0;
    CheckpointQuestion checkpoint;
    bool files = false, json = false;
};

// Files and bytes of what checkpoints; nothing is written. Only the first rank speaks.
int print_checkpoint(Session& session, const State& state, const Workload& workload) {
    if (!session.is_first()) return 0;
    CheckpointQuestion question = state.checkpoint;
    question.rank_count = state.accelerators;
    if (!workload.checkpoint_only() && question.rank_count == 0)
        question.rank_count = static_cast<std::uint64_t>(session.communicator().size());
    Status status;
    if (state.json) {
        status = print_checkpoint_json(workload, question);
    } else if (state.files) {
        status = print_checkpoint_files(workload, question);
    } else {
        print_effective(workload);
        fmt::print("\n");
        status = print_checkpoint_table(workload, question);
    }
    return status ? 0 : session.fail(status.error());
}

} // namespace

std::function<int(Session&)> add_show(CLI::App& command) {
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command.add_option("-a,--accelerators", state->accelerators, "Accelerators in all (checkpoint workloads: ranks)");
    const auto question = [&](const char* name, auto& value, const char* help) {
        command.add_option(name, value, help)->check(CLI::Validator(above_zero, "NUMBER"))->group("Checkpoints");
    };
    question("--hosts", state->checkpoint.host_count, "Hosts that the ranks lie on; default: 8 ranks a host");
    question("--accelerator-memory-gb", state->checkpoint.accelerator_GiB,
             "Memory of one accelerator in GB of 2^30 bytes; default: that of the workload's accelerator, else 80");
    question("--MB-per-second", state->checkpoint.MB_per_second,
             "Rate of the storage, for the time that checkpoints would take");
    command.add_flag("--files", state->files, "Print every file of the checkpoint as CSV: rank, name, bytes")
        ->group("Checkpoints");
    command.add_flag("--json", state->json, "Print the checkpoint's plan as JSON")
        ->group("Checkpoints")
        ->excludes("--files");
    command.footer("Example: feedbench show unet3d_h100 --accelerators 8\n"
                   "         feedbench show llama3_405b --hosts 64 --MB-per-second 50000\n"
                   "         feedbench show llama3_8b --files > files.csv");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        auto workload = session.load(state->options);
        if (!workload) return session.fail(workload.error());
        const bool asked = state->files || state->json;
        if (asked && !workload->workflow.checkpoint)
            return session.fail(usage_error(workload->name + " writes no checkpoint (workflow.checkpoint is false); "
                                                             "--files and --json are about those"));
        if (workload->checkpoint_only() || asked) return print_checkpoint(session, *state, *workload);
        if (session.is_first()) {
            print_effective(*workload);
            fmt::print("\n");
        }
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
