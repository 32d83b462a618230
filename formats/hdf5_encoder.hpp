// Produces an HDF5 file front to back: metadata from the template, sample bytes from the content, zeros elsewhere.
//
// Thread: one user at a time; libhdf5 is not touched after making. Owner: the caller. Units: bytes.
// Errors: making it may fail (libhdf5); filling it cannot.
// Source: hdf5_layout.hpp. Memory: the template (some KiB, 16 bytes a chunk) and, compressed, one chunk twice. A
// compressed file's sizes must be known before its first byte, so each chunk is compressed twice: once to measure, once
// to write.
#pragma once

#include <memory>

#include "formats/format.hpp"
#include "formats/hdf5_layout.hpp"

namespace feedbench::formats::hdf5 {

// `uncompressed` is the shape's cached template, used where nothing is compressed.
Expected<std::unique_ptr<Encoder>> make_encoder(std::shared_ptr<const Template> uncompressed, ContentSource content);
Expected<std::unique_ptr<Encoder>> make_compressing_encoder(const FileShape& shape, ContentSource content);
// What compression makes of incompressible bytes at most: the size that plans count with.
std::uint32_t stored_bytes_bound(std::uint64_t unit_bytes);

} // namespace feedbench::formats::hdf5
