// Readers of files that are loaded whole for the first sample that is asked for: front to back, through one pass.
//
// Thread: any; one user an object. Owner: the loader. Units: bytes. Errors: those of the pass.
// Pass is made from a `const ReadRequest&` that outlives it, and has feed(bytes) and finish() (after the last byte).
// Images and csv are read so by the reference: an image viewer's or a table's library takes the whole file.
#pragma once

#include "formats/shape_check.hpp"

namespace feedbench::formats {

template <class Pass>
class WholeFileReader final : public SampleReader {
  public:
    explicit WholeFileReader(const ReadRequest& request) : request_(request), pass_(request_) {}

    Status begin(std::uint32_t sample_index) override { return check_sample_index(request_, sample_index); }
    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (position_ == request_.file_bytes) return std::optional<Extent>();
        const Extent extent = piece_at(position_, request_.file_bytes, transfer_bytes);
        position_ += extent.bytes;
        return std::optional(extent);
    }
    bool must_consume_first() const override { return false; }
    Status consume(const Extent& extent, std::span<const std::byte> data) override {
        if (const Status status = check_piece(request_, extent, data); !status) return status;
        if (!request_.has_content) return {};
        if (const Status status = pass_.feed(data); !status) return status;
        return extent.offset + extent.bytes == request_.file_bytes ? pass_.finish() : Status();
    }

  private:
    ReadRequest request_;
    Pass pass_;
    std::uint64_t position_ = 0;
};

template <class Pass>
class WholeFileStream final : public StreamReader {
  public:
    explicit WholeFileStream(const ReadRequest& request) : request_(request), pass_(request_) {}
    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (data.size() > request_.file_bytes - seen_bytes_)
            return format_error(request_.path, "more bytes than the file's " + std::to_string(request_.file_bytes),
                                static_cast<std::int64_t>(seen_bytes_));
        if (const Status status = pass_.feed(data); !status) return status.error();
        seen_bytes_ += data.size();
        if (seen_bytes_ == request_.file_bytes)
            if (const Status status = pass_.finish(); !status) return status.error();
        return samples_by_position(seen_bytes_, request_.file_bytes, request_.shape.sample_count);
    }

  private:
    ReadRequest request_;
    Pass pass_;
    std::uint64_t seen_bytes_ = 0;
};

} // namespace feedbench::formats
