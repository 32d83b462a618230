// Reads an npz as numpy does: 4 KiB at the head, the tail, then the array's member in order.
//
// Thread: any; one user an object. Owner: the loader. Units: bytes. Errors: format_error.
// Source: strace of numpy 1.24 with CPython 3.11 (docs/formats.md shows it).
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

std::unique_ptr<SampleReader> make_npz_reader(const ReadRequest& request);
std::unique_ptr<StreamReader> make_npz_stream(const ReadRequest& request);
Expected<FileShape> inspect_npz(const ReadRequest& request, const Format::ReadAt& read);
// Offset at which the array's member ends in a file that our encoder makes without compression.
std::uint64_t npz_array_end(const FileShape& shape);

} // namespace feedbench::formats
