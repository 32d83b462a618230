// fsck's first step: all tables, in one state of the metadata.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/fsck_run.hpp"
#include "storage/feedfs/record.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::size_t kTellEvery = 50'000; // entries
} // namespace

Status FsckRun::scan(ReadView& view, const KeyRange& range, const ScanVisitor& visit) {
    KeyRange rest = range;
    for (bool complete = false; !complete;) {
        auto end = view.scan(rest, kTellEvery, visit);
        if (!end) return end.error();
        complete = end->complete;
        rest.from = std::move(end->next_key);
        const std::uint64_t entries = report_.files + report_.directories + report_.symlinks;
        if (auto told = tell("metadata", entries, 0); !told) return told;
    }
    return {};
}

Status FsckRun::read_tables() {
    auto view = metadata_->read();
    if (!view) return view.error();
    if (auto status = read_rows(**view); !status) return status;
    if (auto status = read_entries(**view); !status) return status;
    if (auto status = read_extent_pages(**view); !status) return status;
    view->reset();
    check_inode_ids();
    check_totals();
    check_counter(kInodeCounter, inode_ids_.empty() ? 0 : inode_ids_.back());
    check_counter(kSegmentCounter, segments_.empty() ? 0 : segments_.rbegin()->first);
    check_counter(kLeaseCounter, std::max(leases_.empty() ? 0 : leases_.rbegin()->first,
                                          dead_leases_.empty() ? 0 : dead_leases_.rbegin()->first));
    return {};
}

Status FsckRun::read_rows(ReadView& view) {
    const auto broken = [this](std::string_view key, const Error& error) {
        is_incomplete_ = true;
        found(FindingKind::record_damaged, {.kind = {},
                                            .path = {},
                                            .segment = 0,
                                            .offset = 0,
                                            .message = "table " + std::string(key.substr(0, 1)) + ", row " +
                                                       std::to_string(id_of_key(key)) + ": " + error.message});
        return true;
    };
    Status status = scan(view, all_segments(), [&](std::string_view key, std::string_view value) {
        auto row = decode_segment(value);
        if (!row) return broken(key, row.error());
        SegmentFacts& facts = segments_[id_of_key(key)];
        facts.row = *row;
        facts.row_bytes = value;
        return true;
    });
    if (status)
        status = scan(view, all_live(), [&](std::string_view key, std::string_view value) {
            segments_[id_of_key(key)].live_row = std::string(value);
            return true;
        });
    if (status)
        status = scan(view, all_retired(), [&](std::string_view key, std::string_view value) {
            SegmentFacts& facts = segments_[id_of_key(key)];
            facts.retired = true;
            facts.retired_row = value;
            return true;
        });
    if (status)
        status = scan(view, all_leases(), [&](std::string_view key, std::string_view value) {
            auto lease = decode_lease(value);
            if (!lease) return broken(key, lease.error());
            const bool lives = is_alive(*lease);
            report_.living_writers += lives ? 1 : 0;
            leases_[id_of_key(key)] = {std::move(*lease), lives};
            return true;
        });
    if (status)
        status = scan(view, all_directories(), [&](std::string_view key, std::string_view value) {
            directories_[id_of_key(key)].row = std::string(value);
            return true;
        });
    if (status)
        status = scan(view, all_directory_times(), [&](std::string_view key, std::string_view value) {
            timed_directories_.emplace_back(id_of_key(key), decode_counters(value).size() == 2);
            return true;
        });
    if (status)
        status = scan(view, keys_with_prefix("C"), [&](std::string_view key, std::string_view value) {
            counters_[std::string(key.substr(1))] = value;
            return true;
        });
    return status;
}

Status FsckRun::read_entries(ReadView& view) {
    Status noted;
    Status scanned = scan(view, all_entries(), [&](std::string_view key, std::string_view value) {
        noted = note_entry(key, value);
        return noted.has_value();
    });
    return noted ? scanned : noted;
}

Status FsckRun::note_entry(std::string_view key, std::string_view value) {
    const InodeId parent = parent_of_entry_key(key);
    const Entry entry{parent, std::string(name_of_entry_key(key))};
    const bool is_root = parent == 0;
    Inode inode;
    if (auto decoded = decode_inode(value, inode); !decoded) {
        is_incomplete_ = true; // its extents are not known
        found(FindingKind::record_damaged,
              {.kind = {}, .path = path_of(entry), .segment = 0, .offset = 0, .message = decoded.error().message});
        return {};
    }
    inode_ids_.push_back(inode.id);
    if (!is_root) parents_.insert(parent);
    if (inode.type == InodeType::directory) {
        DirectoryFacts& facts = directories_[inode.id];
        facts.parent = parent;
        facts.name = entry.name;
        facts.has_entry = true;
        root_is_there_ = root_is_there_ || (is_root && inode.id == kRootInode);
        report_.directories += is_root ? 0 : 1;
        return {};
    }
    if (inode.type == InodeType::symlink) {
        ++report_.symlinks;
        return {};
    }
    ++report_.files;
    report_.payload_bytes += inode.size_bytes;
    if (inode.extent_count == 0 && inode.size_bytes == 0) return {};
    if (entries_.size() >= UINT32_MAX) return storage_error("fsck", {}, EFBIG, "more than 4,294,967,295 files");
    const auto index = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back(entry);
    if (inode.extents_in_pages)
        paged_.emplace_back(std::move(inode), index); // a view answers one question at a time
    else
        note_extents(inode, inode.content, index);
    return {};
}

void FsckRun::note_extents(const Inode& inode, const ExtentList& list, std::uint32_t entry) {
    std::uint64_t file_offset = 0;
    for (const Extent& extent : list.extents) {
        const std::span<const std::uint32_t> crcs(list.block_crcs.data() + extent.crc_first, extent.crc_count());
        extents_.push_back(
            {extent.segment, extent.offset, file_offset, inode.id, extent.payload_bytes, crc_of_crcs(crcs), entry});
        file_offset += extent.payload_bytes;
        SegmentFacts& facts = segments_[extent.segment];
        facts.live_bytes += extent.payload_bytes;
        ++facts.live_records;
        facts.live_end = std::max(facts.live_end, extent.offset + record_bytes(extent.payload_bytes));
    }
    if (file_offset != inode.size_bytes)
        found(FindingKind::record_damaged, {.kind = {},
                                            .path = path_of(entries_[entry]),
                                            .segment = 0,
                                            .offset = 0,
                                            .message = "the file has " + std::to_string(inode.size_bytes) +
                                                       " bytes, its extents hold " + std::to_string(file_offset)});
}

Status FsckRun::read_extent_pages(ReadView& view) {
    std::unordered_set<InodeId> named;
    for (const auto& [inode, entry] : paged_) {
        named.insert(inode.id);
        ExtentList list;
        if (auto read = read_extents(view, inode, 0, inode.size_bytes, list); !read) {
            if (read.error().errno_value != EUCLEAN && read.error().errno_value != EPROTONOSUPPORT) return read;
            is_incomplete_ = true;
            found(FindingKind::record_damaged, {.kind = {},
                                                .path = path_of(entries_[entry]),
                                                .segment = 0,
                                                .offset = 0,
                                                .message = read.error().message});
            continue;
        }
        note_extents(inode, list, entry);
    }
    std::unordered_map<InodeId, std::uint64_t> unnamed;
    auto scanned = scan(view, all_extent_pages(), [&](std::string_view key, std::string_view) {
        const InodeId inode = id_of_key(key);
        if (!named.contains(inode)) ++unnamed[inode];
        return true;
    });
    if (!scanned || is_incomplete_) return scanned;
    for (const auto& [inode, pages] : unnamed) {
        Repair& repair =
            found(FindingKind::pages_unnamed, {.kind = {},
                                               .path = {},
                                               .segment = 0,
                                               .offset = 0,
                                               .message = std::to_string(pages) + " pages of extents of inode " +
                                                          std::to_string(inode) + ", which no entry has"});
        repair.batch.erase_range(extent_pages_of(inode));
    }
    return {};
}

void FsckRun::check_inode_ids() {
    std::sort(inode_ids_.begin(), inode_ids_.end());
    for (std::size_t i = 1; i < inode_ids_.size(); ++i)
        if (inode_ids_[i] == inode_ids_[i - 1])
            found(FindingKind::inode_id_twice,
                  {.kind = {},
                   .path = {},
                   .segment = 0,
                   .offset = 0,
                   .message = "two entries have inode id " + std::to_string(inode_ids_[i])});
}

std::uint64_t FsckRun::counter(std::string_view name) const {
    const auto at = counters_.find(std::string(name));
    if (at == counters_.end()) return 0;
    const auto values = decode_counters(at->second);
    return values.empty() || values[0] < 0 ? 0 : static_cast<std::uint64_t>(values[0]);
}

void FsckRun::check_counter(std::string_view name, std::uint64_t largest) {
    const std::uint64_t handed_out = counter(name);
    if (handed_out >= largest) return;
    Repair& repair =
        found(FindingKind::counter_behind,
              {.kind = {},
               .path = {},
               .segment = 0,
               .offset = 0,
               .message = "the counter of " + std::string(name) + " ids stands at " + std::to_string(handed_out) +
                          ", but id " + std::to_string(largest) + " is in use"});
    const std::int64_t missing[] = {static_cast<std::int64_t>(largest - handed_out)};
    repair.batch.add(counter_key(name), missing);
}

void FsckRun::check_totals() {
    if (is_incomplete_) return; // the sums would lack what could not be read
    const std::vector<std::int64_t> expected{
        static_cast<std::int64_t>(report_.files), static_cast<std::int64_t>(report_.directories),
        static_cast<std::int64_t>(report_.symlinks), static_cast<std::int64_t>(report_.payload_bytes)};
    auto stored = decode_counters(counters_[std::string(kTotals)]);
    stored.resize(expected.size());
    if (stored == expected) return;
    std::vector<std::int64_t> deltas;
    std::string is, should;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        deltas.push_back(expected[i] - stored[i]);
        is += " " + std::to_string(stored[i]);
        should += " " + std::to_string(expected[i]);
    }
    Repair& repair = found(FindingKind::totals_wrong, {.kind = {},
                                                       .path = {},
                                                       .segment = 0,
                                                       .offset = 0,
                                                       .message = "files, directories, symlinks, bytes are counted as" +
                                                                  is + ", there are" + should});
    repair.batch.add(counter_key(kTotals), deltas);
}

} // namespace feedbench::feedfs
