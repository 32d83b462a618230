// A PNG file that passes by in pieces of any size: chunks followed to the end, checksums checked, pixels shown to the
// visitor where it is a grey image as datagen makes it.
//
// Thread: any; one user an object. Owner: the reader; the request outlives it. Units: bytes.
// Errors: format_error naming the offset, found and expected; the visitor's own. Source: png_chunks.hpp.
#pragma once

#include "formats/inflate.hpp"
#include "formats/png_chunks.hpp"

namespace feedbench::formats {

class PngPass {
  public:
    explicit PngPass(const ReadRequest& request) : request_(request) {}
    Status feed(std::span<const std::byte> bytes);
    Status finish() const; // after the file's last byte

  private:
    enum class State : std::uint8_t { head, chunk_head, chunk_data, chunk_tail, end };
    // Fills frame_ up to `bytes`; true when it is full.
    bool collect(std::span<const std::byte>& bytes, std::size_t wanted);
    Status take_head();
    Status take_chunk_head();
    Status take_data(std::span<const std::byte>& bytes);
    Status take_chunk_tail();
    Status show(std::span<const std::byte> rows); // of the decoded image
    std::string chunk_name() const { return std::string(type_.begin(), type_.end()); }

    const ReadRequest& request_;
    State state_ = State::head;
    std::array<std::byte, kPngHeadBytes> frame_{};
    std::size_t filled_ = 0;                         // of frame_
    std::uint64_t position_ = 0, chunk_at_ = 0;      // in the file
    std::uint64_t chunk_bytes_ = 0, chunk_seen_ = 0; // data of the current chunk
    std::array<char, 4> type_{};
    std::uint32_t crc_ = 0;
    bool has_pixels_ = false;
    PngHeader header_;
    std::optional<Inflater> inflater_; // only where somebody looks
    std::uint64_t row_position_ = 0, payload_bytes_ = 0;
};

} // namespace feedbench::formats
