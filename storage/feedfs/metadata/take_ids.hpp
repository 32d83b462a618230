// Ranges of ids out of conditional batches, the same for every engine.
//
// Thread: any. Owner: none. Units: none. Errors: the engine's; EINVAL for an empty range. Source: engine.hpp.
#pragma once

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::feedfs {

// Reads the counter and raises it on the condition that it is still what was read, until that holds: whenever it does
// not, another taker has got on.
Expected<std::uint64_t> take_ids_by_batches(MetadataEngine& engine, std::string_view counter, std::uint64_t count);

} // namespace feedbench::feedfs
