#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::size_t kDigits = 16;
constexpr std::string_view kEnding = ".segment";

bool is_missing(const Error& error) { return error.errno_value == ENOENT || error.errno_value == ENODEV; }

bool has_tier(const SegmentRecord& record, std::uint8_t tier) { return (record.tiers & tier) != 0; }

// To a reader ENOENT says that a name is not there, and its file's name is.
Error as_lost(Error error) {
    if (error.errno_value != ENOENT) return error;
    return storage_error("open", error.path, EIO,
                         "the metadata names this segment, but it is missing; `feedfs fsck` lists the files it held");
}
} // namespace

std::string segment_name(std::uint64_t segment) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(segment));
    return digits + std::string(kEnding);
}

std::uint64_t segment_number(const std::string& name) {
    if (name.size() != kDigits + kEnding.size() || !name.ends_with(kEnding)) return 0;
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + kDigits, number, 16);
    return code == std::errc{} && end == name.data() + kDigits && segment_name(number) == name ? number : 0;
}

SegmentStore::SegmentStore(std::vector<std::shared_ptr<Target>> targets, std::shared_ptr<MetadataEngine> metadata)
    : targets_(std::move(targets)), metadata_(std::move(metadata)) {}

Target* SegmentStore::target(std::uint32_t id) const {
    for (const auto& target : targets_)
        if (target->config().id == id) return target.get();
    return nullptr;
}

Expected<std::shared_ptr<TargetFile>> SegmentStore::open(std::uint64_t segment) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto kept = open_.find(segment); kept != open_.end()) {
            kept->second.used = ++uses_;
            return kept->second.file;
        }
    }
    auto file = open_file(segment);
    if (!file) return as_lost(file.error());
    remember(segment, *file);
    return file;
}

// Twice: the segment may be evicted or uploaded by another process between the look at its row and at its file.
Expected<std::shared_ptr<TargetFile>> SegmentStore::open_file(std::uint64_t segment) {
    const std::string name = segment_name(segment);
    Error last;
    for (int attempt = 0; attempt < 2; ++attempt) {
        std::string row;
        auto found = metadata_->get(segment_key(segment), row);
        if (!found) return found.error();
        if (!*found)
            return storage_error("open", name, ESTALE, "the segment is no more: its records lie elsewhere now");
        auto record = decode_segment(row);
        if (!record) return record.error();
        if (has_tier(*record, SegmentRecord::kFast)) {
            Target* place = target(record->target);
            if (!place)
                return storage_error("open", name, ENODEV,
                                     "it lies on target " + std::to_string(record->target) +
                                         ", which volume.yaml does not name");
            auto file = place->open(name);
            if (file || !is_missing(file.error())) return file;
            last = file.error();
        }
        std::shared_ptr<SegmentFetcher> fetcher;
        {
            const std::lock_guard lock(mutex_);
            fetcher = fetcher_;
        }
        if (has_tier(*record, SegmentRecord::kObject)) {
            if (fetcher) return fetcher->open(segment, *record);
            if (!has_tier(*record, SegmentRecord::kFast))
                last = storage_error("open", name, ENODEV, "it lies in the object tier, which is not attached");
        }
    }
    return last;
}

Expected<std::shared_ptr<TargetFile>> SegmentStore::open_origin(std::uint64_t segment) {
    const std::string name = segment_name(segment);
    std::string row;
    auto found = metadata_->get(segment_key(segment), row);
    if (!found) return found.error();
    if (!*found) return storage_error("open", name, ENOENT);
    auto record = decode_segment(row);
    if (!record) return record.error();
    const auto source = fetcher();
    if (!source || !has_tier(*record, SegmentRecord::kObject)) return storage_error("open", name, ENOENT);
    return source->open_origin(segment, *record);
}

void SegmentStore::remember(std::uint64_t segment, std::shared_ptr<TargetFile> file) {
    const std::lock_guard lock(mutex_);
    if (open_.size() >= kOpenMost && !open_.contains(segment)) {
        const auto oldest = std::min_element(
            open_.begin(), open_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
        open_.erase(oldest);
    }
    open_[segment] = {std::move(file), ++uses_};
}

void SegmentStore::forget(std::uint64_t segment) {
    const std::lock_guard lock(mutex_);
    open_.erase(segment);
}

void SegmentStore::set_fetcher(std::shared_ptr<SegmentFetcher> fetcher) {
    const std::lock_guard lock(mutex_);
    fetcher_ = std::move(fetcher);
}

std::shared_ptr<SegmentFetcher> SegmentStore::fetcher() {
    const std::lock_guard lock(mutex_);
    return fetcher_;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> SegmentStore::recent_uses() {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> uses;
    uses.reserve(open_.size());
    for (const auto& [segment, kept] : open_) uses.emplace_back(segment, kept.used);
    return uses;
}

} // namespace feedbench::feedfs
