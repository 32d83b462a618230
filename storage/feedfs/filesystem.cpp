#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "harness/engine/clock.hpp"
#include "storage/feedfs/filesystem_parts.hpp"
#include "storage/feedfs/lease.hpp"
#include "storage/feedfs/target_mark.hpp"
#include "storage/feedfs/tier_read.hpp"

namespace feedbench::feedfs {

namespace {

// Twice as many each time: taking ids is a durable commit, and who has made many files will make more.
constexpr std::uint64_t kInodesFirst = 4096, kInodesMost = 1 << 20;

MetadataPlace metadata_place(const VolumeConfig& volume) {
    MetadataPlace place;
    place.engine = volume.metadata_engine;
    place.place =
        volume.metadata_engine == "lmdb" ? volume.absolute_place(volume.metadata_place) : volume.metadata_place;
    place.volume_id = volume.uuid;
    place.options = volume.metadata_options;
    return place;
}

} // namespace

Expected<std::shared_ptr<ReadFile>> FileSystem::open_read(std::string_view path) {
    auto found = resolve(path);
    if (!found) return found.error();
    return open_read(found->parent, found->name);
}

Status FileSystem::publish(Writer& writer, Publish how) {
    Writer* const one = &writer;
    return publish(std::span<Writer* const>(&one, 1), how).front();
}

Expected<std::unique_ptr<FileSystem>> FileSystem::assemble(VolumeConfig volume,
                                                           std::vector<std::shared_ptr<Target>> targets,
                                                           std::shared_ptr<MetadataEngine> metadata,
                                                           OpenOptions options) {
    if (auto status = check_volume(volume); !status) return status.error();
    if (!options.now_ns) options.now_ns = engine::unix_time_ns;
    auto fetcher = make_read_through(targets, volume, {.keeps_in_fast_tier = !options.read_only});
    auto made = std::make_unique<VolumeFileSystem>(std::move(volume), std::move(targets), std::move(metadata),
                                                   std::move(options));
    if (fetcher) made->segments().set_fetcher(std::move(fetcher));
    return std::unique_ptr<FileSystem>(std::move(made));
}

Expected<std::unique_ptr<FileSystem>> FileSystem::open(const std::string& place, OpenOptions options) {
    auto volume = load_volume(place);
    if (!volume) return volume.error();
    if (auto status = check_target_marks(*volume); !status) return status.error();
    if (!options.read_only)
        if (auto status = finish_marks(*volume); !status) return status.error();
    auto metadata = open_metadata(metadata_place(*volume),
                                  options.read_only ? OpenMode::read_only : OpenMode::read_write, options.warn);
    if (!metadata) return metadata.error();
    auto targets = make_targets(*volume);
    return assemble(std::move(*volume), std::move(targets), std::move(*metadata), std::move(options));
}

Expected<VolumeConfig> FileSystem::make(const std::string& folder, VolumeConfig config, NewEntry root) {
    TargetMarks marks;
    const bool chooses_uuid = config.uuid.empty();
    auto volume = make_volume(folder, std::move(config), marks);
    if (!volume) return volume.error();
    // No volume without its metadata: what cannot be initialised is taken back.
    const auto undone = [&](Error error) {
        ::unlink((volume->folder + "/" + kVolumeFile).c_str());
        return error;
    };
    auto metadata = open_metadata(metadata_place(*volume), OpenMode::create);
    if (!metadata && metadata.error().errno_value == EEXIST && chooses_uuid) {
        // With this very uuid: of a mkfs that was killed, which this one takes over.
        if (auto left = open_metadata(metadata_place(*volume), OpenMode::read_write)) metadata = std::move(left);
    }
    if (!metadata) return undone(metadata.error());
    Batch left; // of such a one; as a rule there is nothing
    left.erase(root_key());
    left.erase(directory_key(kRootInode));
    if (auto outcome = (*metadata)->apply(left, Durability::relaxed); !outcome) return undone(outcome.error());
    if (auto status = make_root(**metadata, root, engine::unix_time_ns()); !status) return undone(status.error());
    if (auto status = marks.finish(); !status) return status.error();
    return volume;
}

Status FileSystem::make_root(MetadataEngine& metadata, NewEntry entry, std::int64_t now_ns) {
    Inode root;
    root.type = InodeType::directory;
    root.id = kRootInode;
    root.mode = entry.mode & 07777;
    root.uid = entry.uid;
    root.gid = entry.gid;
    root.mtime_ns = root.ctime_ns = root.atime_ns = now_ns;
    Batch batch;
    batch.require_absent(root_key());
    put_entry(batch, root_key(), root);
    batch.put(directory_key(kRootInode), encode(DirectoryRecord{.parent = 0, .name = ""}));
    auto outcome = metadata.apply(batch, Durability::durable);
    if (!outcome) return outcome.error();
    if (!outcome->applied())
        return storage_error("mkfs", metadata.properties().place, EEXIST, "there is a root directory already");
    return {};
}

VolumeFileSystem::VolumeFileSystem(VolumeConfig volume, std::vector<std::shared_ptr<Target>> targets,
                                   std::shared_ptr<MetadataEngine> metadata, OpenOptions options)
    : volume_(std::move(volume)), options_(std::move(options)), metadata_(std::move(metadata)),
      store_(std::move(targets), metadata_) {}

Expected<VolumeFileSystem::Writing*> VolumeFileSystem::begin_writing() {
    const std::lock_guard lock(begin_mutex_);
    if (!writings_.empty() && writings_.back()->lease->check()) return writings_.back().get();
    auto lease = LeaseKeeper::take(metadata_, {.purpose = options_.purpose,
                                               .now_ns = options_.now_ns,
                                               .renewal_ns = options_.renews_lease ? kLeaseRenewalNs : 0});
    if (!lease) return lease.error();
    auto begun = std::make_unique<Writing>();
    begun->lease = std::move(*lease);
    begun->segments = std::make_unique<SegmentWriter>(store_, metadata_, volume_, *begun->lease);
    begun->context = {.volume = &volume_,
                      .volume_id = volume_.volume_id(),
                      .store = &store_,
                      .lease = begun->lease.get(),
                      .segments = begun->segments.get(),
                      .memory = &memory_,
                      .now_ns = options_.now_ns,
                      .verify = options_.verify};
    if (!writings_.empty() && options_.warn)
        options_.warn(writings_.back()->lease->lost().message + "; it writes on under lease " +
                      std::to_string(begun->lease->id()));
    writings_.push_back(std::move(begun));
    return writings_.back().get();
}

// What fails here is left to fsck, as after a crash: nothing that was published depends on it.
VolumeFileSystem::~VolumeFileSystem() {
    if (writings_.empty()) return;
    Writing& last = *writings_.back();
    Batch batch;
    SealedRows sealed;
    if (last.segments->seal()) sealed = last.segments->add_sealed_rows(batch);
    last.lease->end(batch);
    (void)metadata_->apply(batch, Durability::durable);
}

VolumeFileSystem::Writing* VolumeFileSystem::writing() {
    const std::lock_guard lock(begin_mutex_);
    return writings_.empty() ? nullptr : writings_.back().get();
}

Expected<InodeId> VolumeFileSystem::new_inode() {
    const std::lock_guard lock(inode_mutex_);
    if (next_inode_ == inodes_end_) {
        const std::uint64_t count = inodes_taken_ == 0 ? kInodesFirst : std::min(inodes_taken_ * 2, kInodesMost);
        auto first = metadata_->take_ids(kInodeCounter, count);
        if (!first) return first.error();
        next_inode_ = *first;
        inodes_end_ = next_inode_ + count;
        inodes_taken_ = count;
    }
    return next_inode_++;
}

Expected<std::unique_ptr<Writer>> VolumeFileSystem::create(InodeId parent, std::string_view name,
                                                           WriteOptions options) {
    if (options_.read_only) return entry_error("create", name, EROFS, "the volume is open for reading");
    if (auto status = check_name(name); !status) return status.error();
    auto writing = begin_writing();
    if (!writing) return writing.error();
    InodeId inode = options.inode;
    if (inode == 0) {
        auto made = new_inode();
        if (!made) return made.error();
        inode = *made;
    }
    return std::unique_ptr<Writer>(
        std::make_unique<FileWriter>((*writing)->context, inode, parent, std::string(name), options));
}

Status VolumeFileSystem::sync() {
    if (options_.read_only) return {};
    if (Writing* const now = writing())
        if (auto status = now->segments->sync(); !status) return status;
    return metadata_->sync();
}

Status VolumeFileSystem::renew_lease() {
    Writing* const now = writing();
    return now ? now->lease->renew() : Status{};
}

Status VolumeFileSystem::seal_idle() {
    Writing* const now = writing();
    if (!now) return {};
    if (auto status = now->segments->end_idle(); !status) return status;
    Batch batch;
    SealedRows sealed = now->segments->add_sealed_rows(batch);
    if (sealed.empty()) return {};
    now->lease->require(batch);
    auto outcome = metadata_->apply(batch, Durability::relaxed);
    if (!outcome) return outcome.error();
    if (!outcome->applied()) return now->lease->lost();
    sealed.applied();
    return {};
}

Expected<Space> VolumeFileSystem::space() {
    Space space;
    std::set<std::uint64_t> seen;
    for (const auto& target : store_.targets()) {
        if (target->config().tier != Tier::fast) continue;
        auto part = target->space();
        if (!part) {
            if (part.error().errno_value == ENODEV) continue; // missing: it holds no room
            return part.error();
        }
        if (!seen.insert(part->filesystem_id).second) continue;
        space.total_bytes += part->total_bytes;
        space.free_bytes += part->free_bytes;
    }
    std::string value;
    auto found = metadata_->get(counter_key(kTotals), value);
    if (!found) return found.error();
    const auto counters = *found ? decode_counters(value) : std::vector<std::int64_t>{};
    const auto at = [&](std::size_t i) { return i < counters.size() ? counters[i] : 0; };
    space.totals = {.files = at(0), .directories = at(1), .symlinks = at(2), .payload_bytes = at(3)};
    return space;
}

} // namespace feedbench::feedfs
