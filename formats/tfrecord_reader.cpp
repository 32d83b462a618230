#include "formats/tfrecord_reader.hpp"

#include "formats/shape_check.hpp"
#include "formats/tfrecord_pass.hpp"

namespace feedbench::formats {

namespace {

// Records of one size: where each lies follows from the file's size, so that one record costs itself alone.
class RecordReader final : public SampleReader {
  public:
    RecordReader(const ReadRequest& request, std::uint64_t record_bytes)
        : request_(request), record_bytes_(record_bytes) {}

    Status begin(std::uint32_t sample_index) override {
        if (const Status status = check_sample_index(request_, sample_index); !status) return status;
        position_ = record_bytes_ * sample_index;
        end_ = position_ + record_bytes_;
        if (request_.has_content) pass_.emplace(request_, position_, sample_index);
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
        if (!request_.has_content) return {};
        const std::uint32_t before = pass_->completed();
        if (const Status status = pass_->feed(data); !status) return status;
        const bool is_last = extent.offset + extent.bytes == end_;
        if (is_last == (pass_->completed() == before + 1) && (!is_last || pass_->is_at_border())) return {};
        return format_error(request_.path,
                            "records of " + std::to_string(record_bytes_) + " bytes expected, found another size",
                            static_cast<std::int64_t>(end_ - record_bytes_));
    }

  private:
    ReadRequest request_;
    std::uint64_t record_bytes_, position_ = 0, end_ = 0;
    std::optional<TfrecordPass> pass_;
};

class TfrecordStream final : public StreamReader {
  public:
    explicit TfrecordStream(const ReadRequest& request) : request_(request), pass_(request_, 0, 0) {}
    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (data.size() > request_.file_bytes - pass_.position())
            return format_error(request_.path,
                                "file of " + std::to_string(request_.file_bytes) + " bytes expected, found more",
                                static_cast<std::int64_t>(pass_.position()));
        if (const Status status = pass_.feed(data); !status) return status.error();
        if (pass_.completed() > request_.shape.sample_count || pass_.position() == request_.file_bytes) {
            if (!pass_.is_at_border())
                return format_error(request_.path, "the file ends within record " + std::to_string(pass_.completed()),
                                    static_cast<std::int64_t>(pass_.position()));
            if (pass_.completed() != request_.shape.sample_count)
                return format_error(request_.path,
                                    std::to_string(request_.shape.sample_count) + " records expected, found " +
                                        std::to_string(pass_.completed()) +
                                        (pass_.position() < request_.file_bytes ? " or more" : ""),
                                    static_cast<std::int64_t>(pass_.position()));
        }
        return pass_.completed();
    }

  private:
    ReadRequest request_;
    TfrecordPass pass_;
};

// Records of sizes that only the file knows: they are passed in order, and one that has passed costs nothing.
class SequentialReader final : public SampleReader {
  public:
    explicit SequentialReader(const ReadRequest& request) : request_(request), stream_(request) {}
    Status begin(std::uint32_t sample_index) override {
        if (const Status status = check_sample_index(request_, sample_index); !status) return status;
        wanted_ = sample_index + 1;
        return {};
    }
    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (completed_ >= wanted_ || position_ == request_.file_bytes) return std::optional<Extent>();
        const Extent extent = piece_at(position_, request_.file_bytes, transfer_bytes);
        position_ += extent.bytes;
        is_consumed_ = false;
        return std::optional(extent);
    }
    bool must_consume_first() const override { return !is_consumed_; }
    Status consume(const Extent& extent, std::span<const std::byte> data) override {
        if (const Status status = check_piece(request_, extent, data); !status) return status;
        const auto completed = stream_.consume(data);
        if (!completed) return completed.error();
        completed_ = *completed;
        is_consumed_ = true;
        return {};
    }

  private:
    ReadRequest request_;
    TfrecordStream stream_;
    std::uint64_t position_ = 0;
    std::uint32_t wanted_ = 0, completed_ = 0;
    bool is_consumed_ = true;
};

} // namespace

Expected<std::unique_ptr<SampleReader>> make_tfrecord_reader(const ReadRequest& request) {
    if (request.shape.dims.empty() && request.has_content)
        return std::unique_ptr<SampleReader>(std::make_unique<SequentialReader>(request));
    // The size of a record is taken from the file and not from our encoder: `size` may be a byte longer in another's
    // Example.
    if (request.file_bytes % request.shape.sample_count != 0)
        return format_error(request.path, std::to_string(request.shape.sample_count) +
                                              " records of one size expected, found " +
                                              std::to_string(request.file_bytes) + " bytes, which they do not divide");
    return std::unique_ptr<SampleReader>(
        std::make_unique<RecordReader>(request, request.file_bytes / request.shape.sample_count));
}

std::unique_ptr<StreamReader> make_tfrecord_stream(const ReadRequest& request) {
    return std::make_unique<TfrecordStream>(request);
}

} // namespace feedbench::formats
