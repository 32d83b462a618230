// Hands the payload of units on to whoever checks it, decompressing where the file is compressed.
//
// Thread: one user at a time. Owner: the reader. Units: bytes. Errors: format_error at the unit's offset in the file.
// Source: format.hpp, PayloadVisitor: nothing is decoded where nobody looks.
#pragma once

#include "formats/format.hpp"
#include "formats/hdf5_layout.hpp"

namespace feedbench::formats::hdf5 {

// A part of a unit, in the order of the unit's bytes.
struct UnitPart {
    Unit unit;
    std::uint64_t payload_offset = 0; // of the unit
    std::uint64_t within = 0;         // of the part, in the unit's stored bytes
};

class PayloadHandler {
  public:
    PayloadHandler(const Layout& layout, const ReadRequest& request)
        : path_(request.path), visitor_(request.has_content ? request.on_payload : nullptr),
          is_compressed_(layout.is_compressed), unit_bytes_(layout.unit_bytes) {}
    bool is_needed() const { return static_cast<bool>(visitor_); }
    Status take(const UnitPart& part, std::span<const std::byte> data);

  private:
    Status decompress(const UnitPart& part);

    std::string path_;
    PayloadVisitor visitor_;
    bool is_compressed_;
    std::uint64_t unit_bytes_;
    std::vector<std::byte> packed_, plain_; // at most one unit
};

} // namespace feedbench::formats::hdf5
