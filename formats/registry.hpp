// The table of formats.
//
// Thread: any; constant. Owner: static. Units: none. Errors: an unknown name lists the known ones.
// Source: STYLE section 6. A format is one file that defines its accessor below, and one line in registry.cpp.
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

std::span<const Format* const> all_formats();
Expected<const Format*> find_format(std::string_view name);

// One object each, defined in formats/<name>.cpp.
const Format& raw_format();
const Format& npy_format();
const Format& npz_format();
const Format& tfrecord_format();
const Format& hdf5_format();
const Format& parquet_format();
const Format& indexed_binary_format();
const Format& jpeg_format();
const Format& png_format();
const Format& csv_format();

} // namespace feedbench::formats
