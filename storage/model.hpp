// A storage that exists only as a formula: for deterministic tests, and for planning under the virtual clock.
//
// Thread: reactor thread. Owner: the caller. Units: bytes/s, ns. Errors: options that make no sense are config errors.
// Source: DESIGN sections 4 and 6. The model: operations queue for one pipe of `bandwidth` and one counter of `iops`,
// then take `latency` plus seeded exponential jitter. The pipe belongs to this process: R ranks have R of them.
#pragma once

#include "storage/backend.hpp"

namespace feedbench::storage {

std::span<const Option> model_options();
Expected<std::unique_ptr<Backend>> make_model_backend(const BackendRequest& request);

} // namespace feedbench::storage
