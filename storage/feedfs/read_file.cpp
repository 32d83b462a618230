// Files open for reading.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/extent_reader.hpp"
#include "storage/feedfs/filesystem_parts.hpp"

namespace feedbench::feedfs {

namespace {

class OpenFile final : public ReadFile {
  public:
    OpenFile(VolumeFileSystem& filesystem, Inode inode, InodeId parent, std::string name)
        : filesystem_(filesystem), parent_(parent), name_(std::move(name)), content_(std::exchange(inode.content, {})),
          inode_(std::move(inode)) {
        settle();
    }
    const Inode& inode() const override { return inode_; }

    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) override {
        const std::uint64_t room = into.size();
        if (offset >= inode_.size_bytes) return std::uint64_t{0};
        into = into.first(std::min<std::uint64_t>(into.size(), inode_.size_bytes - offset));
        std::uint64_t done = 0;
        while (done < into.size()) {
            auto found = find(offset + done);
            if (!found) return found.error();
            const std::uint64_t from = offset + done - found->begin;
            const std::uint64_t count = std::min<std::uint64_t>(found->extent.payload_bytes - from, into.size() - done);
            const ExtentPart part{.extent = &found->extent,
                                  .crcs = filesystem_.verifies() ? found->crcs.data() : nullptr,
                                  .from = from,
                                  .into = into.subspan(done, count),
                                  .room_bytes = done + count == into.size() ? room - done : count};
            auto status = read_extent(*found->file, part, filesystem_.memory());
            // Damaged in the fast tier: the object tier may have it whole.
            if (!status && status.error().errno_value == EIO)
                if (auto origin = filesystem_.segments().open_origin(found->extent.segment))
                    if (auto again = read_extent(**origin, part, filesystem_.memory())) status = std::move(again);
            if (!status) {
                status.error().path = name_ + " (" + status.error().path + ")";
                return status.error();
            }
            done += count;
        }
        return done;
    }

    Status locate(std::uint64_t offset, std::uint64_t bytes, std::vector<Location>& pieces) override {
        pieces.clear();
        if (offset >= inode_.size_bytes) return {};
        bytes = std::min(bytes, inode_.size_bytes - offset);
        for (std::uint64_t done = 0; done < bytes;) {
            auto found = find(offset + done);
            if (!found) return found.error();
            Location piece;
            piece.segment = found->extent.segment;
            piece.file = std::move(found->file);
            piece.file_offset = offset + done;
            piece.offset = found->extent.offset + (piece.file_offset - found->begin);
            piece.bytes = std::min(found->extent.payload_bytes - (piece.file_offset - found->begin), bytes - done);
            done += piece.bytes;
            pieces.push_back(std::move(piece));
        }
        return {};
    }

    bool plan(std::uint64_t offset, std::uint64_t bytes, ReadPlan& plan) override {
        if (offset >= inode_.size_bytes || bytes > ReadPlan::kBytesMost) return false;
        bytes = std::min(bytes, inode_.size_bytes - offset);
        auto found = find(offset);
        if (!found) return false;
        const std::uint64_t at = offset - found->begin, payload = found->extent.payload_bytes;
        if (at + bytes > payload || found->file->descriptor(true) < 0) return false;
        plan.is_checked = filesystem_.verifies();
        const std::uint64_t unit = plan.is_checked ? kCrcBlockBytes : kBlockBytes;
        plan.from = at / unit * unit;
        plan.payload_bytes = std::min((at + bytes + unit - 1) / unit * unit, payload) - plan.from;
        if (plan.payload_bytes > ReadPlan::kBytesMost) return false;
        plan.read_bytes = (plan.payload_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
        plan.skip_bytes = at - plan.from;
        plan.useful_bytes = bytes;
        if (plan.is_checked)
            std::copy_n(found->crcs.begin() + static_cast<std::ptrdiff_t>(plan.from / kCrcBlockBytes),
                        (plan.payload_bytes + kCrcBlockBytes - 1) / kCrcBlockBytes, plan.crcs.begin());
        plan.extent = found->extent;
        plan.file = std::move(found->file);
        return true;
    }

  private:
    struct Found {
        Extent extent;
        std::vector<std::uint32_t> crcs;
        std::uint64_t begin = 0; // of the extent in the file
        std::shared_ptr<TargetFile> file;
    };

    // Where each extent begins in the file.
    void settle() {
        begins_.clear();
        std::uint64_t begin = 0;
        for (const Extent& extent : content_.extents) {
            begins_.push_back(begin);
            begin += extent.payload_bytes;
        }
        files_.assign(content_.extents.size(), nullptr);
    }

    // The extent that holds a byte, and its file, which stays open with this object: what is being read is not moved
    // away from under it. Extents are copied out, for another thread may look the entry up again meanwhile.
    Expected<Found> find(std::uint64_t offset) {
        for (int attempt = 0;; ++attempt) {
            Found found;
            std::size_t index;
            {
                const std::lock_guard lock(mutex_);
                index = static_cast<std::size_t>(std::ranges::upper_bound(begins_, offset) - begins_.begin()) - 1;
                if (begins_.empty() || offset - begins_[index] >= content_.extents[index].payload_bytes)
                    return entry_error("read", name_, EUCLEAN, "the extents do not reach the file's size");
                found.extent = content_.extents[index];
                found.begin = begins_[index];
                const auto first = content_.block_crcs.begin() + found.extent.crc_first;
                found.crcs.assign(first, first + found.extent.crc_count());
                found.file = files_[index];
            }
            if (found.file) return found;
            auto file = filesystem_.segments().open(found.extent.segment);
            if (file) {
                const std::lock_guard lock(mutex_);
                if (index < files_.size() && content_.extents[index] == found.extent) files_[index] = *file;
                found.file = std::move(*file);
                return found;
            }
            if (file.error().errno_value != ESTALE || attempt > 2) return file.error();
            if (auto status = look_again(); !status) return status.error();
        }
    }

    // Compaction has moved records: the same file lies elsewhere.
    Status look_again() {
        auto now = filesystem_.read_entry(parent_, name_);
        const bool is_same = now && now->id == inode_.id && now->size_bytes == inode_.size_bytes &&
                             now->mtime_ns == inode_.mtime_ns && now->type == InodeType::file;
        if (!is_same)
            return entry_error("read", name_, ESTALE, "the file was removed or replaced, and its segment is gone");
        const std::lock_guard lock(mutex_);
        content_ = std::move(now->content);
        settle();
        return {};
    }

    VolumeFileSystem& filesystem_;
    const InodeId parent_;
    const std::string name_;
    std::mutex mutex_;
    ExtentList content_; // of inode_, which keeps its attributes
    const Inode inode_;
    std::vector<std::uint64_t> begins_;
    std::vector<std::shared_ptr<TargetFile>> files_;
};

} // namespace

Status ReadPlan::check(std::span<const std::byte> payload) const {
    if (!is_checked) return {};
    Extent rest = extent; // as if it began where the read does
    rest.offset += from;
    return verify_blocks(rest, crcs.data(), 0, payload);
}

Expected<Inode> VolumeFileSystem::read_entry(InodeId parent, std::string_view name) {
    auto view = metadata_->read();
    if (!view) return view.error();
    std::string value;
    Inode inode;
    auto found = get_entry(**view, entry_key(parent, name), value, inode);
    if (!found) return found.error();
    if (!*found) return entry_error("open", name, ENOENT);
    if (inode.extents_in_pages) {
        if (auto status = read_extents(**view, inode, 0, inode.size_bytes, inode.content); !status)
            return status.error();
        inode.extents_in_pages = false;
    }
    return inode;
}

Expected<std::shared_ptr<ReadFile>> VolumeFileSystem::open_read(InodeId parent, std::string_view name) {
    auto inode = read_entry(parent, name);
    if (!inode) return inode.error();
    return open_read(std::move(*inode), parent, name);
}

Expected<std::shared_ptr<ReadFile>> VolumeFileSystem::open_read(Inode inode, InodeId parent, std::string_view name) {
    if (inode.type == InodeType::directory) return entry_error("open", name, EISDIR);
    if (inode.type == InodeType::symlink) return entry_error("open", name, ELOOP, "a symbolic link");
    if (inode.extents_in_pages) {
        auto whole = read_entry(parent, name);
        if (!whole) return whole.error();
        if (whole->id != inode.id) return entry_error("open", name, ESTALE, "the file was replaced meanwhile");
        return std::shared_ptr<ReadFile>(
            std::make_shared<OpenFile>(*this, std::move(*whole), parent, std::string(name)));
    }
    return std::shared_ptr<ReadFile>(std::make_shared<OpenFile>(*this, std::move(inode), parent, std::string(name)));
}

} // namespace feedbench::feedfs
