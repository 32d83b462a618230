// inconclusive: no other verdict holds; what is missing is said.
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {

std::optional<Evidence> inconclusive(const RunResult& r) {
    if (r.kind == "checkpoint") return Evidence{"No checkpoint was written or read, so there is nothing to judge.", {}};
    const LostTime lost = lost_time(r);
    if (!lost.known()) return Evidence{"No training step was measured, so there is nothing to judge.", {}};
    std::vector<Metric> facts{fact("lost_share", "", lost.lost_s() / lost.inside_s),
                              fact("storage_share_of_lost", "", lost.share(lost.storage_s)),
                              fact("client_share_of_lost", "", lost.share(lost.client_s)),
                              fact("imbalance_share_of_lost", "", lost.share(lost.imbalance_s))};
    if (lost.waited())
        return Evidence{
            fmt::format("Accelerators lost {} of their time in the blocks, and no one cause explains half of "
                        "it: storage {}, client {}, think times that differ {}. Free the client's CPUs or "
                        "run longer, and repeat.",
                        percent(lost.lost_s() / lost.inside_s), percent(lost.share(lost.storage_s)),
                        percent(lost.share(lost.client_s)), percent(lost.share(lost.imbalance_s))),
            std::move(facts)};
    if (!lost.au_percentage)
        return Evidence{
            "Accelerators hardly waited, but there is no AU to say so by the rules: an epoch needs at least "
            "two steps. Use more files, or a smaller batch or fewer accelerators.",
            std::move(facts)};
    std::string why;
    if (!source_known(r, why))
        return Evidence{
            "Accelerators hardly waited, but it is not known whether the bytes came from the storage or from "
            "a cache: " +
                why + ". reader.odirect=True, or data on a device that the kernel counts, would tell.",
            std::move(facts)};
    return Evidence{"Accelerators hardly waited, and did not think either: there is no load to judge the storage by.",
                    std::move(facts)};
}

} // namespace feedbench::verdict
