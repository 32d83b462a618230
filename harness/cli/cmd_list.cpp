#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "formats/registry.hpp"
#include "harness/cli/commands.hpp"
#include "harness/config/profiles.hpp"
#include "harness/loader/loader.hpp"
#include "reporters/gate/policy.hpp"
#include "storage/registry.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::cli {

namespace {

void print_workloads() {
    fmt::print("workloads (feedbench show NAME):\n");
    for (const std::string& name : config::workload_names()) fmt::print("  {}\n", name);
}
void print_kinds() {
    fmt::print("workload kinds:\n");
    for (const auto& kind : workloads::workload_kinds()) fmt::print("  {:<12} {}\n", kind.name, kind.help);
}
void print_formats() {
    fmt::print("formats (dataset.format):\n");
    for (const formats::Format* format : formats::all_formats())
        fmt::print("  {:<12} {}\n", format->name(),
                   format->has_checksum() ? "carries checksums" : "no checksum of its own");
}
void print_loaders() {
    fmt::print("data loaders (reader.data_loader):\n");
    for (const auto& loader : loader::loaders()) fmt::print("  {:<12} {}\n", loader.name, loader.help);
}
void print_backends() {
    fmt::print("storage backends (by URI):\n");
    for (const auto& backend : storage::backends()) {
        fmt::print("  {:<12} {}\n", std::string(backend.scheme) + ":", backend.help);
        for (const Option& option : backend.options)
            fmt::print("    {:<18} {} (default {}{}{})\n", option.key, option.help, option.default_value,
                       option.unit.empty() ? "" : " ", option.unit);
    }
}

void print_gates() {
    fmt::print("gate policies (feedbench gate --policy NAME):\n");
    for (const std::string& name : gate::policy_names()) {
        const auto policy = gate::load_policy(name);
        fmt::print("  {:<12} {}\n", name, policy ? policy->description : policy.error().describe());
    }
}

} // namespace

std::function<int(Session&)> add_list(CLI::App& command) {
    auto what = std::make_shared<std::string>("all");
    command.add_option("what", *what, "all, workloads, kinds, formats, loaders, backends or gates")
        ->check(CLI::IsMember({"all", "workloads", "kinds", "formats", "loaders", "backends", "gates"}));
    command.footer("Example: feedbench list backends");
    return [what](Session& session) {
        if (!session.is_first()) return 0;
        const bool all = *what == "all";
        if (all || *what == "workloads") print_workloads();
        if (all || *what == "kinds") print_kinds();
        if (all || *what == "formats") print_formats();
        if (all || *what == "loaders") print_loaders();
        if (all || *what == "backends") print_backends();
        if (all || *what == "gates") print_gates();
        return 0;
    };
}

} // namespace feedbench::cli
