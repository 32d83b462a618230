#include "harness/verdict/thresholds.hpp"

#include <array>

namespace feedbench::verdict {

std::span<const Threshold> thresholds() {
    static constexpr std::array kAll{kBusyAu,       kBusyWithStart, kMainCause,    kCauseWhenSaturated, kCpuSaturated,
                                     kNearCeiling,  kNearLineRate,  kNearMemory,   kSourceShare,        kResidentShare,
                                     kSampledPages, kPossibleRate,  kPlannedBytes, kCheckpointGap,      kIdentity};
    return kAll;
}

} // namespace feedbench::verdict
