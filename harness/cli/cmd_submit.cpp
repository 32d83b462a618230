// feedbench submit: makes, fills, checks and packs the tree of a submission.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "harness/cli/commands.hpp"
#include "reporters/submission/check.hpp"
#include "reporters/submission/edition_facts.hpp"
#include "reporters/submission/pack.hpp"
#include "reporters/submission/rules.hpp"
#include "reporters/submission/writer.hpp"

namespace feedbench::cli {

namespace {

struct State {
    submission::NewTree tree;
    submission::Addition addition;
    submission::CheckOptions options;
    std::string root, format = "console", archive;
    bool despite_findings = false;
};

const std::vector<std::string> kEditions{"1.0", "2.0", "3.0"};
const std::vector<std::string> kDivisions{"closed", "open"};

void add_tree(CLI::App& command, State& state) {
    command.add_option("tree", state.root, "The folder of the submission")->required();
}

int init(Session& session, State& state) {
    state.tree.root = state.root;
    if (Status made = submission::init_tree(state.tree); !made) return session.fail(made.error());
    fmt::print("{}: {} division of edition {}; {}\n", state.root, state.tree.division, state.tree.edition,
               submission::kStatement);
    fmt::print("next: feedbench submit add {} --system NAME RESULT...   (then: feedbench submit check {})\n",
               state.root, state.root);
    return 0;
}

int add(Session& session, State& state) {
    state.addition.root = state.root;
    const auto added = submission::add_results(state.addition);
    if (!added) return session.fail(added.error());
    for (const auto& path : added->placed) fmt::print("{}\n", path.string());
    fmt::print("{} run{} added; {}\n", added->placed.size(), added->placed.size() == 1 ? "" : "s",
               submission::kStatement);
    return 0;
}

int check(Session& session, const State& state) {
    const auto result = submission::check_tree(state.root, state.options);
    if (!result) return session.fail(result.error());
    fmt::print("{}", state.format == "json" ? submission::render_json(*result) : submission::render_console(*result));
    return result->passed() ? 0 : 1;
}

int pack(Session& session, State& state) {
    const auto result = submission::check_tree(state.root, state.options);
    if (!result) return session.fail(result.error());
    if (!result->passed()) {
        for (const submission::Finding& finding : result->findings)
            fmt::print(stderr, "{}\n", submission::line_of(finding));
        if (!state.despite_findings) {
            fmt::print(stderr, "feedbench: not packed: {} finding{} (--despite-findings packs all the same)\n",
                       result->findings.size(), result->findings.size() == 1 ? "" : "s");
            return 1;
        }
    }
    const auto packed = submission::pack_tree(state.root, state.archive);
    if (!packed) return session.fail(packed.error());
    fmt::print("{}: {} files, {} bytes, sha256 {}; {}\n", state.archive, packed->file_count, packed->bytes,
               packed->sha256, submission::kStatement);
    return 0;
}

int list_rules() {
    fmt::print("Rules of feedbench submit check; {}\n", submission::kStatement);
    for (const submission::Rule& rule : submission::rules())
        fmt::print("  {:<26} {:<14} {:<13} {}\n", rule.id, submission::edition_names(rule.editions),
                   submission::division_names(rule.divisions), rule.checks);
    return 0;
}

void add_init(CLI::App& command, State& state) {
    add_tree(command, state);
    command.add_option("--edition", state.tree.edition, "1.0, 2.0 or 3.0")->required()->check(CLI::IsMember(kEditions));
    command.add_option("--division", state.tree.division, "closed or open")
        ->required()
        ->check(CLI::IsMember(kDivisions));
    command.add_option("--org", state.tree.organisation, "Your organisation, as its folder is called")->required();
    command.add_option("--system", state.tree.system, "Name of the system that --description and --pdf describe");
    command.add_option("--description", state.tree.description, "Its description (feedbench system describe)");
    command.add_option("--pdf", state.tree.pdf, "A PDF that describes it further");
    command.footer("Example: feedbench submit init sub --edition 2.0 --division open --org acme --system big4000\n"
                   "         feedbench submit init sub --edition 2.0 --division open --org acme --system big4000 "
                   "--description big4000.yaml --pdf big4000.pdf");
}

void add_add(CLI::App& command, State& state) {
    add_tree(command, state);
    command.add_option("result", state.addition.results, "result.json of feedbench, its folder, or a folder with many")
        ->required();
    command.add_option("--division", state.addition.division, "Where the tree has both: closed or open")
        ->check(CLI::IsMember(kDivisions));
    command.add_option("--system", state.addition.system,
                       "The system they were measured on; default: the only one there is");
    command.add_option("--dataset", state.addition.dataset,
                       "Folder of the dataset: its feedbench-manifest.json goes into datagen/");
    command.footer(
        "Nothing is overwritten. What does not belong is refused: invalid runs, other editions, scaled models,\n"
        "parameters that the division may not change.\n"
        "Example: feedbench submit add sub feedbench-results --dataset /mnt/x/unet3d");
}

void add_check(CLI::App& command, State& state) {
    add_tree(command, state);
    command.add_option("--edition", state.options.edition, "By which rules; default: as the tree says")
        ->check(CLI::IsMember(kEditions));
    command.add_option("--division", state.options.division, "Of results that lie in none (default closed)")
        ->check(CLI::IsMember(kDivisions));
    command.add_option("--format", state.format, "console (default) or json")
        ->check(CLI::IsMember({"console", "json"}));
    command.footer("Exit code 0: no findings; 1: findings; 2: no tree, or a wrong command line.\n"
                   "Example: feedbench submit check sub --format json");
}

void add_pack(CLI::App& command, State& state) {
    add_tree(command, state);
    command.add_option("archive", state.archive, "The .tar.gz to write; it must not be there")->required();
    command.add_option("--edition", state.options.edition, "By which rules; default: as the tree says")
        ->check(CLI::IsMember(kEditions));
    command.add_flag("--despite-findings", state.despite_findings, "Pack although the check finds something");
    command.footer("The archive holds .SHA256SUMS over its files; its own checksum lies beside it.\n"
                   "Example: feedbench submit pack sub acme.tar.gz");
}

} // namespace

std::function<int(Session&)> add_submit(CLI::App& command) {
    auto state = std::make_shared<State>();
    auto* init_command = command.add_subcommand("init", "Make a tree, or a division, a system or a description in it");
    auto* add_command = command.add_subcommand("add", "Put runs of feedbench in their places");
    auto* check_command = command.add_subcommand("check", "Check any tree against the rules");
    auto* pack_command = command.add_subcommand("pack", "Check, then write one archive with checksums");
    auto* rules_command = command.add_subcommand("rules", "The rules that are checked");
    add_init(*init_command, *state);
    add_add(*add_command, *state);
    add_check(*check_command, *state);
    add_pack(*pack_command, *state);
    command.require_subcommand(0, 1);
    command.footer("The trees are MLPerf-Storage-style, not verified by MLCommons; docs/submission.md says what can be "
                   "submitted where.");
    return [=](Session& session) {
        if (!session.is_first()) return 0; // one process does it
        if (*init_command) return init(session, *state);
        if (*add_command) return add(session, *state);
        if (*check_command) return check(session, *state);
        if (*pack_command) return pack(session, *state);
        if (*rules_command) return list_rules();
        return session.fail(
            usage_error("submit wants one of: init, add, check, pack, rules (feedbench submit --help)"));
    };
}

} // namespace feedbench::cli
