// The commands of the binary: each adds itself to the parser and runs.
//
// Thread: main thread of every rank. Owner: main(). Units: none. Errors: the exit code; the message is printed by
// Session::fail.
#pragma once

#include <functional>

#include "harness/cli/session.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::cli {

struct Command {
    std::string_view name;
    // Declares the options and gives back what runs them.
    std::function<int(Session&)> (*add)(CLI::App& command);
    std::string_view summary;
};

std::function<int(Session&)> add_list(CLI::App& command);
std::function<int(Session&)> add_show(CLI::App& command);
std::function<int(Session&)> add_datasize(CLI::App& command);
std::function<int(Session&)> add_datagen(CLI::App& command);
std::function<int(Session&)> add_adopt(CLI::App& command);
std::function<int(Session&)> add_probe(CLI::App& command);
std::function<int(Session&)> add_report(CLI::App& command);
std::function<int(Session&)> add_compare(CLI::App& command);
std::function<int(Session&)> add_gate(CLI::App& command);
std::function<int(Session&)> add_baseline(CLI::App& command);
std::function<int(Session&)> add_submit(CLI::App& command);
std::function<int(Session&)> add_system(CLI::App& command);
std::function<int(Session&)> add_run(CLI::App& command);
std::function<int(Session&)> add_simulate(CLI::App& command);
std::function<int(Session&)> add_max(CLI::App& command);

// The part of --dry-run that all commands print: every key with its value and origin.
void print_effective(const Workload& workload);
void print_rows(const std::vector<workloads::PlanRow>& rows);
// Keeps only DLIO's override spelling of what was left over on the command line; anything else is an error.
Status take_overrides(const CLI::App& command, WorkloadOptions& options);

} // namespace feedbench::cli
