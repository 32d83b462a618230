#include "formats/hdf5_reader.hpp"

#include <algorithm>
#include <deque>

#include "formats/hdf5_payload.hpp"

namespace feedbench::formats::hdf5 {

namespace {

class UnitReader final : public SampleReader {
  public:
    UnitReader(std::shared_ptr<const Layout> layout, const ReadRequest& request)
        : layout_(std::move(layout)), path_(request.path), payload_(*layout_, request),
          dataset_(layout_->dataset_count()) {}

    Status begin(std::uint32_t sample_index) override {
        if (sample_index >= layout_->shape.sample_count)
            return format_error(path_, "sample " + std::to_string(sample_index) + " asked of a file of " +
                                           std::to_string(layout_->shape.sample_count));
        first_ = layout_->first_unit(sample_index);
        dataset_ = 0;
        unit_ = within_ = 0;
        return {};
    }

    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (dataset_ == layout_->dataset_count()) return std::optional<Extent>{};
        const Unit unit = layout_->unit(dataset_, first_ + unit_);
        const Extent extent = piece_at(unit.offset + within_, unit.offset + unit.stored_bytes, transfer_bytes);
        outstanding_.push_back({unit, layout_->payload_offset(dataset_, first_ + unit_), within_});
        within_ += extent.bytes;
        if (within_ == unit.stored_bytes) {
            within_ = 0;
            if (++unit_ == layout_->units_per_row) {
                unit_ = 0;
                ++dataset_;
            }
        }
        return std::optional<Extent>{extent};
    }

    bool must_consume_first() const override { return false; }

    Status consume(const Extent& extent, std::span<const std::byte> data) override {
        if (outstanding_.empty())
            return internal_error("an extent of " + path_ + " was consumed that was not asked for");
        const UnitPart part = outstanding_.front();
        outstanding_.pop_front();
        if (data.size() != extent.bytes)
            return format_error(path_,
                                "gave " + std::to_string(data.size()) + " bytes of a sample where " +
                                    std::to_string(extent.bytes) + " must be",
                                static_cast<std::int64_t>(extent.offset));
        return payload_.take(part, data);
    }

  private:
    std::shared_ptr<const Layout> layout_;
    std::string path_;
    PayloadHandler payload_;
    std::uint32_t dataset_; // == dataset_count(): nothing more of this sample
    std::uint64_t first_ = 0, unit_ = 0, within_ = 0;
    std::deque<UnitPart> outstanding_; // as many as the loader keeps in flight
};

class FileStream final : public StreamReader {
  public:
    FileStream(std::shared_ptr<const Layout> layout, const ReadRequest& request)
        : layout_(std::move(layout)), path_(request.path), payload_(*layout_, request) {
        list_sample_ends();
        if (payload_.is_needed()) list_parts();
    }

    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        const std::uint64_t end = position_ + data.size();
        if (end > layout_->file_bytes)
            return format_error(path_, "more bytes than the file's " + std::to_string(layout_->file_bytes),
                                static_cast<std::int64_t>(position_));
        for (; next_part_ < parts_.size(); ++next_part_) {
            UnitPart part = parts_[next_part_];
            const std::uint64_t from = std::max(position_, part.unit.offset);
            const std::uint64_t part_end = part.unit.offset + part.unit.stored_bytes;
            const std::uint64_t to = std::min(end, part_end);
            if (from >= to) break;
            part.within = from - part.unit.offset;
            if (Status taken = payload_.take(part, data.subspan(from - position_, to - from)); !taken)
                return taken.error();
            if (to < part_end) break;
        }
        position_ = end;
        const auto complete =
            std::upper_bound(sample_ends_.begin(), sample_ends_.end(), position_) - sample_ends_.begin();
        return static_cast<std::uint32_t>(complete);
    }

  private:
    // A sample is complete when the last of its units has passed, wherever in the file the library put them.
    void list_sample_ends() {
        const Layout& layout = *layout_;
        sample_ends_.reserve(layout.shape.sample_count);
        for (std::uint32_t s = 0; s < layout.shape.sample_count; ++s)
            // Samples of one row of chunks share all their units.
            sample_ends_.push_back(s % layout.samples_per_row == 0 ? row_end(layout.first_unit(s))
                                                                   : sample_ends_.back());
        std::sort(sample_ends_.begin(), sample_ends_.end());
    }

    std::uint64_t row_end(std::uint64_t first) const {
        std::uint64_t last = 0;
        for (std::uint32_t d = 0; d < layout_->dataset_count(); ++d)
            for (std::uint64_t i = first; i < first + layout_->units_per_row; ++i) {
                const Unit unit = layout_->unit(d, i);
                last = std::max(last, unit.offset + unit.stored_bytes);
            }
        return last;
    }

    void list_parts() {
        for (std::uint32_t d = 0; d < layout_->dataset_count(); ++d)
            for (std::uint64_t i = 0; i < layout_->unit_count; ++i)
                parts_.push_back({layout_->unit(d, i), layout_->payload_offset(d, i), 0});
        std::sort(parts_.begin(), parts_.end(),
                  [](const UnitPart& a, const UnitPart& b) { return a.unit.offset < b.unit.offset; });
    }

    std::shared_ptr<const Layout> layout_;
    std::string path_;
    PayloadHandler payload_;
    std::vector<std::uint64_t> sample_ends_; // ascending
    std::vector<UnitPart> parts_;            // by offset; only where someone looks at the payload
    std::size_t next_part_ = 0;
    std::uint64_t position_ = 0;
};

} // namespace

std::unique_ptr<SampleReader> make_sample_reader(std::shared_ptr<const Layout> layout, const ReadRequest& request) {
    return std::make_unique<UnitReader>(std::move(layout), request);
}

std::unique_ptr<StreamReader> make_stream_reader(std::shared_ptr<const Layout> layout, const ReadRequest& request) {
    return std::make_unique<FileStream>(std::move(layout), request);
}

} // namespace feedbench::formats::hdf5
