#include "harness/types/epoch_plan.hpp"

#include "harness/types/random.hpp"

namespace feedbench {

std::uint64_t sample_id_fingerprint(SampleRef sample) {
    return mix64(mix64(sample.file_index) ^ (0x5a3c000000000000ULL + sample.sample_index));
}

} // namespace feedbench
