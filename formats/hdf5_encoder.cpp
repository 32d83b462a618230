#include "formats/hdf5_encoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace feedbench::formats::hdf5 {

namespace {

// Compresses units of the content as the library's own filter does.
class Packer {
  public:
    Packer(const Layout& sizes, ContentSource content)
        : level_(sizes.shape.compression_level), content_(std::move(content)), plain_(sizes.unit_bytes) {}

    std::span<const std::byte> pack(std::uint64_t payload_offset) {
        content_(payload_offset, plain_);
        packed_.resize(compressBound(plain_.size()));
        uLongf bytes = packed_.size();
        // Cannot fail: the level was checked and the room is zlib's own bound.
        [[maybe_unused]] const int code =
            compress2(reinterpret_cast<Bytef*>(packed_.data()), &bytes, reinterpret_cast<const Bytef*>(plain_.data()),
                      plain_.size(), level_);
        assert(code == Z_OK);
        return {packed_.data(), bytes};
    }

  private:
    int level_;
    ContentSource content_;
    std::vector<std::byte> plain_, packed_;
};

struct Segment {
    std::uint64_t offset, bytes;
    const std::byte* literal;     // null = content
    std::uint64_t payload_offset; // of the segment's first byte; compressed: of the unit in it
    std::uint64_t end() const { return offset + bytes; }
};

std::vector<Segment> segments_of(const Template& made) {
    const Layout& layout = made.layout;
    std::vector<Segment> segments;
    for (const auto& [offset, bytes] : made.literals) segments.push_back({offset, bytes.size(), bytes.data(), 0});
    for (std::uint32_t d = 0; d < layout.dataset_count(); ++d) {
        if (!layout.is_chunked) {
            segments.push_back(
                {layout.first_offsets[d], layout.unit_bytes * layout.unit_count, nullptr, layout.payload_offset(d, 0)});
            continue;
        }
        const std::size_t first = segments.size();
        for (std::uint64_t i = 0; i < layout.unit_count; ++i) {
            const Unit unit = layout.unit(d, i);
            // Chunks that follow each other in the file and in the content are one run.
            if (!layout.is_compressed && segments.size() > first && segments.back().end() == unit.offset)
                segments.back().bytes += unit.stored_bytes;
            else
                segments.push_back({unit.offset, unit.stored_bytes, nullptr, layout.payload_offset(d, i)});
        }
    }
    std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.offset < b.offset; });
    return segments;
}

class SegmentEncoder final : public Encoder {
  public:
    SegmentEncoder(std::shared_ptr<const Template> made, ContentSource content)
        : made_(std::move(made)), segments_(segments_of(*made_)), content_(content) {
        if (made_->layout.is_compressed) packer_.emplace(made_->layout, std::move(content));
    }

    std::uint64_t file_bytes() const override { return made_->layout.file_bytes; }

    std::size_t fill(std::span<std::byte> out) override {
        std::size_t done = 0;
        while (done < out.size() && position_ < file_bytes()) {
            while (next_ < segments_.size() && segments_[next_].end() <= position_) ++next_;
            const bool is_gap = next_ == segments_.size() || segments_[next_].offset > position_;
            const std::uint64_t stop = next_ == segments_.size() ? file_bytes()
                                       : is_gap                  ? segments_[next_].offset
                                                                 : segments_[next_].end();
            const std::span<std::byte> part =
                out.subspan(done, std::min<std::uint64_t>(out.size() - done, stop - position_));
            if (is_gap)
                std::fill(part.begin(), part.end(), std::byte{});
            else
                fill_from(segments_[next_], part);
            done += part.size();
            position_ += part.size();
        }
        return done;
    }

  private:
    void fill_from(const Segment& segment, std::span<std::byte> part) {
        const std::uint64_t within = position_ - segment.offset;
        if (segment.literal) {
            std::memcpy(part.data(), segment.literal + within, part.size());
        } else if (!packer_) {
            content_(segment.payload_offset + within, part);
        } else {
            if (packed_segment_ != next_) {
                packed_ = packer_->pack(segment.payload_offset);
                packed_segment_ = next_;
                assert(packed_.size() == segment.bytes); // a ContentSource gives the same bytes for the same offset
            }
            std::memcpy(part.data(), packed_.data() + within, part.size());
        }
    }

    std::shared_ptr<const Template> made_;
    std::vector<Segment> segments_;
    ContentSource content_;
    std::optional<Packer> packer_;
    std::span<const std::byte> packed_;
    std::size_t packed_segment_ = std::numeric_limits<std::size_t>::max();
    std::size_t next_ = 0;
    std::uint64_t position_ = 0;
};

} // namespace

std::uint32_t stored_bytes_bound(std::uint64_t unit_bytes) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(compressBound(unit_bytes), UINT32_MAX));
}

Expected<std::unique_ptr<Encoder>> make_encoder(std::shared_ptr<const Template> uncompressed, ContentSource content) {
    return std::unique_ptr<Encoder>(std::make_unique<SegmentEncoder>(std::move(uncompressed), std::move(content)));
}

Expected<std::unique_ptr<Encoder>> make_compressing_encoder(const FileShape& shape, ContentSource content) {
    if (const Status checked = check_shape(shape); !checked) return checked.error();
    Layout sizes;
    sizes.shape = shape;
    sizes.shape.chunk_dims = chunk_dims_of(shape);
    sizes.derive();
    if (compressBound(sizes.unit_bytes) > UINT32_MAX)
        return config_error("format hdf5: a compressed chunk of " + std::to_string(sizes.unit_bytes) +
                            " bytes may pass 4 GiB");
    // Measured before the library is locked: content and compression are the slow part.
    std::vector<std::uint32_t> measured;
    Packer packer(sizes, content);
    for (std::uint32_t d = 0; d < sizes.dataset_count(); ++d)
        for (std::uint64_t i = 0; i < sizes.unit_count; ++i)
            measured.push_back(static_cast<std::uint32_t>(packer.pack(sizes.payload_offset(d, i)).size()));
    auto made =
        make_template(shape, [&](std::uint32_t d, std::uint64_t i) { return measured[d * sizes.unit_count + i]; });
    if (!made) return made.error();
    return make_encoder(std::make_shared<const Template>(std::move(*made)), std::move(content));
}

} // namespace feedbench::formats::hdf5
