// npz as numpy.savez makes it: x.npy (dims..., samples) unsigned, y.npy int64 zeros (samples), stored;
// savez_compressed: deflated.
//
// The checksum of x.npy stands before its data. It is computed as the bytes are made and patched into the head at the
// end, so that nothing is made twice. A deflated file's size is known only when it is made, so encode() makes it in
// memory, up to a limit.
#include "formats/npz_reader.hpp"

#include "formats/checksums.hpp"
#include "formats/npz_pass.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"
#include "harness/types/units.hpp"

#include <algorithm>

namespace feedbench::formats {

namespace {

constexpr std::uint64_t kMaxDeflatedPayloadBytes = 256 * kMiB; // held in memory, deflated, while the file is written

std::vector<std::byte> array_header(const FileShape& shape) {
    std::vector<std::uint64_t> dims = shape.dims;
    dims.push_back(shape.sample_count);
    return make_npy_header(unsigned_descr(shape.element_bytes), dims);
}

std::vector<std::byte> label_array(const FileShape& shape) {
    std::vector<std::byte> array = make_npy_header("<i8", {shape.sample_count});
    array.resize(array.size() + std::size_t{8} * shape.sample_count); // all labels are 0
    return array;
}

void append(std::vector<std::byte>& out, const std::vector<std::byte>& more) {
    out.insert(out.end(), more.begin(), more.end());
}

// head: local header and npy header. Then the payload, or the deflated member. Then everything that follows x.npy.
class NpzEncoder final : public Encoder {
  public:
    NpzEncoder(const FileShape& shape, ContentSource content) : shape_(shape), content_(std::move(content)) {
        const std::vector<std::byte> header = array_header(shape);
        x_.name = kArrayMember;
        x_.content_bytes = x_.data_bytes = header.size() + shape.payload_bytes();
        x_.crc32 = crc32_zip(0, header);
        payload_bytes_ = shape.payload_bytes();
        if (shape.compression == FileShape::Compression::zip) deflate_array(header);
        head_ = zip_local_header(x_);
        append(head_, x_.is_deflated ? deflated_ : header);
        deflated_ = {};
        file_bytes_ = head_.size() + payload_bytes_ + tail().size();
    }
    std::uint64_t file_bytes() const override { return file_bytes_; }

    std::size_t fill(std::span<std::byte> out) override {
        std::size_t filled = 0;
        while (filled < out.size() && position_ < file_bytes_) {
            const std::span<std::byte> rest = out.subspan(filled);
            std::size_t size = 0;
            if (position_ < head_.size()) {
                size = copy_from(head_, position_, rest);
            } else if (position_ < head_.size() + payload_bytes_) {
                const std::uint64_t at = position_ - head_.size();
                size = static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), payload_bytes_ - at));
                content_(at, rest.first(size));
                x_.crc32 = crc32_zip(x_.crc32, rest.first(size));
            } else {
                if (tail_.empty()) tail_ = tail(); // now the checksum is known
                size = copy_from(tail_, position_ - head_.size() - payload_bytes_, rest);
            }
            filled += size;
            position_ += size;
        }
        return filled;
    }

    std::vector<Patch> patches() const override {
        if (x_.is_deflated) return {};
        Patch patch{kZipCrcOffset, {}};
        for (int shift = 0; shift < 32; shift += 8) patch.bytes.push_back(static_cast<std::byte>(x_.crc32 >> shift));
        return {patch};
    }
    std::uint64_t patch_limit() const override { return x_.is_deflated ? 0 : kZipCrcOffset + 4; }

  private:
    static std::size_t copy_from(const std::vector<std::byte>& bytes, std::uint64_t position,
                                 std::span<std::byte> out) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), bytes.size() - position));
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(position), size, out.begin());
        return size;
    }

    void deflate_array(const std::vector<std::byte>& header) {
        Deflater deflater;
        deflater.add(header);
        std::vector<std::byte> piece(256 * kKiB);
        for (std::uint64_t at = 0; at < payload_bytes_; at += piece.size()) {
            piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), payload_bytes_ - at)));
            content_(at, piece);
            x_.crc32 = crc32_zip(x_.crc32, piece);
            deflater.add(piece);
        }
        deflated_ = deflater.finish();
        x_.is_deflated = true;
        x_.data_bytes = deflated_.size();
        payload_bytes_ = 0;
    }

    // y.npy and the directory.
    std::vector<std::byte> tail() const {
        std::vector<std::byte> labels = label_array(shape_);
        ZipMember y;
        y.name = kLabelMember;
        y.header_offset = zip_local_header_bytes(kArrayMember) + x_.data_bytes;
        y.crc32 = crc32_zip(0, labels);
        y.content_bytes = labels.size();
        y.is_deflated = x_.is_deflated;
        if (y.is_deflated) {
            Deflater deflater;
            deflater.add(labels);
            labels = deflater.finish();
        }
        y.data_bytes = labels.size();
        std::vector<std::byte> out = zip_local_header(y);
        append(out, labels);
        append(out, zip_directory({x_, y}, y.header_offset + out.size()));
        return out;
    }

    FileShape shape_;
    ContentSource content_;
    ZipMember x_; // its checksum grows with the payload
    std::vector<std::byte> head_, deflated_, tail_;
    std::uint64_t payload_bytes_ = 0, file_bytes_ = 0, position_ = 0;
};

class NpzFormat final : public Format {
  public:
    std::string_view name() const override { return "npz"; }
    bool has_checksum() const override { return true; }
    Status supports(const FileShape& shape) const override {
        FileShape stored = shape;
        if (shape.compression == FileShape::Compression::zip) {
            stored.compression = FileShape::Compression::none;
            if (const Status status = check_plain_shape(name(), stored); !status) return status;
            if (shape.payload_bytes() > kMaxDeflatedPayloadBytes)
                return config_error(
                    "npz file: with compression zip at most 256 MiB a file (it is made in memory), found " +
                    std::to_string(shape.payload_bytes()) + " bytes");
            return {};
        }
        if (shape.compression == FileShape::Compression::gzip)
            return config_error("npz file: compression is none or zip, found gzip");
        return check_plain_shape(name(), shape);
    }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return std::unique_ptr<Encoder>(std::make_unique<NpzEncoder>(shape, std::move(content)));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        if (shape.compression == FileShape::Compression::zip)
            return config_error("the size of an npz file with compression zip is known only once it is made");
        return NpzEncoder(shape, {}).file_bytes();
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return make_npz_reader(request);
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return request.has_content ? make_npz_stream(request) : Format::open_stream(request);
    }
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return inspect_npz(request, read);
    }

  private:
    Status check_file(const ReadRequest& request) const {
        if (request.file_bytes < kZipTailBytes)
            return format_error(request.path,
                                "an npz file has at least " + std::to_string(kZipTailBytes) + " bytes, found " +
                                    std::to_string(request.file_bytes),
                                0);
        if (request.shape.dims.empty()) return {};
        FileShape shape = request.shape;
        shape.compression = FileShape::Compression::none; // the file says for itself whether it is deflated
        return check_plain_shape(name(), shape);
    }
};

} // namespace

std::uint64_t npz_array_end(const FileShape& shape) {
    return zip_local_header_bytes(kArrayMember) + array_header(shape).size() + shape.payload_bytes();
}

const Format& npz_format() {
    static const NpzFormat format;
    return format;
}

} // namespace feedbench::formats
