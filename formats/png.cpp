// PNG: one grey image of 8 bits a file, its rows stored and not compressed (the bytes of datagen do not compress), so
// that a file's size follows from its dimensions alone.
//
// The reference reads the file from front to back and decodes it. Here the chunks are followed; pixels are inflated
// only where somebody looks at them.
#include "formats/image_shape.hpp"
#include "formats/inflate.hpp"
#include "formats/part_encoder.hpp"
#include "formats/png_pass.hpp"
#include "formats/registry.hpp"
#include "formats/whole_file.hpp"

namespace feedbench::formats {

namespace {

constexpr std::uint64_t kBlockBytes = 65535;   // of a stored deflate block, at most; each is a chunk here
constexpr std::uint64_t kBlockFrameBytes = 5;  // kind, length, length inverted
constexpr std::uint64_t kStreamFrameBytes = 6; // zlib's head and Adler-32

PngHeader image_header(const FileShape& shape) {
    PngHeader header;
    header.height = static_cast<std::uint32_t>(shape.dims[0]);
    header.width = static_cast<std::uint32_t>(shape.dims[1]);
    return header;
}

class PngEncoder final : public PartEncoder {
  public:
    PngEncoder(const FileShape& shape, ContentSource content)
        : header_(image_header(shape)), row_bytes_(header_.row_bytes() + 1), rows_bytes_(row_bytes_ * header_.height),
          content_(std::move(content)) {}
    std::uint64_t file_bytes() const override {
        const std::uint64_t blocks = (rows_bytes_ + kBlockBytes - 1) / kBlockBytes;
        return kPngHeadBytes + blocks * (kPngChunkFrameBytes + kBlockFrameBytes) + rows_bytes_ + kStreamFrameBytes +
               kPngChunkFrameBytes;
    }

  private:
    enum class Next : std::uint8_t { head, block, end, nothing };
    bool make_part(std::vector<std::byte>& part) override {
        switch (next_) {
        case Next::head:
            part = make_png_head(header_);
            next_ = Next::block;
            return true;
        case Next::block:
            part = next_block();
            if (position_ == rows_bytes_) next_ = Next::end;
            return true;
        case Next::end:
            part = make_png_end();
            next_ = Next::nothing;
            return true;
        case Next::nothing:
            break;
        }
        return false;
    }
    // The next stored block of rows, in a chunk of its own.
    std::vector<std::byte> next_block() {
        const auto size = static_cast<std::size_t>(std::min(kBlockBytes, rows_bytes_ - position_));
        const bool is_last = position_ + size == rows_bytes_;
        std::vector<std::byte> data;
        data.reserve(size + kBlockFrameBytes + kStreamFrameBytes);
        const auto append = [&data](std::uint64_t value) { data.push_back(static_cast<std::byte>(value & 0xff)); };
        if (position_ == 0) { // deflate with a window of 32 KiB, the fastest level
            append(0x78);
            append(0x01);
        }
        append(is_last ? 1 : 0);
        append(size);
        append(size >> 8);
        append(~size);
        append(~size >> 8);
        const std::size_t begin = data.size();
        data.resize(begin + size);
        fill_rows(std::span(data).subspan(begin));
        adler_ = adler32_of(adler_, std::span(data).subspan(begin));
        if (is_last)
            for (int shift = 24; shift >= 0; shift -= 8) append(adler_ >> shift);
        return make_png_chunk("IDAT", data);
    }
    void fill_rows(std::span<std::byte> out) {
        while (!out.empty()) {
            const std::uint64_t row = position_ / row_bytes_, in_row = position_ % row_bytes_;
            std::size_t size = 1;
            if (in_row == 0) {
                out.front() = std::byte{0}; // no filter
            } else {
                size = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), row_bytes_ - in_row));
                content_(row * (row_bytes_ - 1) + in_row - 1, out.first(size));
            }
            out = out.subspan(size);
            position_ += size;
        }
    }

    PngHeader header_;
    std::uint64_t row_bytes_, rows_bytes_; // with the filter bytes
    ContentSource content_;
    Next next_ = Next::head;
    std::uint64_t position_ = 0; // in the rows
    std::uint32_t adler_ = 1;
};

class PngFormat final : public Format {
  public:
    std::string_view name() const override { return "png"; }
    bool has_checksum() const override { return true; }
    std::uint32_t most_samples_per_file() const override { return 1; }
    Status supports(const FileShape& shape) const override {
        return check_image_shape(name(), shape, kMaxPngDimension);
    }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return std::unique_ptr<Encoder>(std::make_unique<PngEncoder>(shape, std::move(content)));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return PngEncoder(shape, {}).file_bytes();
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return std::unique_ptr<SampleReader>(std::make_unique<WholeFileReader<PngPass>>(request));
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        if (!request.has_content) return Format::open_stream(request);
        return std::unique_ptr<StreamReader>(std::make_unique<WholeFileStream<PngPass>>(request));
    }
    // The head and the end; what lies between is followed when the file is read. Dims of an image like ours.
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_file(request); !status) return status.error();
        std::array<std::byte, kPngHeadBytes> head;
        if (const Status status = read(0, head); !status) return status.error();
        const auto header = parse_png_head(head, request.path);
        if (!header) return header.error();
        std::array<std::byte, kPngChunkFrameBytes> end;
        if (const Status status = read(request.file_bytes - end.size(), end); !status) return status.error();
        if (!std::ranges::equal(end, make_png_end()))
            return format_error(request.path, "chunk IEND expected at the file's end, found other bytes: truncated",
                                static_cast<std::int64_t>(request.file_bytes - end.size()));
        FileShape shape;
        if (header->is_plain_grey()) shape.dims = {header->height, header->width};
        return shape;
    }

  private:
    Status check_file(const ReadRequest& request) const {
        if (request.file_bytes < kPngHeadBytes + 2 * kPngChunkFrameBytes)
            return format_error(request.path,
                                "a PNG file has at least " + std::to_string(kPngHeadBytes + 2 * kPngChunkFrameBytes) +
                                    " bytes, found " + std::to_string(request.file_bytes),
                                0);
        return check_image_request(name(), request, kMaxPngDimension);
    }
};

} // namespace

const Format& png_format() {
    static const PngFormat format;
    return format;
}

} // namespace feedbench::formats
