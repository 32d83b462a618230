// JPEG: one grey image of 8 bits a file, as the reference makes it. Its size depends on the content, so encode() makes
// the file in memory, up to a limit.
//
// The reference reads the file from front to back and decodes it. Here the segments are followed and nothing is
// decoded: pixels of a lossy image say nothing about single bits. Its bytes do, and those can be made anew.
#include <algorithm>
#include <array>

#include "formats/image_shape.hpp"
#include "formats/jpeg_encode.hpp"
#include "formats/jpeg_pass.hpp"
#include "formats/part_encoder.hpp"
#include "formats/registry.hpp"
#include "formats/whole_file.hpp"
#include "harness/types/units.hpp"

namespace feedbench::formats {

namespace {

constexpr std::uint64_t kMaxImageBytes = 256 * kMiB; // its file is held in memory while it is written
constexpr std::uint64_t kLeastFileBytes = 4;
constexpr std::uint64_t kEndWithin = 64 * kKiB; // what others put behind an image may be so long
constexpr int kMostSegments = 1000;             // before the frame's; each is a look at the storage

class JpegEncoder final : public PartEncoder {
  public:
    explicit JpegEncoder(std::vector<std::byte> file) : file_(std::move(file)), file_bytes_(file_.size()) {}
    std::uint64_t file_bytes() const override { return file_bytes_; }

  private:
    bool make_part(std::vector<std::byte>& part) override {
        part.swap(file_);
        return !part.empty();
    }
    std::vector<std::byte> file_;
    std::uint64_t file_bytes_;
};

class JpegFormat final : public Format {
  public:
    std::string_view name() const override { return "jpeg"; }
    bool has_checksum() const override { return false; }
    std::uint32_t most_samples_per_file() const override { return 1; }
    bool size_is_known(const FileShape&) const override { return false; }
    bool shows_payload() const override { return false; }
    Status supports(const FileShape& shape) const override {
        if (const Status status = check_image_shape(name(), shape, kMaxJpegDimension); !status) return status;
        if (shape.payload_bytes() <= kMaxImageBytes) return {};
        return config_error("jpeg file: at most 256 MiB of pixels (it is made in memory), found " +
                            std::to_string(shape.payload_bytes()));
    }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        auto file = encode_jpeg({static_cast<std::uint32_t>(shape.dims[0]), static_cast<std::uint32_t>(shape.dims[1])},
                                content);
        if (!file) return file.error();
        return std::unique_ptr<Encoder>(std::make_unique<JpegEncoder>(std::move(*file)));
    }
    // An estimate, of incompressible pixels; for storages without content.
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        const auto blocks = [](std::uint64_t pixels) { return (pixels + 7) / 8; };
        return kHeadBytes + blocks(shape.dims[0]) * blocks(shape.dims[1]) * kTenthsPerBlock / 10;
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return std::unique_ptr<SampleReader>(std::make_unique<WholeFileReader<JpegPass>>(request));
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        if (!request.has_content) return Format::open_stream(request);
        return std::unique_ptr<StreamReader>(std::make_unique<WholeFileStream<JpegPass>>(request));
    }
    // The segments up to the frame's, and that the image has an end. Dims of an image like ours.
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_file(request); !status) return status.error();
        const auto frame = find_frame(request, read);
        if (!frame) return frame.error();
        std::vector<std::byte> tail(std::min(kEndWithin, request.file_bytes));
        if (const Status status = read(request.file_bytes - tail.size(), tail); !status) return status.error();
        constexpr std::byte kEnd[] = {std::byte{0xff}, std::byte{kJpegEnd}};
        if (std::search(tail.begin(), tail.end(), std::begin(kEnd), std::end(kEnd)) == tail.end())
            return format_error(request.path,
                                "the end of the image (ff d9) expected near the file's end, found none: "
                                "truncated",
                                static_cast<std::int64_t>(request.file_bytes));
        FileShape shape;
        if (frame->bits == 8 && frame->components == 1) shape.dims = {frame->height, frame->width};
        return shape;
    }

  private:
    // Of images of random pixels, as libjpeg-turbo makes them: tests/unit/formats/jpeg_test.cpp holds it against them.
    static constexpr std::uint64_t kHeadBytes = 330, kTenthsPerBlock = 355; // bytes of 8 x 8 pixels

    Status check_file(const ReadRequest& request) const {
        if (request.file_bytes < kLeastFileBytes)
            return format_error(request.path,
                                "a JPEG file has at least 4 bytes, found " + std::to_string(request.file_bytes), 0);
        return check_image_request(name(), request, kMaxJpegDimension);
    }

    static Expected<JpegFrame> find_frame(const ReadRequest& request, const ReadAt& read) {
        const auto wrong = [&request](std::string_view words, std::uint64_t at) {
            return format_error(request.path, std::string(words), static_cast<std::int64_t>(at));
        };
        std::array<std::byte, 2 + kJpegFrameBytes> look; // marker and head of a segment
        std::uint64_t at = 0;
        for (int segment = 0; segment < kMostSegments; ++segment) {
            if (request.file_bytes - at < look.size())
                return wrong("a JPEG frame header expected, found the file's end: truncated", at);
            if (const Status status = read(at, look); !status) return status.error();
            const auto byte = [&look](std::size_t i) { return std::to_integer<std::uint8_t>(look[i]); };
            if (at == 0) {
                if (byte(0) != 0xff || byte(1) != kJpegStart)
                    return wrong("the start of a JPEG image (ff d8) expected, found other bytes", 0);
                at = 2;
                continue;
            }
            if (byte(0) != 0xff || byte(1) == 0) return wrong("a JPEG marker expected, found other bytes", at);
            const std::uint64_t length = std::uint64_t{byte(2)} << 8 | byte(3);
            if (byte(1) == 0xff) // a fill byte
                at += 1;
            else if (is_jpeg_frame(byte(1)))
                return parse_jpeg_frame(std::span<const std::byte>(look).subspan(2));
            else if (byte(1) == kJpegScan || byte(1) == kJpegEnd)
                return wrong("a JPEG frame header expected before the image's data, found none", at);
            else
                at += is_jpeg_lone(byte(1)) ? 2 : 2 + std::max<std::uint64_t>(length, 2);
            if (at > request.file_bytes)
                return wrong("a JPEG segment beyond the file's end: truncated", request.file_bytes);
        }
        return wrong("a JPEG frame header expected within 1000 segments, found none", at);
    }
};

} // namespace

const Format& jpeg_format() {
    static const JpegFormat format;
    return format;
}

} // namespace feedbench::formats
