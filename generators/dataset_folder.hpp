// Before the first file: is there room, is another dataset in the way, which folders are needed.
//
// Thread: main thread of every rank (collective). Owner: generate_dataset. Units: bytes.
// Errors: agreed; nothing has been written but the manifest (in progress) and empty folders when one comes back.
// Source: DESIGN section 7; cases C8, F1 (ENOSPC), F5.
#pragma once

#include <vector>

#include "formats/format.hpp"
#include "generators/dataset_writer.hpp"

namespace feedbench::generators {

struct PreparedFolder {
    bool resume = false; // files of an earlier attempt may be there, finished
    dataset::Manifest manifest;
};

Expected<PreparedFolder> prepare_folder(const DatasetRequest& request, const formats::Format& format,
                                        const std::vector<dataset::DatasetPlan>& plans, std::uint64_t payload_bytes);

} // namespace feedbench::generators
