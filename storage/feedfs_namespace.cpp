// The namespace half of feedfs: outside measured time, library calls.
#include <cerrno>
#include <filesystem>

#include "storage/feedfs/metadata/read_ahead.hpp"
#include "storage/feedfs_backend.hpp"
#include "storage/mounts.hpp"

namespace feedbench::storage {

using feedfs::InodeType;

namespace {

constexpr feedfs::NewEntry kFolder{.mode = 0777, .uid = 0, .gid = 0};

// A file's pages are those of the segments that it lies in, with others': all of them go, once in a few seconds.
DropOutcome drop_segments(FeedfsCachePlaces& places) {
    constexpr std::uint64_t kAgainNs = 5'000'000'000;
    if (places.dropped_ns != 0 && engine::monotonic_ns() - places.dropped_ns < kAgainNs) return DropOutcome::dropped;
    for (const auto& [folder, drop] : places.targets) {
        std::error_code code;
        for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
            if (const auto outcome = drop(at->path().filename().string()); outcome != DropOutcome::dropped)
                return outcome;
    }
    places.dropped_ns = engine::monotonic_ns();
    return DropOutcome::dropped;
}

} // namespace

Error FeedfsBackend::failed(const char* operation, const std::string& path, Error error) const {
    error.operation = operation;
    error.path = display_path(path);
    return error;
}

Expected<FileStat> FeedfsBackend::stat(const std::string& path) {
    writes_.settle_name(path);
    auto found = filesystem_->resolve(full(path));
    if (!found) return failed("stat", path, found.error());
    const bool is_directory = found->inode.type == InodeType::directory;
    return FileStat{.size_bytes = is_directory ? 0 : found->inode.size_bytes, .is_directory = is_directory};
}

Status FeedfsBackend::list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) {
    writes_.settle_name({});
    auto found = filesystem_->resolve(full(path));
    if (!found) return failed("list", path, found.error());
    if (found->inode.type != InodeType::directory) return storage_error("list", display_path(path), ENOTDIR);
    constexpr std::size_t kPage = 4096;
    std::vector<feedfs::DirectoryEntry> entries;
    std::string after;
    do {
        if (auto status = filesystem_->read_directory(found->inode.id, after, kPage, entries); !status)
            return failed("list", path, status.error());
        for (const auto& entry : entries) {
            bool is_directory = entry.inode.type == InodeType::directory;
            if (entry.inode.type == InodeType::symlink) {
                auto target = filesystem_->resolve(full(path) + "/" + entry.name);
                is_directory = target && target->inode.type == InodeType::directory;
            }
            if (!each(entry.name, is_directory)) return {};
        }
        if (!entries.empty()) after = entries.back().name;
    } while (entries.size() == kPage);
    return {};
}

Status FeedfsBackend::make_directories(const std::string& path) {
    if (auto status = filesystem_->make_directories(full(path), kFolder); !status)
        return failed("mkdir", path, status.error());
    return {};
}

Status FeedfsBackend::remove(const std::string& path) {
    writes_.settle_name({});
    auto found = filesystem_->resolve_parent(full(path));
    if (!found) return failed("remove", path, found.error());
    auto status = found->inode.type == InodeType::directory && found->inode.id != 0
                      ? filesystem_->remove_directory(found->parent, found->name)
                      : filesystem_->unlink(found->parent, found->name);
    if (!status) return failed("remove", path, status.error());
    return {};
}

Status FeedfsBackend::settle() {
    auto status = writes_.settle();
    if (!status) return failed("commit", status.error().path, status.error());
    return {};
}

Status FeedfsBackend::write_file(const std::string& path, std::span<const std::byte> content) {
    writes_.settle_name(path);
    if (auto late = writes_.late_status(); !late) return failed("commit", late.error().path, late.error());
    auto found = filesystem_->resolve_parent(full(path));
    if (!found) return failed("create", path, found.error());
    auto writer = filesystem_->create(found->parent, found->name, {.size_hint = content.size()});
    if (!writer) return failed("create", path, writer.error());
    auto status = (*writer)->append(content);
    if (status) status = filesystem_->publish(**writer, feedfs::Publish::durable);
    if (!status) return failed("write", path, status.error());
    return {};
}

Expected<std::string> FeedfsBackend::read_file(const std::string& path, std::uint64_t limit_bytes) {
    writes_.settle_name(path);
    auto file = filesystem_->open_read(full(path));
    if (!file) return failed("open", path, file.error());
    const std::uint64_t size = (*file)->inode().size_bytes;
    if (size > limit_bytes)
        return storage_error("read", display_path(path), EFBIG,
                             "larger than " + std::to_string(limit_bytes) + " bytes");
    std::string content(size, '\0');
    auto got = (*file)->read(0, std::as_writable_bytes(std::span(content)));
    if (!got) return failed("read", path, got.error());
    content.resize(*got);
    return content;
}

Expected<FilesystemFacts> FeedfsBackend::facts(const std::string&) {
    auto space = filesystem_->space();
    if (!space) return space.error();
    const feedfs::VolumeConfig& volume = filesystem_->volume();
    FilesystemFacts facts;
    facts.type = "feedfs";
    facts.free_bytes = space->free_bytes;
    facts.total_bytes = space->total_bytes;
    facts.filesystem_id = volume.volume_id();
    facts.is_memory = true;
    for (const auto& target : volume.targets) { // what it lies on
        if (target.tier != feedfs::Tier::fast) continue;
        auto below = filesystem_at(volume.absolute_place(target.place));
        if (!below) continue;
        if (facts.device.empty()) facts.device = below->device;
        facts.is_memory = facts.is_memory && below->is_memory;
        facts.is_network = facts.is_network || below->is_network;
    }
    facts.mount_options = "metadata=" + filesystem_->metadata().properties().engine +
                          ",chunk=" + std::to_string(volume.chunk_bytes) + (settings_.verify ? ",verify" : ",noverify");
    return facts;
}

void FeedfsBackend::prefetch_metadata() {
    constexpr std::uint64_t kMostBytes = 256 << 20;
    cache_places_->metadata_is_cold.store(false, std::memory_order_relaxed);
    if (!cache_places_->metadata_file.empty()) feedfs::read_metadata_ahead(cache_places_->metadata_file, kMostBytes);
}

CacheDrop FeedfsBackend::cache_drop() const {
    if (!cache_places_->host) return {}; // memory: the pages are the files
    return [places = cache_places_](const std::string& path) {
        if (path.empty()) {
            const auto outcome = places->host("");
            places->metadata_is_cold.store(true, std::memory_order_relaxed);
            return outcome;
        }
        if (places->direct) return DropOutcome::dropped; // its data never was in the page cache
        return drop_segments(*places);
    };
}

} // namespace feedbench::storage
