// feedbench probe: what the client can do at most, and what its hosts and the storage's host side say of themselves.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/cli/ceiling_option.hpp"
#include "harness/cli/commands.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "reporters/console_text.hpp"
#include "workloads/client_probe.hpp"

namespace feedbench::cli {

namespace {

struct State {
    WorkloadOptions options;
    std::uint32_t accelerators = 0;
    double ceiling_s = 2;
    bool json = false;
};

nlohmann::json or_null(const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
std::string or_unknown(const std::optional<double>& value, double per, int decimals) {
    return value ? fmt::format("{:.{}f}", *value / per, decimals) : std::string("not said");
}
const HostCeiling* ceiling_of(const workloads::Ceiling& ceiling, std::size_t host) {
    return host < ceiling.hosts.size() ? &ceiling.hosts[host] : nullptr; // the same order
}

class ProbeCommand {
  public:
    ProbeCommand(Session& session, const State& state, const Workload& workload)
        : session_(session), state_(state), workload_(workload) {}

    int execute() {
        auto reactor = session_.reactor(false, workload_.reader.io_engine == IoEngine::uring);
        if (!reactor) return session_.fail(reactor.error());
        workloads::RunRequest request;
        request.workload = &workload_;
        request.communicator = &session_.communicator();
        request.reactor = *reactor;
        request.accelerator_count =
            state_.accelerators ? state_.accelerators : static_cast<std::uint32_t>(session_.communicator().size());
        request.run_seed = 1; // nothing here is to differ from run to run
        request.signal = Session::signal_flag();
        accelerators_ = request.accelerator_count;
        const double seconds = agreed_ceiling_s(session_, state_.ceiling_s);
        Session::catch_signals();
        auto probe = workloads::probe_client(request, asks_storage(), seconds);
        if (!probe) return session_.fail(probe.error());
        if (session_.is_first()) state_.json ? print_json(*probe) : print_text(*probe);
        return 0;
    }

  private:
    bool asks_storage() const { return !state_.options.data_folder.empty(); }

    void print_text(const workloads::ClientProbe& probe) const {
        fmt::print("{}: {} accelerators on {} ranks of {} hosts\n", workload_.name, accelerators_,
                   session_.communicator().size(), probe.hosts.size());
        if (asks_storage()) print_storage(probe);
        for (std::size_t i = 0; i < probe.hosts.size(); ++i) print_host(probe, i);
        if (probe.ceiling.hosts.empty())
            fmt::print("ceiling: none ({})\n", probe.ceiling.reason);
        else if (probe.hosts.size() > 1)
            fmt::print("ceiling of all hosts: {} MB/s\n", reporters::rate_text(probe.ceiling.MB_per_second()));
    }

    void print_storage(const workloads::ClientProbe& probe) const {
        fmt::print("data: {} ({}", config::data_location(workload_), probe.backend);
        if (probe.filesystem_reason.empty())
            fmt::print(", {}{}{}, {:.1f} GB free of {:.1f}", probe.filesystem.type,
                       probe.filesystem.device.empty() ? "" : " on ", probe.filesystem.device,
                       static_cast<double>(probe.filesystem.free_bytes) / 1e9,
                       static_cast<double>(probe.filesystem.total_bytes) / 1e9);
        else
            fmt::print(", {}", probe.filesystem_reason);
        fmt::print(")\n  bytes come from: {}{}{}\n", probe.source.kind, probe.source.name.empty() ? "" : ", ",
                   probe.source.name);
        if (!probe.source.reason.empty()) fmt::print("  they cannot be counted: {}\n", probe.source.reason);
    }

    static void print_host(const workloads::ClientProbe& probe, std::size_t index) {
        const HostFacts& host = probe.hosts[index];
        fmt::print("host {}: {} ranks, {} accelerators, {} CPUs ({} for this job), {:.1f} GB of memory, {}, {}\n",
                   host.name, host.rank_count, host.accelerator_count, host.cpu_count,
                   or_unknown(host.cpu_allowed, 1, 1), static_cast<double>(host.memory_bytes) / 1e9, host.cpu_model,
                   host.kernel);
        fmt::print("  memory reads {} GB/s, network {} GB/s\n", or_unknown(host.memory_bytes_per_second, 1e9, 2),
                   or_unknown(host.nic_bytes_per_second, 1e9, 3));
        if (const HostCeiling* ceiling = ceiling_of(probe.ceiling, index))
            fmt::print("  ceiling {} MB/s, {:.4g} steps/s, {:.3f} CPU s/GB, AU {}\n",
                       reporters::rate_text(ceiling->MB_per_second), ceiling->steps_per_second, ceiling->cpu_s_per_GB,
                       ceiling->au_percentage
                           ? fmt::format("{:.2f} %", *ceiling->au_percentage)
                           : std::string("not measured (think time 0, or too few steps in the time)"));
    }

    void print_json(const workloads::ClientProbe& probe) const {
        nlohmann::json document{{"workload", workload_.name},
                                {"accelerator_count", accelerators_},
                                {"rank_count", session_.communicator().size()},
                                {"ceiling_reason", probe.ceiling.reason},
                                {"hosts", nlohmann::json::array()}};
        if (asks_storage())
            document["storage"] = {{"data_folder", config::data_location(workload_)},
                                   {"backend", probe.backend},
                                   {"filesystem", probe.filesystem.type},
                                   {"filesystem_reason", probe.filesystem_reason},
                                   {"device", probe.filesystem.device},
                                   {"free_bytes", probe.filesystem.free_bytes},
                                   {"total_bytes", probe.filesystem.total_bytes},
                                   {"source_kind", probe.source.kind},
                                   {"source", probe.source.name},
                                   {"source_reason", probe.source.reason}};
        for (std::size_t i = 0; i < probe.hosts.size(); ++i) {
            const HostFacts& host = probe.hosts[i];
            nlohmann::json one{{"name", host.name},
                               {"rank_count", host.rank_count},
                               {"accelerator_count", host.accelerator_count},
                               {"cpu_count", host.cpu_count},
                               {"cpu_allowed", or_null(host.cpu_allowed)},
                               {"cpu_model", host.cpu_model},
                               {"kernel", host.kernel},
                               {"memory_bytes", host.memory_bytes},
                               {"memory_bytes_per_second", or_null(host.memory_bytes_per_second)},
                               {"nic_bytes_per_second", or_null(host.nic_bytes_per_second)},
                               {"ceiling", nullptr}};
            if (const HostCeiling* ceiling = ceiling_of(probe.ceiling, i))
                one["ceiling"] = {{"MB_per_second", ceiling->MB_per_second},
                                  {"steps_per_second", ceiling->steps_per_second},
                                  {"cpu_s_per_GB", ceiling->cpu_s_per_GB},
                                  {"au_percentage", or_null(ceiling->au_percentage)},
                                  {"duration_s", ceiling->duration_s}};
            document["hosts"].push_back(std::move(one));
        }
        fmt::print("{}\n", document.dump(2));
    }

    Session& session_;
    const State& state_;
    const Workload& workload_;
    std::uint32_t accelerators_ = 0;
};

} // namespace

std::function<int(Session&)> add_probe(CLI::App& command) {
    auto state = std::make_shared<State>();
    state->options.workload = "unet3d_h100";
    add_workload_options(command, state->options);
    command.get_option("workload")->required(false)->capture_default_str();
    command.remove_option(command.get_option("--dry-run")); // nothing is written or read that a dry run could spare
    command.add_option("-a,--accelerators", state->accelerators, "Accelerators in all; default: one a rank")
        ->check(CLI::PositiveNumber);
    add_ceiling_option(command, state->ceiling_s);
    add_stall_timeout(command, state->options.stall_timeout_s);
    command.add_flag("--json", state->json, "Print JSON");
    command.footer("Example: mpirun -n 4 feedbench probe unet3d_h100 -a 16 --data-dir /mnt/x/unet3d\n"
                   "         feedbench probe --json\n"
                   "The data folder need not hold a dataset: its files are not read.");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        session.set_stall_timeout(state->options.stall_timeout_s);
        auto workload = session.load(state->options);
        if (!workload) return session.fail(workload.error());
        auto kind = workloads::find_kind(*workload);
        if (!kind) return session.fail(kind.error());
        return ProbeCommand(session, *state, *workload).execute();
    };
}

} // namespace feedbench::cli
