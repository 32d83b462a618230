// A bounded look at the files before a run: are they there, of the size and content kind that the manifest says?
//
// Thread: reactor thread, outside of Reactor::run. Owner: the caller. Units: bytes.
// Errors: the first file that is missing, of another size, or that its format does not recognise, with what was
// expected. Source: DESIGN section 7 (`run` never lists); cases P10 (start-up does not grow with the number of files),
// C8.
#pragma once

#include "harness/dataset/file_probe.hpp"
#include "harness/dataset/manifest.hpp"

namespace feedbench::dataset {

// `count` different files of [0, file_count), ascending: the first, the last, and others by the seed.
std::vector<std::uint64_t> sample_of_files(std::uint64_t file_count, std::uint64_t count, std::uint64_t seed);

struct SpotCheck {
    Split split = Split::train;
    std::uint64_t file_count = 0; // files that the run uses (a subset: the first of the dataset's)
    std::uint64_t sample_size = 64;
    std::uint64_t seed = 0;
};
Status spot_check(Storage storage, const Manifest& manifest, const formats::Format& format, const SpotCheck& check);

} // namespace feedbench::dataset
