// Makes a manifest for a dataset that another tool wrote, from the names and a bounded look into the files.
//
// Thread: reactor thread, outside of Reactor::run. Owner: the caller. Units: bytes.
// Errors: no data, gaps in the numbering, files of two datasets side by side, files that differ in samples; each names
// the files. Source: DESIGN section 7 (`adopt`); names as reference.md section 1. Memory: constant, the listing is
// streamed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/dataset/file_probe.hpp"
#include "harness/dataset/manifest.hpp"

namespace feedbench::dataset {

// "img_007_of_168.npz" taken apart; nothing where a name is not of this kind, or not padded as the reference pads.
struct DataFileName {
    std::string prefix, format;
    std::uint64_t index = 0, count = 0;
};
std::optional<DataFileName> parse_data_file_name(std::string_view name);

struct AdoptRequest {
    std::uint64_t sample_size = 64;     // files to look into, of each split
    std::uint64_t seed = 0;             // which ones
    std::uint32_t samples_per_file = 0; // what the workload says; believed where a format does not tell; 0 = not known
};

struct Adoption {
    Manifest manifest;              // complete, generator "adopted"; sizes as found, totals from the files looked into
    std::vector<std::string> notes; // what lies there and does not belong, in words
};

Expected<Adoption> adopt(Storage storage, const AdoptRequest& request);

} // namespace feedbench::dataset
