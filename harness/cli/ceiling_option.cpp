#include "harness/cli/ceiling_option.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace feedbench::cli {

void add_ceiling_option(CLI::App& command, double& seconds) {
    command
        .add_option("--ceiling-seconds", seconds,
                    "Seconds, in all, in which the client's ceiling is measured: the same plan at storage that costs "
                    "nothing; 0: it is not")
        ->check(CLI::Range(0.0, 3600.0))
        ->envname("FEEDBENCH_CEILING_SECONDS")
        ->capture_default_str();
}

double agreed_ceiling_s(Session& session, double seconds) {
    return std::stod(session.communicator().broadcast(fmt::format("{}", seconds)));
}

} // namespace feedbench::cli
