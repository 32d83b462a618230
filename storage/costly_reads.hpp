// null: with reads that cost the client what another storage's would: a copy into the buffer, and a look at the bytes.
//
// Thread: reactor thread. Owner: the workload, as any backend. Units: bytes. Errors: EIO where the look finds fault.
#pragma once

#include <functional>

#include "storage/backend.hpp"
#include "storage/copy_source.hpp"

namespace feedbench::storage {

struct ReadCost {
    // What lies in memory; nullptr: the buffer is looked at as it is.
    std::unique_ptr<CopySource> source;
    bool copies = true; // from the source into the buffer; else the source is only looked at
    // Sees every byte once, where it lies in the source (0 without one); false: it is not what it should be.
    std::function<bool(std::uint64_t source_offset, std::span<const std::byte> bytes)> look;
};
// `inner` is null:. Reads are done in the reactor's turns.
std::unique_ptr<Backend> make_costly_reads(std::unique_ptr<Backend> inner, ReadCost cost, engine::Reactor& reactor);

} // namespace feedbench::storage
