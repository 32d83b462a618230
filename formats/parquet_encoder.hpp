// Writes a parquet file: page after page, then the footer.
//
// Thread: one user at a time. Owner: the writer. Units: bytes. Errors: none; the shape has been checked.
// Source: parquet_layout.hpp. Memory: a page of at most 1 MiB, and at the end the footer.
#pragma once

#include "formats/format.hpp"
#include "formats/parquet_layout.hpp"

namespace feedbench::formats::parquet {

std::unique_ptr<Encoder> make_encoder(std::shared_ptr<const WrittenFile> file, ContentSource content);

} // namespace feedbench::formats::parquet
