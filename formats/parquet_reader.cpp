#include "formats/parquet_reader.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "formats/little_endian.hpp"
#include "formats/parquet_pages.hpp"
#include "formats/shape_check.hpp"

namespace feedbench::formats::parquet {

namespace {

class RowReader final : public SampleReader {
  public:
    RowReader(const ReadRequest& request, std::shared_ptr<const FileLayout> known, LayoutShelf& shelf)
        : request_(request), known_(std::move(known)), shelf_(shelf), walk_(request),
          tail_begin_(request.file_bytes - std::min(request.file_bytes, kTailBytes)), at_(tail_begin_),
          consumed_(tail_begin_), stretch_end_(request.file_bytes) {}

    Status begin(std::uint32_t sample_index) override {
        if (const Status status = check_sample_index(request_, sample_index); !status) return status;
        sample_ = sample_index;
        return layout_ ? plan() : Status{};
    }

    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (!layout_ && at_ == stretch_end_) return internal_error("parquet: next() before the footer was consumed");
        if (at_ == stretch_end_) {
            if (range_ == ranges_.size()) return std::optional<Extent>();
            at_ = ranges_[range_].offset;
            stretch_end_ = at_ + ranges_[range_].bytes;
            ++range_;
        }
        const Extent extent = piece_at(at_, stretch_end_, transfer_bytes);
        at_ += extent.bytes;
        return std::optional(extent);
    }

    bool must_consume_first() const override { return !layout_ && at_ == stretch_end_; }

    Status consume(const Extent& extent, std::span<const std::byte> data) override {
        if (const Status status = check_piece(request_, extent, data); !status) return status;
        if (layout_) {
            if (const Status status = pass(extent, data, false); !status) return status;
            planned_bytes_ -= extent.bytes;
            return planned_bytes_ == 0 ? end_group() : Status{};
        }
        if (request_.has_content) append_bytes(stretch_, data);
        consumed_ += extent.bytes;
        return consumed_ == stretch_end_ ? end_stretch() : Status{};
    }

    bool is_at_hand(std::uint32_t sample_index) const override {
        return layout_ && planned_bytes_ == 0 && find_at_hand(sample_index) != at_hand_.end();
    }

    std::int64_t take_unneeded_bytes() override { return std::exchange(unneeded_bytes_, 0); }

    const FileLayout& layout() const { return *layout_; }

  private:
    // Few are at hand, and the last one is mostly it: cheaper than to search all row groups of the file.
    std::vector<std::uint32_t>::const_iterator find_at_hand(std::uint32_t row) const {
        return std::find_if(at_hand_.begin(), at_hand_.end(), [this, row](std::uint32_t group) {
            return row - layout_->first_rows[group] < layout_->group_rows(group); // wraps below the first
        });
    }

    // The last 64 KiB are there, or the part of the footer before them.
    Status end_stretch() {
        if (known_) {
            footer_begin_ = known_->footer_begin;
        } else if (footer_.empty()) {
            const auto begin = find_footer(stretch_, request_.file_bytes, request_.path);
            if (!begin) return begin.error();
            footer_begin_ = *begin;
        }
        if (footer_begin_ < tail_begin_ && stretch_end_ == request_.file_bytes) {
            footer_ = std::move(stretch_);
            stretch_.clear();
            at_ = consumed_ = footer_begin_;
            stretch_end_ = tail_begin_;
            return {};
        }
        at_ = stretch_end_;
        return read_layout();
    }

    Status read_layout() {
        const std::uint64_t data_bytes = footer_begin_ - std::min(footer_begin_, tail_begin_);
        unneeded_bytes_ += static_cast<std::int64_t>(data_bytes);
        if (known_) {
            layout_ = known_;
            return plan();
        }
        append_bytes(stretch_, footer_);
        footer_ = {};
        const auto footer = std::span<const std::byte>(stretch_).subspan(data_bytes);
        auto layout = parquet::read_footer({.path = request_.path,
                                            .file_bytes = request_.file_bytes,
                                            .footer_begin = footer_begin_,
                                            .footer = footer.first(footer.size() - kEndBytes),
                                            .expected = request_.shape});
        if (!layout) return layout.error();
        layout_ = shelf_.share(std::move(*layout));
        tail_.assign(stretch_.begin(), stretch_.begin() + static_cast<std::ptrdiff_t>(data_bytes));
        stretch_ = {};
        return plan();
    }

    // What to read for the row group of sample_.
    Status plan() {
        ranges_.clear();
        range_ = 0;
        planned_bytes_ = 0;
        if (const auto found = find_at_hand(sample_); found != at_hand_.end()) {
            const auto place = at_hand_.begin() + (found - at_hand_.cbegin());
            std::rotate(at_hand_.begin(), place, place + 1);
            return {};
        }
        const auto group = static_cast<std::uint32_t>(layout_->group_of(sample_));
        if (at_hand_.size() == kGroupsAtHand) at_hand_.pop_back();
        at_hand_.insert(at_hand_.begin(), group);
        chunks_ = layout_->group(group);
        order_.resize(chunks_.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::sort(order_.begin(), order_.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return chunks_[a].offset < chunks_[b].offset; });
        std::uint64_t end = 0;
        for (const std::uint32_t c : order_) {
            const Chunk& chunk = chunks_[c];
            if (chunk.bytes > 0 && chunk.offset < end)
                return format_error(request_.path,
                                    "parquet: column '" + layout_->columns[c].name + "' overlaps the one before it",
                                    static_cast<std::int64_t>(chunk.offset));
            if (chunk.bytes > 0) end = chunk.offset + chunk.bytes;
            const std::uint64_t to_read = std::min(chunk.offset + chunk.bytes, tail_begin_);
            if (chunk.bytes == 0 || to_read <= chunk.offset) continue;
            if (!ranges_.empty() && chunk.offset - (ranges_.back().offset + ranges_.back().bytes) <= kGapBytes)
                ranges_.back().bytes = to_read - ranges_.back().offset;
            else
                ranges_.push_back({chunk.offset, to_read - chunk.offset});
        }
        for (const Extent& range : ranges_) planned_bytes_ += range.bytes;
        place_ = 0;
        if (const Status status = begin_chunk(); !status) return status;
        return planned_bytes_ == 0 ? end_group() : Status{};
    }

    // The walk turns to the chunk that comes next in the file.
    Status begin_chunk() {
        for (; place_ < order_.size(); ++place_) {
            const std::uint32_t c = order_[place_], group = at_hand_.front();
            position_ = chunks_[c].offset;
            if (!request_.has_content) {
                if (chunks_[c].bytes > 0) return {};
                continue;
            }
            walk_.begin({.place = chunks_[c],
                         .column = &layout_->columns[c],
                         .row_count = layout_->group_rows(group),
                         .payload_offset = layout_->payload_offset(group, c),
                         .has_payload = layout_->row_bytes > 0});
            if (chunks_[c].bytes > 0) return {};
            if (const Status status = walk_.feed({}); !status) return status; // says what is missing
        }
        return {};
    }

    // Hands on what of the extent lies in the chunks; in the tail, of which nothing was needed until now, or read for
    // them.
    Status pass(const Extent& extent, std::span<const std::byte> data, bool is_tail) {
        const std::uint64_t end = extent.offset + extent.bytes;
        std::uint64_t needed = 0;
        while (place_ < order_.size()) {
            const Chunk& chunk = chunks_[order_[place_]];
            const std::uint64_t from = std::max(extent.offset, position_);
            const std::uint64_t to = std::min(end, chunk.offset + chunk.bytes);
            if (from >= to) break;
            needed += to - from;
            if (request_.has_content)
                if (const Status status = walk_.feed(data.subspan(from - extent.offset, to - from)); !status)
                    return status;
            position_ = to;
            if (to < chunk.offset + chunk.bytes) break;
            ++place_;
            if (const Status status = begin_chunk(); !status) return status;
        }
        unneeded_bytes_ +=
            is_tail ? -static_cast<std::int64_t>(needed) : static_cast<std::int64_t>(extent.bytes - needed);
        return {};
    }

    Status end_group() {
        if (footer_begin_ > tail_begin_)
            if (const Status status = pass({tail_begin_, footer_begin_ - tail_begin_}, tail_, true); !status)
                return status;
        if (place_ == order_.size()) return {};
        return internal_error("parquet: a row group of " + request_.path + " was not read to its end");
    }

    ReadRequest request_;
    std::shared_ptr<const FileLayout> known_, layout_; // layout_: once the footer has been consumed
    LayoutShelf& shelf_;
    PageWalk walk_;
    std::uint32_t sample_ = 0;
    std::uint64_t tail_begin_, footer_begin_ = 0;
    std::uint64_t at_, consumed_, stretch_end_;      // what next() gives; of the tail and the footer: what came
    std::vector<std::byte> stretch_, footer_, tail_; // tail_: what of the last 64 KiB lies before the footer
    std::vector<std::uint32_t> at_hand_;             // row groups, the last one first
    std::span<const Chunk> chunks_;                  // of the row group that is read
    std::vector<std::uint32_t> order_;               // of the chunks in the file
    std::vector<Extent> ranges_;
    std::size_t range_ = 0, place_ = 0; // the range that next() turns to; the chunk in order_ that comes
    std::uint64_t position_ = 0, planned_bytes_ = 0;
    std::int64_t unneeded_bytes_ = 0;
};

// Row group after row group; one piece at a time.
class RowStream final : public StreamReader {
  public:
    RowStream(const ReadRequest& request, std::shared_ptr<const FileLayout> known, LayoutShelf& shelf)
        : rows_(request.shape.sample_count), reader_(request, std::move(known), shelf) {}

    Expected<std::optional<Extent>> next(std::uint64_t, std::uint64_t, std::uint64_t transfer_bytes) override {
        transfer_bytes_ = transfer_bytes;
        if (!has_begun_) {
            has_begun_ = true;
            if (const Status status = reader_.begin(0); !status) return status.error();
            if (const Status status = pull(); !status) return status.error();
        }
        given_ = pending_;
        return given_;
    }

    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (!given_) return internal_error("parquet: a piece was consumed that was not asked for");
        if (const Status status = reader_.consume(*given_, data); !status) return status.error();
        given_.reset();
        if (const Status status = pull(); !status) return status.error();
        return complete_;
    }

    std::int64_t take_unneeded_bytes() override { return reader_.take_unneeded_bytes(); }

  private:
    // The next extent, of this row group or of the next that costs one.
    Status pull() {
        pending_.reset();
        while (complete_ < rows_) {
            auto extent = reader_.next(transfer_bytes_);
            if (!extent) return extent.error();
            pending_ = *extent;
            if (pending_) return {};
            complete_ = reader_.layout().first_rows[reader_.layout().group_of(complete_) + 1];
            if (complete_ == rows_) return {};
            if (const Status status = reader_.begin(complete_); !status) return status;
        }
        return {};
    }

    std::uint32_t rows_, complete_ = 0;
    RowReader reader_;
    bool has_begun_ = false;
    std::uint64_t transfer_bytes_ = 0;
    std::optional<Extent> pending_, given_;
};

} // namespace

std::shared_ptr<const FileLayout> LayoutShelf::share(FileLayout&& layout) {
    const std::lock_guard lock(mutex_);
    if (!last_ || !(*last_ == layout)) last_ = std::make_shared<const FileLayout>(std::move(layout));
    return last_;
}

std::unique_ptr<SampleReader> make_row_reader(const ReadRequest& request, std::shared_ptr<const FileLayout> known,
                                              LayoutShelf& shelf) {
    return std::make_unique<RowReader>(request, std::move(known), shelf);
}
std::unique_ptr<StreamReader> make_row_stream(const ReadRequest& request, std::shared_ptr<const FileLayout> known,
                                              LayoutShelf& shelf) {
    return std::make_unique<RowStream>(request, std::move(known), shelf);
}

} // namespace feedbench::formats::parquet
