#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "formats/registry.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/list_backends.hpp"
#include "harness/config/profiles.hpp"
#include "harness/loader/loader.hpp"
#include "reporters/gate/policy.hpp"
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
void print_gates() {
    fmt::print("gate policies (feedbench gate --policy NAME):\n");
    for (const std::string& name : gate::policy_names()) {
        const auto policy = gate::load_policy(name);
        fmt::print("  {:<12} {}\n", name, policy ? policy->description : policy.error().describe());
    }
}

struct State {
    std::string what = "all";
    std::vector<std::string> options;
    LookedAt asked;
};

int print_backends(Session& session, State& state) {
    LookedAt& asked = state.asked;
    for (const std::string& text : state.options)
        if (auto status = add_option_text(text, asked.options); !status) return session.fail(status.error());
    if (asked.uri.empty()) {
        fmt::print("{}", asked.as_json ? backends_json() : backends_text());
        return 0;
    }
    auto reactor = session.reactor(false, false);
    if (!reactor) return session.fail(reactor.error());
    auto text = look_at_uri(asked, **reactor);
    if (!text) return session.fail(text.error());
    fmt::print("{}", *text);
    return 0;
}

} // namespace

std::function<int(Session&)> add_list(CLI::App& command) {
    auto state = std::make_shared<State>();
    command.add_option("what", state->what, "all, workloads, kinds, formats, loaders, backends or gates")
        ->check(CLI::IsMember({"all", "workloads", "kinds", "formats", "loaders", "backends", "gates"}));
    command.add_option("uri,--uri", state->asked.uri, "backends: what would be used for this path or URI");
    command.add_option("--storage-option", state->options, "backends: KEY=VALUE of storage.storage_options")
        ->take_all()
        ->allow_extra_args(false);
    command.add_flag("--odirect", state->asked.odirect, "backends: as with reader.odirect");
    command.add_flag("--json", state->asked.as_json, "backends: JSON");
    command.footer("Examples: feedbench list backends; feedbench list backends /mnt/x --json");
    return [state](Session& session) {
        if (!session.is_first()) return 0;
        const bool all = state->what == "all", backends = state->what == "backends";
        if (!backends && (!state->asked.uri.empty() || state->asked.as_json || !state->options.empty()))
            return session.fail(usage_error("a URI, --storage-option and --json belong to 'list backends'"));
        if (all || state->what == "workloads") print_workloads();
        if (all || state->what == "kinds") print_kinds();
        if (all || state->what == "formats") print_formats();
        if (all || state->what == "loaders") print_loaders();
        if (all || backends)
            if (const int code = print_backends(session, *state); code != 0) return code;
        if (all || state->what == "gates") print_gates();
        return 0;
    };
}

} // namespace feedbench::cli
