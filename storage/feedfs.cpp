// feedfs: the project's own filesystem, without a mount: "feedfs:VOLUME" or "feedfs:VOLUME/folder/of/it".
//
// open: one look-up in the metadata engine, in place. read: by the ring, from the segment into the caller's memory
// (feedfs_reads.cpp). What is written is published in groups (feedfs_writes.cpp).
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "storage/feedfs_backend.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;
using feedfs::InodeType;

namespace {

constexpr Option kFeedfsOptions[] = {
    {"verify", OptionType::boolean, "", "true",
     "check the CRC of each 64 KiB block that a read brings whole (about 0.1 us a KiB)"},
};

constexpr std::uint64_t kSpaceLookBytes = 1 << 20; // smaller files are not worth the look

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view folder_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

FeedfsWriteFile* written_file(const IoOp& op) {
    auto& file = static_cast<FeedfsFile&>(*op.file);
    return file.is_written ? static_cast<FeedfsWriteFile*>(&file) : nullptr;
}

// Of a file that is being created and not yet committed.
FeedfsWriteFile* open_for_writing(const IoOp& op) {
    auto* const file = written_file(op);
    return file && file->writer && !file->committed ? file : nullptr;
}

} // namespace

FeedfsBackend::FeedfsBackend(std::unique_ptr<feedfs::FileSystem> filesystem, Place place, engine::Reactor& reactor,
                             FeedfsSettings settings, std::shared_ptr<FeedfsCachePlaces> cache_places)
    : filesystem_(std::move(filesystem)), place_(std::move(place)), settings_(settings),
      cache_places_(std::move(cache_places)), reads_(*filesystem_, reactor, settings),
      writes_(*filesystem_, reactor, settings) {
    capabilities_.name = "feedfs";
    capabilities_.direct_io = true;
    capabilities_.page_cached = !settings.direct;
    capabilities_.alignment_bytes = settings.direct ? feedfs::kBlockBytes : 1;
    capabilities_.can_write = !filesystem_->read_only();
}

Submit FeedfsBackend::submit(IoOp& op) {
    op.result = 0;
    switch (op.kind) {
    case IoKind::open:
        open(op);
        return Submit::done;
    case IoKind::create:
        create(op);
        return Submit::done;
    case IoKind::read:
        if (!written_file(op)) return reads_.submit(op);
        break;
    case IoKind::write:
        if (open_for_writing(op)) return writes_.write(op);
        break;
    case IoKind::flush:
        return open_for_writing(op) ? writes_.flush(op) : Submit::done;
    case IoKind::commit:
        if (written_file(op)) return writes_.commit(op);
        op.result = -EINVAL;
        op.message = "commit of a file that is not being created";
        return Submit::done;
    case IoKind::close:
        if (written_file(op)) writes_.close(op);
        return Submit::done;
    }
    op.result = -EBADF;
    op.message = "files of feedfs are either being created or open for reading";
    return Submit::done;
}

const feedfs::InodeId* FeedfsBackend::known_folder(std::string_view path, std::uint64_t state) const {
    if (state == 0 || state != folders_state_) return nullptr;
    const auto found = folders_.find(folder_name(path));
    return found == folders_.end() ? nullptr : &found->second;
}

Expected<feedfs::InodeId> FeedfsBackend::folder_of(std::string_view path, std::uint64_t state) {
    if (const auto* known = known_folder(path, state)) return *known;
    const std::string folder(folder_name(path));
    auto found = filesystem_->resolve(full(folder));
    if (!found && found.error().errno_value == ENOENT) { // a file of this name may be about to be published
        writes_.settle_name(folder);
        found = filesystem_->resolve(full(folder));
    }
    if (!found) return found.error();
    if (found->inode.type != InodeType::directory) return storage_error("lookup", folder, ENOTDIR);
    if (state != folders_state_ || folders_.size() >= kFoldersMost) folders_.clear();
    folders_state_ = state;
    folders_[folder] = found->inode.id;
    return found->inode.id;
}

void FeedfsBackend::open(IoOp& op) {
    if (cache_places_->metadata_is_cold.load(std::memory_order_relaxed)) prefetch_metadata();
    if (writes_.has_late_names()) writes_.settle_name(std::string(op.path));
    auto file = std::make_unique<FeedfsReadFile>(unused_);
    FeedfsOpened& opened = *file->opened;
    if (auto status = look_up(op.path, opened); !status) return set_feedfs_error(op, status.error());
    const auto& extents = opened.inode.content.extents;
    opened.begins.clear();
    if (extents.size() > 1) {
        std::uint64_t begin = 0;
        for (const feedfs::Extent& extent : extents) {
            opened.begins.push_back(begin);
            begin += extent.payload_bytes;
        }
    }
    opened.files.resize(extents.size());
    file->size_bytes = opened.inode.size_bytes;
    file->alignment_bytes = settings_.direct ? feedfs::kBlockBytes : 1;
    op.opened = std::move(file);
}

Status FeedfsBackend::look_up(std::string_view path, FeedfsOpened& file) {
    file.name = name_of(path);
    if (file.name.size() > feedfs::kNameBytesMax) return storage_error("open", file.name, ENAMETOOLONG);
    // Where the metadata is still as it was, which the view will tell, the folder is known; to get a view takes as long
    // as to fetch from memory.
    const auto* known = known_folder(path, folders_state_);
    if (known) entries_.prefetch(*known, file.name);
    auto view = filesystem_->metadata().read();
    if (!view) return view.error();
    std::uint64_t state = (*view)->state_number();
    if (known && state == folders_state_)
        file.parent = *known;
    else {
        view->reset(); // one view at a time
        auto folder = folder_of(path, state);
        if (!folder) return folder.error();
        file.parent = *folder;
        view = filesystem_->metadata().read();
        if (!view) return view.error();
        state = (*view)->state_number();
    }
    if (entries_.find(state, file.parent, file.name, file.inode)) return {};
    feedfs::entry_key(file.parent, file.name, key_);
    auto bytes = (*view)->get(key_);
    if (!bytes) return bytes.error();
    if (!*bytes) return storage_error("open", file.name, ENOENT);
    if (auto status = feedfs::decode_inode(**bytes, file.inode); !status) return status;
    entries_.read_ahead(**view, file.parent, file.name, file.inode);
    if (file.inode.type == InodeType::symlink) {
        view->reset();
        auto target = filesystem_->resolve(full(std::string(path)));
        if (!target) return target.error();
        file.parent = target->parent;
        file.name = target->name;
        file.inode = std::move(target->inode);
        view = filesystem_->metadata().read();
        if (!view) return view.error();
    }
    if (file.inode.type == InodeType::directory) return storage_error("open", file.name, EISDIR);
    if (!file.inode.extents_in_pages) return {};
    auto status = feedfs::read_extents(**view, file.inode, 0, file.inode.size_bytes, file.inode.content);
    file.inode.extents_in_pages = false;
    return status;
}

void FeedfsBackend::create(IoOp& op) {
    if (writes_.is_refused(op)) return;
    auto file = std::make_unique<FeedfsWriteFile>();
    std::uint64_t state = 0;
    {
        auto view = filesystem_->metadata().read();
        if (!view) return set_feedfs_error(op, view.error());
        state = (*view)->state_number();
    }
    auto folder = folder_of(op.path, state);
    if (!folder) return set_feedfs_error(op, folder.error());
    file->parent = *folder;
    file->name = name_of(op.path);
    file->path = op.path;
    file->planned_bytes = op.size_hint;
    if (op.size_hint >= kSpaceLookBytes)
        if (auto space = filesystem_->space(); space && space->free_bytes < op.size_hint) {
            op.result = -ENOSPC;
            op.message = "the file needs " + std::to_string(op.size_hint) + " bytes and " +
                         std::to_string(space->free_bytes) + " are free";
            return;
        }
    auto writer = filesystem_->create(file->parent, file->name, {.entry = {.mode = 0666}, .size_hint = op.size_hint});
    if (!writer) return set_feedfs_error(op, writer.error());
    file->writer = std::move(*writer);
    file->alignment_bytes = settings_.direct ? feedfs::kBlockBytes : 1;
    op.opened = std::move(file);
}

namespace {

// "VOLUME/folder": the volume is the nearest folder on the way up that holds a volume.yaml.
std::pair<std::string, std::string> split_place(const std::string& place) {
    std::error_code code;
    std::filesystem::path folder = std::filesystem::absolute(place, code).lexically_normal(), rest;
    if (!folder.has_filename()) folder = folder.parent_path();
    for (std::filesystem::path at = folder; at.has_relative_path(); at = at.parent_path()) {
        if (std::filesystem::exists(at / feedfs::kVolumeFile, code)) return {at.string(), rest.string()};
        rest = rest.empty() ? at.filename() : at.filename() / rest;
    }
    return {folder.string(), {}};
}

CacheDrop drop_of(const std::string& folder, engine::Reactor* reactor) {
    BackendRequest request;
    request.uri = folder;
    request.reactor = reactor;
    request.io_engine = IoEngine::threads;
    auto posix = make_backend(request);
    return posix ? (*posix)->cache_drop() : CacheDrop{};
}

} // namespace

std::span<const Option> feedfs_options() { return kFeedfsOptions; }

Expected<std::unique_ptr<Backend>> make_feedfs_backend(const BackendRequest& request) {
    if (!request.reactor || request.reactor->clock().is_virtual())
        return config_error("real storage cannot run under the virtual clock; use null: or model:", request.uri);
    FeedfsSettings settings;
    settings.direct = request.odirect;
    settings.verify = request.options.at("verify") == "true";
    settings.uses_ring = request.io_engine == IoEngine::uring;
    settings.threads = std::max(request.io_threads, 1U);
    if (settings.uses_ring && !request.reactor->uring())
        return config_error("reader.io_engine=uring is asked for, and this process has no ring", request.uri);
    const auto [volume, base] = split_place(request.root);
    auto filesystem = feedfs::FileSystem::open(volume, {.verify = settings.verify, .purpose = "feedbench"});
    if (!filesystem && (filesystem.error().errno_value == EROFS || filesystem.error().errno_value == EACCES))
        filesystem = feedfs::FileSystem::open(volume, {.read_only = true, .verify = settings.verify});
    if (!filesystem) return filesystem.error();
    auto places = std::make_shared<FeedfsCachePlaces>();
    places->direct = settings.direct;
    places->host = drop_of(volume, request.reactor);
    if (const auto& config = (*filesystem)->volume(); config.metadata_engine == "lmdb")
        places->metadata_file = config.absolute_place(config.metadata_place) + "/data.mdb";
    for (const auto& target : (*filesystem)->volume().targets)
        if (target.tier == feedfs::Tier::fast) {
            const std::string folder = (*filesystem)->volume().absolute_place(target.place);
            if (auto drop = drop_of(folder, request.reactor)) places->targets.emplace_back(folder, std::move(drop));
        }
    return std::unique_ptr<Backend>(
        std::make_unique<FeedfsBackend>(std::move(*filesystem), FeedfsBackend::Place{base, "feedfs:" + request.root},
                                        *request.reactor, settings, std::move(places)));
}

} // namespace feedbench::storage
