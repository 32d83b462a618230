// feedbench system: describes the hosts of a job for a submission, and checks such a description.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/probes/cpu.hpp"
#include "harness/probes/network_interface.hpp"
#include "harness/types/units.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/submission/description.hpp"
#include "reporters/submission/findings.hpp"
#include "reporters/submission/new_files.hpp"
#include "storage/mounts.hpp"

namespace feedbench::cli {

namespace {

struct State {
    std::string name, data_dir, out, file;
};

// PRETTY_NAME of os-release(5); empty where the machine has none.
std::string operating_system() {
    for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);)
            if (line.starts_with("PRETTY_NAME=")) {
                std::string value = line.substr(12);
                if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
                return value;
            }
    }
    return {};
}

// What a rank knows of its host, to rank 0.
std::string own_host() {
    const probes::Machine machine;
    nlohmann::json host{{"cpu_model", probes::cpu_model(machine).value_or("")},
                        {"cpu_count", probes::online_cpu_count(machine).value_or(0)},
                        {"memory_bytes", probes::memory_total_bytes(machine).value_or(0)},
                        {"kernel", probes::kernel_release(machine).value_or("")},
                        {"operating_system", operating_system()}};
    if (const auto fastest = probes::fastest_interface(machine)) {
        host["interface"] = fastest->interface;
        host["bytes_per_second"] = fastest->bytes_per_second;
    }
    return host.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<submission::ClientDescription> gathered(cluster::Communicator& communicator) {
    const auto told = communicator.gather(own_host());
    std::vector<submission::ClientDescription> hosts;
    if (told.empty()) return hosts;
    for (const cluster::HostLayout& layout : communicator.hosts()) {
        const auto host = nlohmann::json::parse(told[static_cast<std::size_t>(layout.ranks.front())]);
        submission::ClientDescription one;
        one.host_names = {layout.name};
        one.cpu_model = host["cpu_model"].get<std::string>();
        one.kernel = host["kernel"].get<std::string>();
        one.operating_system = host["operating_system"].get<std::string>();
        one.cpu_count = host["cpu_count"].get<std::uint32_t>();
        one.memory_GiB = to_GiB(static_cast<double>(host["memory_bytes"].get<std::uint64_t>()));
        if (host.contains("interface")) {
            one.network_interface = host["interface"].get<std::string>();
            one.network_Gbit_per_second = 8 * host["bytes_per_second"].get<double>() / 1e9;
        }
        hosts.push_back(std::move(one));
    }
    return submission::group_alike(std::move(hosts));
}

int describe(Session& session, const State& state) {
    const auto clients = gathered(session.communicator());
    if (!session.is_first()) return 0;
    submission::DataPlace data;
    if (!state.data_dir.empty()) {
        const auto filesystem = storage::filesystem_at(state.data_dir);
        if (!filesystem) return session.fail(filesystem.error());
        data = {state.data_dir, filesystem->type, filesystem->device};
    }
    const std::string text = submission::description_yaml(clients, data, state.name);
    if (state.out.empty()) {
        fmt::print("{}", text);
        return 0;
    }
    if (Status written = submission::write_new(state.out, text); !written) return session.fail(written.error());
    fmt::print("{}: fill in every '{}', then feedbench system check {}\n", state.out, submission::kFillIn, state.out);
    return 0;
}

int check(Session& session, const State& state) {
    if (!session.is_first()) return 0;
    if (const auto text = submission::read_named(state.file); !text) return session.fail(text.error());
    const auto description = ingest::read_yaml(state.file); // JSON is YAML, too
    if (!description) return session.fail(description.error());
    const auto problems = submission::description_problems(*description);
    for (const std::string& problem : problems) fmt::print("{}: {}\n", state.file, problem);
    fmt::print("{}: {}\n", state.file, problems.empty() ? "whole" : fmt::format("{} to be put right", problems.size()));
    return problems.empty() ? 0 : 1;
}

} // namespace

std::function<int(Session&)> add_system(CLI::App& command) {
    auto state = std::make_shared<State>();
    auto* describe_command =
        command.add_subcommand("describe", "A description with what the job's hosts say of themselves");
    auto* check_command = command.add_subcommand("check", "What is missing in a description");
    describe_command->add_option("--name", state->name, "Name of the system, as its folder is called");
    describe_command->add_option("--data-dir", state->data_dir, "A folder on the storage under test");
    describe_command->add_option("-o,--out", state->out, "Write to this file, which must not be there");
    describe_command->footer(
        "Every value that only a person knows is marked FILL IN.\n"
        "Example: mpirun -N 1 -H h1,h2 feedbench system describe --name big4000 --data-dir /mnt/x -o "
        "big4000.yaml");
    check_command->add_option("file", state->file, "The description, YAML or JSON")->required();
    check_command->footer("Exit code 0: whole; 1: something is missing or wrong.\n"
                          "Example: feedbench system check configs/systems/example.yaml");
    command.require_subcommand(0, 1);
    return [=](Session& session) {
        if (*describe_command) return describe(session, *state);
        if (*check_command) return check(session, *state);
        return session.fail(usage_error("system wants one of: describe, check (feedbench system --help)"));
    };
}

} // namespace feedbench::cli
