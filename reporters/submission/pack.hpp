// A tree as one .tar.gz with checksums, which appears whole or not at all.
//
// Thread: one. Owner: none. Units: bytes. Errors: storage; names that the format cannot hold. Source: POSIX ustar
// (pax(1)); zlib and libcrypto do the rest. The tar itself is written here, 40 lines, so that client hosts of a run
// need no further shared library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/types/error.hpp"

namespace feedbench::submission {

// In the archive, beside the divisions: `sha256sum -c .SHA256SUMS`.
inline constexpr std::string_view kChecksumFile = ".SHA256SUMS";

struct Packed {
    std::uint64_t file_count = 0, bytes = 0;
    std::string sha256; // of the archive; also in <archive>.sha256
};
// Never over an archive that is there.
Expected<Packed> pack_tree(const std::filesystem::path& root, const std::filesystem::path& archive);

} // namespace feedbench::submission
