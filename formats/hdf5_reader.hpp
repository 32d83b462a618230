// Turns a layout into extents for the storage backend, and hands the payload in them on.
//
// Thread: one user at a time; libhdf5 is not touched. Owner: the caller. Units: bytes.
// Errors: format_error for short data or a chunk that does not decompress.
// Source: hdf5_layout.hpp; extents as the library would read: whole chunks, or a sample of a contiguous dataset in one
// run.
#pragma once

#include <memory>

#include "formats/format.hpp"
#include "formats/hdf5_layout.hpp"

namespace feedbench::formats::hdf5 {

std::unique_ptr<SampleReader> make_sample_reader(std::shared_ptr<const Layout> layout, const ReadRequest& request);
std::unique_ptr<StreamReader> make_stream_reader(std::shared_ptr<const Layout> layout, const ReadRequest& request);

} // namespace feedbench::formats::hdf5
