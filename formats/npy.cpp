// npy: one array, (dims..., samples), in a file of its own.
//
// numpy reads 4 KiB for the header, then the array in one go (the kernel sees one read; here it comes in transfer_size
// pieces). One sample lies strewn over the whole array, so the reference loads all of it: the first sample asked for
// costs the file.
#include "formats/npy_pass.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"

#include <algorithm>

namespace feedbench::formats {

namespace {

constexpr std::uint64_t kHeadBytes = 4096;

std::vector<std::byte> header_of(const FileShape& shape) {
    std::vector<std::uint64_t> dims = shape.dims;
    dims.push_back(shape.sample_count);
    return make_npy_header(unsigned_descr(shape.element_bytes), dims);
}

class NpyEncoder final : public Encoder {
  public:
    NpyEncoder(const FileShape& shape, ContentSource content)
        : head_(header_of(shape)), file_bytes_(head_.size() + shape.payload_bytes()), content_(std::move(content)) {}
    std::uint64_t file_bytes() const override { return file_bytes_; }
    std::size_t fill(std::span<std::byte> out) override {
        out = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), file_bytes_ - position_)));
        const auto from_head =
            std::min<std::size_t>(out.size(), head_.size() - std::min<std::uint64_t>(position_, head_.size()));
        if (from_head > 0) std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(position_), from_head, out.begin());
        if (from_head < out.size()) content_(position_ + from_head - head_.size(), out.subspan(from_head));
        position_ += out.size();
        return out.size();
    }

  private:
    std::vector<std::byte> head_;
    std::uint64_t file_bytes_, position_ = 0;
    ContentSource content_;
};

class NpyReader final : public SampleReader {
  public:
    explicit NpyReader(const ReadRequest& request)
        : request_(request), pass_(request_, {request.path, 0, request.file_bytes}, false) {}

    Status begin(std::uint32_t sample_index) override { return check_sample_index(request_, sample_index); }
    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (position_ == request_.file_bytes) return std::optional<Extent>();
        const std::uint64_t end =
            position_ < kHeadBytes ? std::min(kHeadBytes, request_.file_bytes) : request_.file_bytes;
        const Extent extent = piece_at(position_, end, transfer_bytes);
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
    NpyPass pass_;
    std::uint64_t position_ = 0;
};

class NpyStream final : public StreamReader {
  public:
    explicit NpyStream(const ReadRequest& request)
        : request_(request), pass_(request_, {request.path, 0, request.file_bytes}, false) {}
    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (const Status status = pass_.feed(data); !status) return status.error();
        if (pass_.seen_bytes() == request_.file_bytes)
            if (const Status status = pass_.finish(); !status) return status.error();
        return samples_by_position(pass_.seen_bytes(), request_.file_bytes, request_.shape.sample_count);
    }

  private:
    ReadRequest request_;
    NpyPass pass_;
};

class NpyFormat final : public Format {
  public:
    std::string_view name() const override { return "npy"; }
    bool has_checksum() const override { return false; }
    Status supports(const FileShape& shape) const override { return check_plain_shape(name(), shape); }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return std::unique_ptr<Encoder>(std::make_unique<NpyEncoder>(shape, std::move(content)));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return header_of(shape).size() + shape.payload_bytes();
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return std::unique_ptr<SampleReader>(std::make_unique<NpyReader>(request));
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        if (!request.has_content) return Format::open_stream(request);
        return std::unique_ptr<StreamReader>(std::make_unique<NpyStream>(request));
    }
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_file(request); !status) return status.error();
        std::vector<std::byte> head(std::min(request.file_bytes, kMaxNpyHeaderBytes));
        if (const Status status = read(0, head); !status) return status.error();
        const auto header = parse_npy_header(head, {request.path, 0, request.file_bytes});
        if (!header) return header.error();
        if (!*header) return format_error(request.path, "npy header is not complete", 0);
        return split_npy_shape(**header, request.shape.sample_count);
    }

  private:
    Status check_file(const ReadRequest& request) const {
        if (request.file_bytes < 64)
            return format_error(request.path,
                                "an npy file has at least 64 bytes, found " + std::to_string(request.file_bytes), 0);
        if (request.shape.dims.empty()) return {};
        return supports(request.shape);
    }
};

} // namespace

const Format& npy_format() {
    static const NpyFormat format;
    return format;
}

} // namespace feedbench::formats
