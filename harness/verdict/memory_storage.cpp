// memory_storage, a note and no verdict: the data lay in memory (tmpfs), so the figures are those of this host's
// memory.
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"

namespace feedbench::verdict {

std::optional<Evidence> memory_storage(const RunResult& r) {
    for (const HostEpoch& one : host_epochs(r))
        if (one.by("memory"))
            return Evidence{
                fmt::format("The data lay in memory on host {} ({}): nothing lies below it, so this is not the figure "
                            "of a device or of a network, whatever the verdict says.",
                            one.part->host, one.part->cache.source),
                {}};
    return std::nullopt;
}

} // namespace feedbench::verdict
