// TFRecord: records of one Example each, and an index beside the data (a line a record: offset and length).
//
// `size` in the Example is the first dimension: the reference generator stores the nominal dimension there, which is
// the same where sizes do not vary and takes as many bytes where they do.
#include "formats/tfrecord_reader.hpp"

#include "formats/checksums.hpp"
#include "formats/little_endian.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"
#include "formats/tfrecord_framing.hpp"

#include <algorithm>

namespace feedbench::formats {

namespace {

struct RecordFrame {
    std::vector<std::byte> before, after; // of the image; `after` without the checksum of the data
    std::uint64_t image_bytes = 0, record_bytes = 0;

    explicit RecordFrame(const FileShape& shape) : image_bytes(shape.sample_bytes()) {
        ExampleFrame example = example_frame(image_bytes, shape.dims.front());
        before = record_head(example.before.size() + image_bytes + example.after.size());
        before.insert(before.end(), example.before.begin(), example.before.end());
        after = std::move(example.after);
        record_bytes = before.size() + image_bytes + after.size() + kRecordTailBytes;
    }
};

class TfrecordEncoder final : public Encoder {
  public:
    TfrecordEncoder(const FileShape& shape, ContentSource content)
        : frame_(shape), sample_count_(shape.sample_count), content_(std::move(content)), tail_(frame_.after) {
        start_record();
    }
    std::uint64_t file_bytes() const override { return frame_.record_bytes * sample_count_; }

    std::size_t fill(std::span<std::byte> out) override {
        std::size_t filled = 0;
        while (filled < out.size() && record_index_ < sample_count_) {
            const std::span<std::byte> rest = out.subspan(filled);
            std::size_t size = 0;
            if (position_ < frame_.before.size()) {
                size = copy_from(frame_.before, position_, rest);
            } else if (position_ < frame_.before.size() + frame_.image_bytes) {
                const std::uint64_t at = position_ - frame_.before.size();
                size = static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), frame_.image_bytes - at));
                content_(record_index_ * frame_.image_bytes + at, rest.first(size));
                crc_ = crc32c(crc_, rest.first(size));
                if (at + size == frame_.image_bytes) finish_tail();
            } else {
                size = copy_from(tail_, position_ - frame_.before.size() - frame_.image_bytes, rest);
            }
            filled += size;
            position_ += size;
            if (position_ == frame_.record_bytes) {
                ++record_index_;
                start_record();
            }
        }
        return filled;
    }

  private:
    static std::size_t copy_from(const std::vector<std::byte>& bytes, std::uint64_t position,
                                 std::span<std::byte> out) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), bytes.size() - position));
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(position), size, out.begin());
        return size;
    }
    void start_record() {
        position_ = 0;
        crc_ = crc32c(0, std::span(frame_.before).subspan(kRecordHeadBytes));
    }
    void finish_tail() {
        tail_.resize(frame_.after.size());
        append_le(tail_, crc32c_mask(crc32c(crc_, frame_.after)));
    }

    RecordFrame frame_;
    std::uint32_t sample_count_, record_index_ = 0;
    ContentSource content_;
    std::vector<std::byte> tail_;
    std::uint64_t position_ = 0; // in the record
    std::uint32_t crc_ = 0;
};

class TfrecordFormat final : public Format {
  public:
    std::string_view name() const override { return "tfrecord"; }
    bool has_checksum() const override { return true; }
    Status supports(const FileShape& shape) const override { return check_plain_shape(name(), shape); }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return std::unique_ptr<Encoder>(std::make_unique<TfrecordEncoder>(shape, std::move(content)));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return RecordFrame(shape).record_bytes * shape.sample_count;
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return make_tfrecord_reader(request);
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return request.has_content ? make_tfrecord_stream(request) : Format::open_stream(request);
    }

    // Walks over all records by their heads: only that tells how many there are and whether their sizes vary.
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_file(request); !status) return status.error();
        FileShape shape;
        std::uint64_t count = 0, image_bytes = 0;
        bool is_uniform = true;
        std::vector<std::byte> look;
        for (std::uint64_t at = 0; at < request.file_bytes; ++count) {
            if (request.file_bytes - at < kRecordHeadBytes + kRecordTailBytes)
                return format_error(request.path,
                                    "TFRecord expected, found " + std::to_string(request.file_bytes - at) +
                                        " bytes before the file's end: truncated",
                                    static_cast<std::int64_t>(at));
            look.resize(std::min<std::uint64_t>(kRecordHeadBytes + 64, request.file_bytes - at));
            if (const Status status = read(at, look); !status) return status.error();
            const auto data_bytes =
                parse_record_head(std::span(look).first(kRecordHeadBytes), at, request.file_bytes, request.path);
            if (!data_bytes) return data_bytes.error();
            const auto data = [&] { return std::span<const std::byte>(look).subspan(kRecordHeadBytes); };
            auto place = find_image(data().first(std::min<std::uint64_t>(data().size(), *data_bytes)), *data_bytes);
            if (!place) {
                look.resize(kRecordHeadBytes + std::min<std::uint64_t>(*data_bytes, kMaxExampleHeadBytes));
                if (const Status status = read(at, look); !status) return status.error();
                place = find_image(data(), *data_bytes);
            }
            const std::uint64_t found = place && place->is_found ? place->bytes : 0;
            is_uniform = is_uniform && found > 0 && (count == 0 || found == image_bytes);
            image_bytes = found;
            at += kRecordHeadBytes + *data_bytes + kRecordTailBytes;
        }
        if (count > 0xffffffffU) return format_error(request.path, "more than 2^32 records");
        shape.sample_count = static_cast<std::uint32_t>(count);
        // Equal images may still lie in Examples of different sizes; then records cannot be found by arithmetic either.
        if (is_uniform && request.file_bytes % count == 0) shape.dims = {image_bytes};
        return shape;
    }

    std::span<const SideFile> side_files() const override {
        static constexpr SideFile kIndex[] = {{"index/", ".idx"}};
        return kIndex;
    }
    std::string side_bytes(const FileShape& shape, std::size_t) const override {
        const std::uint64_t record_bytes = RecordFrame(shape).record_bytes;
        const std::string length = " " + std::to_string(record_bytes) + "\n";
        std::string text;
        for (std::uint64_t i = 0; i < shape.sample_count; ++i) text += std::to_string(i * record_bytes) + length;
        return text;
    }

  private:
    Status check_file(const ReadRequest& request) const {
        if (request.file_bytes < kRecordHeadBytes + kRecordTailBytes)
            return format_error(
                request.path, "a TFRecord file has at least 16 bytes, found " + std::to_string(request.file_bytes), 0);
        if (request.shape.sample_count == 0)
            return config_error("tfrecord file: at least 1 sample a file is needed, found 0");
        return request.shape.dims.empty() ? Status() : supports(request.shape);
    }
};

} // namespace

const Format& tfrecord_format() {
    static const TfrecordFormat format;
    return format;
}

} // namespace feedbench::formats
