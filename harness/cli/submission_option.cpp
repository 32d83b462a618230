#include "harness/cli/submission_option.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/probes/cpu.hpp"
#include "reporters/submission/check.hpp"
#include "reporters/submission/edition_facts.hpp"
#include "storage/mounts.hpp"
#include "storage/registry.hpp"

namespace feedbench::cli {

namespace {

using submission::RunJudgement;

bool on_one_filesystem(const std::string& uri, const std::string& results_dir) {
    const auto parsed = storage::parse_uri(uri);
    if (!parsed || parsed->scheme != "file") return false; // no filesystem
    // Folders that are not there yet: what holds is where they will be made.
    const auto at = [](const std::string& path) {
        return storage::filesystem_at(std::filesystem::absolute(path).lexically_normal().string());
    };
    const auto data = at(parsed->root), results = at(results_dir);
    return data && results && data->id == results->id;
}

bool results_on_storage(const Workload& workload, const std::string& results_dir) {
    return (!workload.checkpoint_only() && on_one_filesystem(config::data_location(workload), results_dir)) ||
           (workload.workflow.checkpoint && on_one_filesystem(config::checkpoint_location(workload), results_dir));
}

// Each host's memory, told by its first rank; rank 0 only.
std::vector<std::uint64_t> memory_of_hosts(cluster::Communicator& communicator) {
    const auto own = probes::memory_total_bytes({});
    const auto told = communicator.gather(std::to_string(own.value_or(0)));
    std::vector<std::uint64_t> memory;
    if (!told.empty())
        for (const cluster::HostLayout& host : communicator.hosts())
            memory.push_back(std::stoull(told[static_cast<std::size_t>(host.ranks.front())]));
    return memory;
}

} // namespace

void add_submission_option(CLI::App& command, SubmissionOption& option) {
    auto* closed =
        command.add_flag("--closed", option.closed,
                         "Judge the run by the CLOSED rules (docs/submission.md); what breaks them and can be "
                         "known before the run is refused");
    command.add_flag("--open", option.open, "Judge the run by the OPEN rules; what breaks them is said")
        ->excludes(closed);
    command
        .add_option("--edition", option.edition,
                    "Edition of the rules: 1.0, 2.0, 3.0; default: 3.0 for b200 and mi355, else 2.0")
        ->check(CLI::IsMember({"1.0", "2.0", "3.0"}));
}

SubmissionJudge::SubmissionJudge(Session& session, const Workload& workload, const SubmissionOption& option,
                                 std::string results_dir)
    : session_(session), workload_(workload), option_(option), results_dir_(std::move(results_dir)),
      edition_(option.edition.empty() ? submission::default_edition(workload.accelerator) : option.edition) {}

Status SubmissionJudge::look_ahead(std::uint32_t accelerator_count, bool virtual_time) {
    if (!option_.asked()) return {};
    cluster::Communicator& communicator = session_.communicator();
    const auto memory = memory_of_hosts(communicator);
    Status status;
    if (session_.is_first()) {
        results_on_storage_ = results_on_storage(workload_, results_dir_);
        submission::PlannedRun plan;
        plan.workload = &workload_;
        plan.accelerator_count = accelerator_count;
        plan.rank_count = static_cast<std::uint32_t>(communicator.size());
        for (const cluster::HostLayout& host : communicator.hosts())
            plan.ranks_of_hosts.push_back(static_cast<std::uint32_t>(host.ranks.size()));
        plan.memory_of_hosts = memory;
        plan.virtual_time = virtual_time;
        plan.results_on_storage = results_on_storage_;
        submission::PublishedProfiles profiles;
        const auto found =
            submission::check_run(submission::facts_of(plan, profiles),
                                  {edition_, option_.closed ? "closed" : "open", RunJudgement::When::before}, profiles);
        text_ = fmt::format("{} division, edition {} ({}): ", option_.closed ? "CLOSED" : "OPEN", edition_,
                            submission::kStatement);
        text_ += found.findings.empty() ? "nothing that can be known before the run breaks a rule\n" : "\n";
        for (const submission::Finding& finding : found.findings) {
            lines_.push_back(submission::line_of(finding));
            text_ += "  " + lines_.back() + "\n";
        }
        status = refuse();
    }
    return cluster::agree(communicator, status);
}

Status SubmissionJudge::refuse() const {
    if (!option_.closed || lines_.empty()) return {};
    std::string all;
    for (const std::string& line : lines_) all += "\n  " + line;
    return usage_error(
        fmt::format("edition {} of the rules does not allow this in the CLOSED division:{}", edition_, all));
}

void SubmissionJudge::judge(RunResult& result) const {
    result.edition = edition_;
    if (!option_.asked()) return;
    submission::PublishedProfiles profiles;
    submission::RunFacts facts = submission::facts_of(result, result.workload, profiles);
    facts.results_on_storage = results_on_storage_;
    const std::string division = option_.closed ? "closed" : "open";
    const auto judged = submission::check_run(facts, {edition_, division, RunJudgement::When::after}, profiles);
    for (const submission::Finding& finding : judged.findings)
        result.findings.push_back(
            {"submission_" + finding.rule, "warning",
             fmt::format("{} {}: {}; right is: {}", division, finding.rule, finding.found, finding.expected)});
    result.findings.push_back(
        {"submission", "note",
         fmt::format("{} division, edition {}: {} finding{} on this run alone; {}", division, edition_,
                     judged.findings.size(), judged.findings.size() == 1 ? "" : "s", submission::kStatement)});
}

} // namespace feedbench::cli
