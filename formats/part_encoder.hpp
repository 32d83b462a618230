// An Encoder whose file is made part by part, each small and in memory: a chunk, some lines.
//
// Thread: any; one user an object. Owner: the caller. Units: bytes. Errors: none.
#pragma once

#include <algorithm>

#include "formats/format.hpp"

namespace feedbench::formats {

class PartEncoder : public Encoder {
  public:
    std::size_t fill(std::span<std::byte> out) final {
        std::size_t filled = 0;
        while (filled < out.size()) {
            if (position_ == part_.size()) {
                part_.clear();
                position_ = 0;
                if (!make_part(part_)) break;
            }
            const std::size_t size = std::min(out.size() - filled, part_.size() - position_);
            std::copy_n(part_.begin() + static_cast<std::ptrdiff_t>(position_), size,
                        out.begin() + static_cast<std::ptrdiff_t>(filled));
            filled += size;
            position_ += size;
        }
        return filled;
    }

  private:
    // The next part of the file into `part`, which is empty; false = the file has ended.
    virtual bool make_part(std::vector<std::byte>& part) = 0;

    std::vector<std::byte> part_;
    std::size_t position_ = 0;
};

} // namespace feedbench::formats
