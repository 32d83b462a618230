// What numpy asks of the storage for np.load(file)['x'], here for 3,145,810 bytes (buffer of 4096 bytes, chunks of
// 262144):
//   [0, 4096)                              is it a zip?
//   [size-22, size) [size-42, size) [directory, size)   end record, zip64 locator, directory: all in the file's last
//   page [0, 4096) [4096, 8192) twice           local header, npy header (from the page cache, as is any byte asked for
//   again) [8192, 262144) [262144, 266240) [266240, 524288) ...   the member in order: 252 KiB and 4 KiB by turns, to
//   the end of its last page
// So each page is asked of the storage once: head, tail, member in order, in pieces that end on multiples of 256 KiB.
// That is the sequence here, each byte once, the stretches starting on pages so that O_DIRECT can take them as they
// are.
#include "formats/npz_reader.hpp"

#include <algorithm>

#include "formats/npz_pass.hpp"
#include "formats/shape_check.hpp"
#include "harness/types/units.hpp"

namespace feedbench::formats {

namespace {

constexpr std::uint64_t kPageBytes = 4096;
// The tail covers end records and the directory of a dozen members; a longer directory is fetched for itself.
constexpr std::uint64_t kTailBytes = 1024;

class NpzReader final : public SampleReader {
  public:
    explicit NpzReader(const ReadRequest& request) : request_(request) {
        const std::uint64_t file_bytes = request_.file_bytes;
        head_end_ = std::min(kPageBytes, file_bytes);
        tail_begin_ = std::max(head_end_, round_down(file_bytes - std::min(file_bytes, kTailBytes), kPageBytes));
        add_stretch(0, head_end_, true);
        add_stretch(tail_begin_, file_bytes, true);
        if (!request_.has_content) { // nothing will be learnt from the bytes
            const bool is_plain = request_.shape.compression == FileShape::Compression::none;
            plan_body(0, is_plain && !request_.shape.dims.empty() ? npz_array_end(request_.shape) : file_bytes);
        }
    }

    Status begin(std::uint32_t sample_index) override { return check_sample_index(request_, sample_index); }

    Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) override {
        if (issue_stretch_ == stretches_.size()) {
            if (!is_planned_) return internal_error("npz: next() before the tail was consumed");
            return std::optional<Extent>();
        }
        const Stretch& stretch = stretches_[issue_stretch_];
        // Head and tail are looked at in one piece, wherever they lie; the array comes in pieces.
        const Extent extent = stretch.is_look && stretch.end - issue_position_ <= transfer_bytes
                                  ? Extent{issue_position_, stretch.end - issue_position_}
                                  : piece_at(issue_position_, stretch.end, transfer_bytes);
        issue_position_ += extent.bytes;
        if (issue_position_ == stretch.end && ++issue_stretch_ < stretches_.size())
            issue_position_ = stretches_[issue_stretch_].begin;
        return std::optional(extent);
    }

    bool must_consume_first() const override { return issue_stretch_ == stretches_.size() && !is_planned_; }

    Status consume(const Extent& extent, std::span<const std::byte> data) override {
        if (const Status status = check_piece(request_, extent, data); !status) return status;
        consumed_bytes_ += extent.bytes;
        if (!request_.has_content) return {};
        const std::uint64_t end = extent.offset + extent.bytes;
        if (!is_planned_) { // head, tail, and a directory that did not fit into the tail
            std::vector<std::byte>& kept = extent.offset < head_end_     ? head_
                                           : extent.offset < tail_begin_ ? middle_
                                                                         : tail_;
            kept.insert(kept.end(), data.begin(), data.end());
            if (consumed_bytes_ < known_bytes_) return {};
            if (const Status status = plan(); !status) return status;
        } else {
            if (const Status status = feed(extent.offset, data); !status) return status;
        }
        if (is_planned_ && consumed_bytes_ == known_bytes_) return finish(end);
        return {};
    }

  private:
    struct Stretch {
        std::uint64_t begin, end;
        bool is_look;
    };

    void add_stretch(std::uint64_t begin, std::uint64_t end, bool is_look) {
        if (begin >= end) return;
        if (issue_stretch_ == stretches_.size()) issue_position_ = begin;
        stretches_.push_back({begin, end, is_look});
        known_bytes_ += end - begin;
    }

    // The member's region [begin, end): what head and tail have of it is not asked for again.
    void plan_body(std::uint64_t begin, std::uint64_t end) {
        region_begin_ = begin;
        region_end_ = end;
        add_stretch(std::max(head_end_, round_down(begin, kPageBytes)), std::min(end, tail_begin_), false);
        is_planned_ = true;
    }

    // Everything known has been consumed: find the directory in it.
    Status plan() {
        const std::uint64_t file_bytes = request_.file_bytes;
        std::vector<std::byte> end = head_end_ == file_bytes ? head_ : middle_;
        if (head_end_ < file_bytes) {
            if (head_end_ == tail_begin_) end = head_; // a small file: nothing lies between
            end.insert(end.end(), tail_.begin(), tail_.end());
        }
        const auto place = find_zip_directory(end, file_bytes, request_.path);
        if (!place) return place.error();
        const std::uint64_t end_at = file_bytes - end.size();
        if (place->offset < end_at) {
            constexpr std::uint64_t kMaxDirectoryBytes = kMiB;
            if (!middle_.empty() || place->bytes > kMaxDirectoryBytes)
                return format_error(request_.path,
                                    "zip directory of at most 1 MiB expected, found " + std::to_string(place->bytes),
                                    static_cast<std::int64_t>(file_bytes - 10));
            const std::uint64_t middle_begin = std::max(head_end_, round_down(place->offset, kPageBytes));
            if (middle_begin < tail_begin_ && place->offset >= head_end_) {
                add_stretch(middle_begin, tail_begin_, true);
                return {};
            }
            return format_error(request_.path,
                                "zip directory expected behind the array, found at " + std::to_string(place->offset),
                                static_cast<std::int64_t>(file_bytes - 6));
        }
        const auto members =
            parse_zip_directory(std::span(end).subspan(place->offset - end_at, place->bytes), *place, request_.path);
        if (!members) return members.error();
        const ZipMember* array = nullptr;
        std::uint64_t region_end = place->offset;
        for (const ZipMember& member : *members)
            if (member.name == kArrayMember) array = &member;
        if (array == nullptr)
            return format_error(request_.path, "npz archive has no array 'x'",
                                static_cast<std::int64_t>(place->offset));
        for (const ZipMember& member : *members)
            if (member.header_offset > array->header_offset) region_end = std::min(region_end, member.header_offset);
        entry_ = *array;
        pass_.emplace(request_, array->header_offset);
        const std::uint64_t middle_begin = tail_begin_ - middle_.size();
        tail_.insert(tail_.begin(), middle_.begin(), middle_.end());
        middle_ = {};
        tail_begin_ = middle_begin;
        plan_body(array->header_offset, region_end);
        const Status status = feed(0, head_);
        head_ = {};
        return status;
    }

    // Passes on what of `data` lies in the member's region.
    Status feed(std::uint64_t offset, std::span<const std::byte> data) {
        const std::uint64_t end = std::min(offset + data.size(), region_end_), begin = std::max(offset, region_begin_);
        if (begin >= end) return {};
        return pass_->feed(data.subspan(begin - offset, end - begin));
    }

    Status finish(std::uint64_t position) {
        if (const Status status = feed(tail_begin_, tail_); !status) return status;
        tail_ = {};
        if (!pass_->is_array_complete())
            return format_error(request_.path, "npz: the array's member is not complete",
                                static_cast<std::int64_t>(position));
        return pass_->check_against(entry_);
    }

    ReadRequest request_;
    std::uint64_t head_end_, tail_begin_; // what lies before and from there on has been kept
    std::vector<Stretch> stretches_;
    std::size_t issue_stretch_ = 0;
    std::uint64_t issue_position_ = 0, known_bytes_ = 0, consumed_bytes_ = 0;
    std::vector<std::byte> head_, middle_, tail_;
    bool is_planned_ = false;
    std::uint64_t region_begin_ = 0, region_end_ = 0;
    ZipMember entry_;
    std::optional<NpzPass> pass_;
};

class NpzStream final : public StreamReader {
  public:
    explicit NpzStream(const ReadRequest& request) : request_(request), pass_(request_, 0) {}
    Expected<std::uint32_t> consume(std::span<const std::byte> data) override {
        if (data.size() > request_.file_bytes - pass_.position())
            return format_error(request_.path,
                                "file of " + std::to_string(request_.file_bytes) + " bytes expected, found more",
                                static_cast<std::int64_t>(pass_.position()));
        if (const Status status = pass_.feed(data); !status) return status.error();
        if (pass_.position() == request_.file_bytes)
            if (const Status status = pass_.finish_file(); !status) return status.error();
        return samples_by_position(pass_.position(), request_.file_bytes, request_.shape.sample_count);
    }

  private:
    ReadRequest request_;
    NpzPass pass_;
};

} // namespace

std::unique_ptr<SampleReader> make_npz_reader(const ReadRequest& request) {
    return std::make_unique<NpzReader>(request);
}
std::unique_ptr<StreamReader> make_npz_stream(const ReadRequest& request) {
    return std::make_unique<NpzStream>(request);
}

} // namespace feedbench::formats
