// fsck: every live record: in its segment, apart from the others, with its footer; with `data`, byte by byte.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/fsck_run.hpp"
#include "storage/feedfs/record.hpp"
#include "storage/feedfs/tier_read.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::uint64_t kFsckWindowBytes = 4 << 20;
constexpr std::uint64_t kSmallFsckRecordBytes = 64 * 1024; // up to this whole windows are read, else footers alone
} // namespace

Status FsckRun::check_records() {
    std::sort(extents_.begin(), extents_.end(), [](const KnownExtent& a, const KnownExtent& b) {
        return a.segment != b.segment ? a.segment < b.segment : a.offset < b.offset;
    });
    report_.extents = extents_.size();
    std::uint64_t bytes = 0;
    for (std::size_t first = 0, end = 0; first < extents_.size(); first = end) {
        end = first;
        while (end < extents_.size() && extents_[end].segment == extents_[first].segment) ++end;
        SegmentFacts& facts = segments_[extents_[first].segment];
        facts.first_extent = first;
        if (auto status = check_records_of(extents_[first].segment, facts, end - first); !status) return status;
        bytes += facts.fast_bytes;
        if (auto told = tell("records", bytes, report_.segment_bytes); !told) return told;
    }
    return {};
}

void FsckRun::damaged(FindingKind kind, SegmentFacts& facts, const KnownExtent& extent, const std::string& message) {
    Repair& repair =
        found(kind, {.kind = {},
                     .path = path_of_extent(extent),
                     .segment = extent.segment,
                     .offset = extent.offset,
                     .message = "bytes " + std::to_string(extent.file_offset) + " to " +
                                std::to_string(extent.file_offset + extent.payload_bytes) + ": " + message});
    if (facts.object_is_there && facts.row && (facts.row->tiers & SegmentRecord::kFast) != 0) {
        if (facts.given_up)
            repair.batch.require_present(segment_key(extent.segment)); // by the finding before
        else
            give_up_fast_copy(extent.segment, facts, repair);
    }
}

Status FsckRun::check_records_of(std::uint64_t segment, SegmentFacts& facts, std::size_t count) {
    const KnownExtent* const first = extents_.data() + facts.first_extent;
    for (std::size_t i = 1; i < count; ++i) {
        const std::uint64_t end = first[i - 1].offset + record_bytes(first[i - 1].payload_bytes);
        if (first[i].offset < end)
            damaged(FindingKind::record_overlap, facts, first[i],
                    "the record before, of " + path_of_extent(first[i - 1]) + ", ends behind its beginning, at " +
                        std::to_string(end));
    }
    if (!facts.row) return {};
    std::shared_ptr<TargetFile> file;
    if (facts.fast_is_there) {
        auto opened = target(facts.row->target)->open(segment_name(segment));
        if (!opened) {
            damaged(FindingKind::segment_missing, facts, first[0],
                    "its segment cannot be opened: " + opened.error().describe());
            return {};
        }
        file = *opened;
    } else if (options_.data && facts.object_is_there) {
        auto opened = target(facts.row->object_target)->open(segment_name(segment));
        if (!opened) {
            damaged(FindingKind::segment_missing, facts, first[0],
                    "the object cannot be opened: " + opened.error().describe());
            return {};
        }
        file = *opened;
    } else {
        return {}; // said already, or in the object tier: there
    }
    auto size = file->size();
    if (!size) return size.error();
    window_bytes_ = 0;
    for (std::size_t i = 0; i < count; ++i) check_record(facts, first[i], *file, *size);
    return {};
}

// [from, from + bytes) of the file, and as much behind it as a window holds; empty: it cannot be read.
std::span<const std::byte> FsckRun::window(const TargetFile& file, std::uint64_t from, std::uint64_t bytes,
                                           std::uint64_t file_bytes) {
    if (from < window_from_ || from + bytes > window_from_ + window_bytes_) {
        const std::uint64_t ahead = bytes > kBlockBytes ? std::max(bytes, kFsckWindowBytes) : bytes;
        const std::uint64_t wanted = std::min(ahead, (file_bytes - from) / kBlockBytes * kBlockBytes);
        if (buffer_.size() < wanted) buffer_ = memory_.take(wanted);
        auto read = file.read(from, {buffer_.data(), wanted});
        window_from_ = from;
        window_bytes_ = read ? *read : 0;
        report_.bytes_read += window_bytes_;
        // A block that cannot be read must not spoil what lies behind it.
        if (window_bytes_ < bytes && wanted > bytes) {
            read = file.read(from, {buffer_.data(), bytes});
            window_bytes_ = read ? *read : 0;
        }
        if (window_bytes_ < bytes) return {};
    }
    return {buffer_.data() + (from - window_from_), bytes};
}

// Block by block: any footer in it that names another volume makes the file that one's. Reads until the first, or all.
FsckRun::Ownership FsckRun::ownership_of(Target& place, std::uint64_t segment) {
    auto file = place.open(segment_name(segment));
    if (!file) return Ownership::unknown;
    const auto size = (*file)->size();
    if (!size) return Ownership::unknown;
    window_bytes_ = 0; // of another file
    const std::uint64_t whole_blocks = *size / kBlockBytes * kBlockBytes;
    Ownership whose = Ownership::no_other;
    for (std::uint64_t from = 0, bytes = 0; from < whole_blocks && whose == Ownership::no_other; from += bytes) {
        bytes = std::min(kFsckWindowBytes, whole_blocks - from);
        const std::span<const std::byte> blocks = window(**file, from, bytes, whole_blocks);
        if (blocks.empty()) whose = Ownership::unknown;
        for (std::size_t at = 0; at < blocks.size() && whose == Ownership::no_other; at += kBlockBytes)
            if (const auto footer = parse_any_footer(blocks.subspan(at, kBlockBytes));
                footer && footer->volume_id != volume_.volume_id())
                whose = Ownership::another_volume;
    }
    window_bytes_ = 0;
    return whose;
}

void FsckRun::found_foreign(const Target& place, std::uint64_t segment) {
    found(FindingKind::segment_foreign,
          {.kind = {},
           .path = {},
           .segment = segment,
           .offset = 0,
           .message = segment_name(segment) + " on target " + std::to_string(place.config().id) + " at " +
                      place.config().place + " belongs to another volume, as its records say; it is left alone"});
}

void FsckRun::check_record(SegmentFacts& facts, const KnownExtent& extent, const TargetFile& file,
                           std::uint64_t file_bytes) {
    const std::uint64_t bytes = record_bytes(extent.payload_bytes);
    if (extent.offset > file_bytes || bytes > file_bytes - extent.offset) {
        damaged(FindingKind::record_outside, facts, extent,
                "the record ends at " + std::to_string(extent.offset + bytes) + ", its segment's file at " +
                    std::to_string(file_bytes));
        return;
    }
    const bool whole = options_.data || bytes <= kSmallFsckRecordBytes;
    const std::uint64_t from = whole ? extent.offset : extent.offset + bytes - kBlockBytes;
    const std::span<const std::byte> read = window(file, from, extent.offset + bytes - from, file_bytes);
    if (read.empty()) {
        damaged(FindingKind::data_wrong, facts, extent, "the record cannot be read");
        return;
    }
    const auto footer = parse_footer(read.last(kBlockBytes), volume_.volume_id());
    if (!footer) {
        damaged(FindingKind::footer_wrong, facts, extent, "no footer of this volume lies behind the payload");
        return;
    }
    if (footer->inode != extent.inode || footer->segment != extent.segment || footer->offset != extent.offset ||
        footer->payload_bytes != extent.payload_bytes || footer->file_offset != extent.file_offset ||
        footer->payload_crc != extent.payload_crc) {
        damaged(FindingKind::footer_wrong, facts, extent,
                "the footer is of another record: inode " + std::to_string(footer->inode) + ", byte " +
                    std::to_string(footer->file_offset) + ", " + std::to_string(footer->payload_bytes) +
                    " bytes, CRC " + std::to_string(footer->payload_crc) + "; expected inode " +
                    std::to_string(extent.inode) + ", CRC " + std::to_string(extent.payload_crc));
        return;
    }
    if (!options_.data) return;
    std::vector<std::uint32_t> crcs;
    append_block_crcs(read.first(extent.payload_bytes), crcs);
    if (crc_of_crcs(crcs) != extent.payload_crc)
        damaged(FindingKind::data_wrong, facts, extent, "the payload's CRC does not hold");
}

} // namespace feedbench::feedfs
