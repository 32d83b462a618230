// Indexed binary: the samples' bytes one after another, and beside the file where each begins and how long it is.
//
// The reference's reader takes both indexes into memory before its first sample, then reads each sample as one range.
#include "formats/index_table.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"

#include <algorithm>

namespace feedbench::formats {

namespace {

class IndexedReader final : public SampleReader {
  public:
    IndexedReader(const ReadRequest& request, std::optional<IndexTable> table)
        : request_(request), table_(std::move(table)) {}

    Status begin(std::uint32_t sample_index) override {
        if (const Status status = check_sample_index(request_, sample_index); !status) return status;
        const std::uint64_t planned_bytes = request_.shape.sample_bytes();
        payload_begin_ = sample_index * planned_bytes;
        Extent sample{payload_begin_, planned_bytes};
        if (table_) {
            const auto found = table_->at(sample_index);
            if (!found) return found.error();
            sample = *found;
        }
        position_ = begin_ = sample.offset;
        end_ = begin_ + sample.bytes;
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
        if (request_.has_content && request_.on_payload)
            return request_.on_payload(payload_begin_ + extent.offset - begin_, data);
        return {};
    }

  private:
    ReadRequest request_;
    std::optional<IndexTable> table_; // nothing: without content samples lie where the shape says
    std::uint64_t payload_begin_ = 0, begin_ = 0, position_ = 0, end_ = 0;
};

// A sample is complete when it and all before it have passed by, wherever the index puts them.
class IndexedStream final : public StreamReader {
  public:
    IndexedStream(const ReadRequest& request, std::vector<std::uint64_t> ends)
        : request_(request), ends_(std::move(ends)) {}
    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (data.size() > request_.file_bytes - seen_bytes_)
            return format_error(request_.path, "more bytes than the file's " + std::to_string(request_.file_bytes),
                                static_cast<std::int64_t>(seen_bytes_));
        if (request_.on_payload)
            if (Status status = request_.on_payload(seen_bytes_, data); !status) return status.error();
        seen_bytes_ += data.size();
        while (complete_ < ends_.size() && ends_[complete_] <= seen_bytes_) ++complete_;
        return complete_;
    }

  private:
    ReadRequest request_;
    std::vector<std::uint64_t> ends_; // ascending
    std::uint64_t seen_bytes_ = 0;
    std::uint32_t complete_ = 0;
};

class IndexedBinaryFormat final : public Format {
  public:
    std::string_view name() const override { return "indexed_binary"; }
    bool has_checksum() const override { return false; }
    Status supports(const FileShape& shape) const override {
        if (const Status status = check_plain_shape(name(), shape); !status) return status;
        if (shape.sample_count <= kMaxIndexBytes / index_bytes_per_sample()) return {};
        return config_error(
            "indexed_binary file: at most " + std::to_string(kMaxIndexBytes / index_bytes_per_sample()) +
            " samples a file (their index lies in memory), found " + std::to_string(shape.sample_count));
    }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return raw_format().encode(shape, std::move(content));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return shape.payload_bytes();
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        std::optional<IndexTable> table;
        if (request.has_content) {
            auto made = IndexTable::make(request, side_files());
            if (!made) return made.error();
            table = std::move(*made);
        }
        return std::unique_ptr<SampleReader>(std::make_unique<IndexedReader>(request, std::move(table)));
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        if (!request.has_content) return Format::open_stream(request);
        const auto table = IndexTable::make(request, side_files());
        if (!table) return table.error();
        std::vector<std::uint64_t> ends;
        ends.reserve(table->sample_count());
        for (std::uint32_t i = 0; i < table->sample_count(); ++i) {
            const auto sample = table->at(i);
            if (!sample) return sample.error();
            ends.push_back(std::max(sample->offset + sample->bytes, ends.empty() ? 0 : ends.back()));
        }
        return std::unique_ptr<StreamReader>(std::make_unique<IndexedStream>(request, std::move(ends)));
    }

    // The index alone tells how many samples there are. Dims only where they lie as our own would, so that they can be
    // found by arithmetic.
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt&) const override {
        ReadRequest asked = request;
        asked.shape = {};
        asked.shape.sample_count = 0; // as many as the index has
        const auto table = IndexTable::make(asked, side_files());
        if (!table) return table.error();
        std::uint64_t sample_bytes = 0;
        bool is_plain = true;
        for (std::uint32_t i = 0; i < table->sample_count(); ++i) {
            const auto sample = table->at(i);
            if (!sample) return sample.error();
            if (i == 0) sample_bytes = sample->bytes;
            is_plain = is_plain && sample->bytes == sample_bytes && sample->offset == i * sample_bytes;
        }
        FileShape shape;
        shape.sample_count = table->sample_count();
        if (sample_bytes % request.shape.element_bytes == 0) shape.element_bytes = request.shape.element_bytes;
        if (is_plain && sample_bytes * shape.sample_count == request.file_bytes)
            shape.dims = {sample_bytes / shape.element_bytes};
        return shape;
    }

    std::span<const SideFile> side_files() const override {
        static constexpr SideFile kIndexes[] = {{"", ".off.idx", 8}, {"", ".sz.idx", 8}};
        return kIndexes;
    }
    std::string side_bytes(const FileShape& shape, std::size_t which) const override {
        return which == 0 ? index_of_offsets(shape) : index_of_sizes(shape);
    }

  private:
    Status check_file(const ReadRequest& request) const {
        const FileShape& shape = request.shape;
        if (shape.dims.empty()) return {};
        if (const Status status = supports(shape); !status) return status;
        if (request.file_bytes == shape.payload_bytes()) return {};
        return format_error(request.path, "the file has " + std::to_string(request.file_bytes) + " bytes, " +
                                              describe(shape) + " need " + std::to_string(shape.payload_bytes()));
    }
};

} // namespace

const Format& indexed_binary_format() {
    static const IndexedBinaryFormat format;
    return format;
}

} // namespace feedbench::formats
