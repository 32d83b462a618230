// The shortest format, and the one to copy: the samples' bytes one after another, nothing around them.
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"

#include <algorithm>

namespace feedbench::formats {

namespace {

class RawEncoder final : public Encoder {
  public:
    RawEncoder(std::uint64_t file_bytes, ContentSource content)
        : file_bytes_(file_bytes), content_(std::move(content)) {}
    std::uint64_t file_bytes() const override { return file_bytes_; }
    std::size_t fill(std::span<std::byte> out) override {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), file_bytes_ - written_bytes_));
        if (size > 0) content_(written_bytes_, out.first(size));
        written_bytes_ += size;
        return size;
    }

  private:
    std::uint64_t file_bytes_, written_bytes_ = 0;
    ContentSource content_;
};

class RawReader final : public SampleReader {
  public:
    explicit RawReader(const ReadRequest& request) : request_(request), sample_bytes_(request.shape.sample_bytes()) {}

    Status begin(std::uint32_t sample_index) override {
        if (const Status status = check_sample_index(request_, sample_index); !status) return status;
        position_ = sample_index * sample_bytes_;
        end_ = position_ + sample_bytes_;
        return {};
    }
    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (position_ == end_) return std::optional<Extent>();
        const Extent extent = piece_at(position_, end_, transfer_bytes);
        position_ += extent.bytes;
        return std::optional(extent);
    }
    bool must_consume_first() const override { return false; }
    Status consume(const Extent& extent, std::span<const std::byte> data) override {
        if (const Status status = check_piece(request_, extent, data); !status) return status;
        if (request_.has_content && request_.on_payload) return request_.on_payload(extent.offset, data);
        return {};
    }

  private:
    ReadRequest request_;
    std::uint64_t sample_bytes_, position_ = 0, end_ = 0;
};

class RawStream final : public StreamReader {
  public:
    explicit RawStream(const ReadRequest& request) : request_(request) {}
    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (data.size() > request_.file_bytes - seen_bytes_)
            return format_error(request_.path, "more bytes than the file's " + std::to_string(request_.file_bytes),
                                static_cast<std::int64_t>(seen_bytes_));
        if (request_.has_content && request_.on_payload)
            if (Status status = request_.on_payload(seen_bytes_, data); !status) return status.error();
        seen_bytes_ += data.size();
        return samples_by_position(seen_bytes_, request_.file_bytes, request_.shape.sample_count);
    }

  private:
    ReadRequest request_;
    std::uint64_t seen_bytes_ = 0;
};

class RawFormat final : public Format {
  public:
    std::string_view name() const override { return "raw"; }
    bool has_checksum() const override { return false; }
    Status supports(const FileShape& shape) const override { return check_plain_shape(name(), shape); }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        const auto bytes = file_bytes(shape);
        if (!bytes) return bytes.error();
        return std::unique_ptr<Encoder>(std::make_unique<RawEncoder>(*bytes, std::move(content)));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return shape.payload_bytes();
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        auto known = complete(request);
        if (!known) return known.error();
        return std::unique_ptr<SampleReader>(std::make_unique<RawReader>(*known));
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        auto known = complete(request);
        if (!known) return known.error();
        return std::unique_ptr<StreamReader>(std::make_unique<RawStream>(*known));
    }
    // Nothing in the file says what it holds: only its size can be set against the samples that are expected.
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt&) const override {
        auto known = complete(request);
        if (!known) return known.error();
        return known->shape;
    }

  private:
    // The request with dims: where the plan gives none, the file's bytes divided evenly among its samples.
    static Expected<ReadRequest> complete(const ReadRequest& request) {
        ReadRequest known = request;
        FileShape& shape = known.shape;
        if (shape.dims.empty() && shape.sample_count > 0 && request.file_bytes > 0 &&
            request.file_bytes % (std::uint64_t{shape.sample_count} * shape.element_bytes) == 0)
            shape.dims = {request.file_bytes / shape.sample_count / shape.element_bytes};
        if (const Status status = check_plain_shape("raw", shape); !status) return status.error();
        if (request.file_bytes != shape.payload_bytes())
            return format_error(request.path, "the file has " + std::to_string(request.file_bytes) + " bytes, " +
                                                  describe(shape) + " need " + std::to_string(shape.payload_bytes()));
        return known;
    }
};

} // namespace

const Format& raw_format() {
    static const RawFormat format;
    return format;
}

} // namespace feedbench::formats
