// memory_storage, a note and no verdict: the data lay in memory (tmpfs), so the figures are those of this host's
// memory.
#include <fmt/format.h>

#include "harness/verdict/checkpoint_facts.hpp"
#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"

namespace feedbench::verdict {
namespace {

Evidence in_memory(const std::string& host, const std::string& source) {
    return {fmt::format("The data lay in memory on host {} ({}): nothing lies below it, so this is not the figure of a "
                        "device or of a network, whatever the verdict says.",
                        host, source),
            {}};
}

} // namespace

std::optional<Evidence> memory_storage(const RunResult& r) {
    for (const HostEpoch& one : host_epochs(r))
        if (one.by("memory")) return in_memory(one.part->host, one.part->cache.source);
    for (const HostCheckpoint& one : host_checkpoints(r))
        if (one.part->cache.source_kind == "memory") return in_memory(one.part->host, one.part->cache.source);
    return std::nullopt;
}

} // namespace feedbench::verdict
