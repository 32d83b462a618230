// Asks the library for the places of a dataset's chunks.
//
// Thread: under hdf5::Library. Owner: the caller. Units: bytes. Errors: false = the library refused, or a chunk is not
// there. Source: hdf5_driver.hpp: a dry H5Dread_chunk leaves its target in the medium.
#pragma once

#include <vector>

#include "formats/hdf5_driver.hpp"
#include "formats/hdf5_layout.hpp"

namespace feedbench::formats::hdf5 {

// The position of a chunk's first element.
std::vector<hsize_t> chunk_corner(const Layout& layout, std::uint64_t index);
bool locate_chunks(const Handle& dataset, Medium& medium, const Layout& layout, std::vector<Unit>& chunks);

} // namespace feedbench::formats::hdf5
