#include "harness/verdict/rules.hpp"

#include <algorithm>
#include <array>

#include "harness/verdict/rule.hpp"

namespace feedbench::verdict {
namespace {

constexpr std::string_view kImplausible = "implausible", kCached = "cached", kNote = "note";

// Order of precedence: what makes the figures untrue comes first, then what makes them another thing's figures, then
// the client (a storage is not to blame for what its client could not take), then the storage, and only then praise.
constexpr std::array kRules{
    Rule{"implausible", kImplausible,
         "two numbers contradict each other: a rate above the line rate or the memory bandwidth, AU against samples/s, "
         "bytes against the plan, samples that are not those of the plan",
         implausible},
    Rule{
        "cached", kCached,
        "on some host, in some epoch, less came from the device or the network than was delivered, or the files lay in "
        "the page cache just before they were read",
        cached},
    Rule{"checkpoint_cached", kCached,
         "less of a checkpoint reached the device than was written, or less came from it than was read, or its files "
         "lay in the page cache just before they were read",
         checkpoint_cached},
    Rule{"client_network", "client-bound", "accelerators waited, and a host's network interface was full",
         client_network},
    Rule{"client_memory", "client-bound", "accelerators waited, and a host moved bytes as fast as its memory can",
         client_memory},
    Rule{"client_cpu", "client-bound",
         "accelerators waited, mostly for the client: its CPUs, or what it can do at most by its own ceiling",
         client_cpu},
    Rule{"checkpoint_client", "client-bound",
         "ranks of a checkpoint run spent their time making content or comparing it, or came near the client's own "
         "ceiling",
         checkpoint_client},
    Rule{"storage_bound", "storage-bound", "accelerators waited, mostly for reads that the storage had not answered",
         storage_bound},
    Rule{"checkpoint_storage", "storage-bound",
         "ranks of a checkpoint run waited for the storage to take, sync or give their data", checkpoint_storage},
    Rule{"accelerator_bound", "accelerator-bound",
         "accelerators hardly waited, and what they read came from the storage", accelerator_bound},
    Rule{"inconclusive", "inconclusive", "nothing of the above; the evidence says what is missing", inconclusive, true},
    Rule{"checkpoint_gap", kNote,
         "more time passed between the end of the last write and the start of reading than the rules of checkpoint "
         "submissions allow",
         checkpoint_gap},
    Rule{"memory_storage", kNote, "the data lay in memory: there is no device and no network below it", memory_storage},
};

const Finding* found(const RunResult& result, std::string_view verdict) {
    const auto at = std::find_if(result.findings.begin(), result.findings.end(),
                                 [&](const Finding& one) { return one.verdict == verdict; });
    return at == result.findings.end() ? nullptr : &*at;
}

} // namespace

std::span<const Rule> rules() { return kRules; }

std::vector<Finding> judge(const RunResult& result, std::span<const Rule> rules) {
    std::vector<Finding> findings;
    bool judged = false;
    for (const Rule& rule : rules) {
        if (rule.last_resort && judged) continue;
        std::optional<Evidence> evidence = rule.judge(result);
        if (!evidence) continue;
        judged = judged || rule.verdict != kNote;
        findings.push_back({std::string(rule.name), std::string(rule.verdict), std::move(evidence->words),
                            std::move(evidence->facts)});
    }
    return findings;
}

void conclude(RunResult& result) {
    if (result.status != "complete") return;
    std::vector<Finding> findings = judge(result, rules());
    for (const Finding& one : findings)
        if (one.verdict != kNote && result.verdict.empty()) result.verdict = one.verdict;
    result.findings.insert(result.findings.end(), std::make_move_iterator(findings.begin()),
                           std::make_move_iterator(findings.end()));
    if (found(result, kImplausible) != nullptr)
        result.invalid_reasons.emplace_back("implausible: numbers of this result contradict each other");
    if (found(result, kCached) != nullptr)
        result.invalid_reasons.emplace_back("cached: bytes came from a cache on the client, not from the storage");
    result.valid = result.invalid_reasons.empty();
}

bool only_cached(const RunResult& result) {
    return result.status == "complete" && result.verdict == kCached && result.invalid_reasons.size() == 1;
}

} // namespace feedbench::verdict
