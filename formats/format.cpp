#include "formats/format.hpp"

#include <algorithm>

namespace feedbench::formats {

namespace {

// Samples complete evenly by position; for formats whose bytes are checked elsewhere or not at all.
class EvenStream final : public StreamReader {
  public:
    explicit EvenStream(const ReadRequest& request)
        : path_(request.path), file_bytes_(request.file_bytes), sample_count_(request.shape.sample_count) {}

    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (data.size() > file_bytes_ - seen_bytes_)
            return format_error(path_, "more bytes than the file's " + std::to_string(file_bytes_),
                                static_cast<std::int64_t>(seen_bytes_));
        seen_bytes_ += data.size();
        return samples_by_position(seen_bytes_, file_bytes_, sample_count_);
    }

  private:
    std::string path_;
    std::uint64_t file_bytes_, seen_bytes_ = 0;
    std::uint32_t sample_count_;
};

} // namespace

std::string side_path(const SideFile& side, std::string_view data_path) {
    return std::string(side.folder).append(data_path).append(side.ending);
}

std::uint64_t Format::index_bytes_per_sample() const {
    std::uint64_t bytes = 0;
    for (const SideFile& side : side_files()) bytes += side.index_bytes_per_sample;
    return bytes;
}

std::uint32_t samples_by_position(std::uint64_t seen_bytes, std::uint64_t file_bytes, std::uint32_t sample_count) {
    if (seen_bytes >= file_bytes) return sample_count;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>(static_cast<Wide>(seen_bytes) * sample_count / file_bytes);
}

Status check_piece(const ReadRequest& request, const Extent& extent, std::span<const std::byte> data) {
    if (data.size() == extent.bytes) return {};
    return format_error(request.path,
                        "read of " + std::to_string(extent.bytes) + " bytes gave " + std::to_string(data.size()),
                        static_cast<std::int64_t>(extent.offset));
}

Expected<std::optional<Extent>> StreamReader::next(std::uint64_t position, std::uint64_t file_bytes,
                                                   std::uint64_t transfer_bytes) {
    if (position >= file_bytes) return std::optional<Extent>();
    return std::optional(Extent{position, std::min(transfer_bytes, file_bytes - position)});
}

Expected<std::uint64_t> Format::read_blocking(const ReadRequest& request, std::uint32_t,
                                              std::vector<std::byte>&) const {
    return internal_error("format " + std::string(name()) + " is read by extents, not through a library (" +
                          request.path + ")");
}

Expected<std::unique_ptr<StreamReader>> Format::open_stream(const ReadRequest& request) const {
    if (request.has_content && request.on_payload)
        return internal_error("format " + std::string(name()) + " cannot check content in a stream (" + request.path +
                              ")");
    return std::unique_ptr<StreamReader>(std::make_unique<EvenStream>(request));
}

} // namespace feedbench::formats
