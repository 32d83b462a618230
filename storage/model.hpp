// A storage that exists only as a formula: for deterministic tests, and for planning under the virtual clock.
//
// Thread: reactor thread. Owner: the caller. Units: bytes/s, ns. Errors: options that make no sense are config errors.
// Source: DESIGN sections 4 and 6; model_parameters.hpp has the keys, model_queueing.hpp the arithmetic. All of it
// belongs to this process: R ranks have R storages, each on a link of its own.
#pragma once

#include "storage/backend.hpp"
#include "storage/model_parameters.hpp"

namespace feedbench::storage {

Expected<std::unique_ptr<Backend>> make_model_backend(const BackendRequest& request);

} // namespace feedbench::storage
