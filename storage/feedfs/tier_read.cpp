#include "storage/feedfs/tier_read.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>

#include "storage/feedfs/tier_known.hpp"

namespace feedbench::feedfs {

namespace {

// Where a piece comes from.
struct Origin {
    std::uint64_t segment = 0, segment_bytes = 0;
    Target* target = nullptr;
};

struct Flight {
    bool landed = false;
    PiecePointer piece;
    MaybeError error;
};

class ReadThroughImpl final : public ReadThrough, public std::enable_shared_from_this<ReadThroughImpl> {
  public:
    ReadThroughImpl(std::vector<std::shared_ptr<Target>> targets, const VolumeConfig& volume,
                    ReadThroughOptions options)
        : targets_(std::move(targets)), piece_bytes_(volume.chunk_bytes), options_(options),
          files_(options.keeps_in_fast_tier ? of_tier(targets_, Tier::fast) : std::vector<std::shared_ptr<Target>>(),
                 volume.volume_id(), volume.fast_capacity_bytes),
          known_(options.memory_bytes) {}

    Expected<std::shared_ptr<TargetFile>> open(std::uint64_t segment, const SegmentRecord& row) override;
    Expected<std::shared_ptr<TargetFile>> open_origin(std::uint64_t segment, const SegmentRecord& row) override {
        for (const auto& target : targets_)
            if (target->config().id == row.object_target) return target->open(segment_name(segment));
        return storage_error("open", segment_name(segment), ENOENT);
    }
    Status read(const Origin& origin, std::uint64_t offset, std::span<std::byte> into);

    ReadThroughFigures figures() override {
        const std::lock_guard lock(mutex_);
        return figures_;
    }
    std::uint64_t cached_bytes() override {
        std::uint64_t sum = 0;
        for (const PieceFiles::Listed& one : files_.list()) sum += one.bytes;
        return sum;
    }
    Expected<std::uint64_t> shrink(std::uint64_t bytes) override;

    static std::vector<std::shared_ptr<Target>> of_tier(const std::vector<std::shared_ptr<Target>>& targets,
                                                        Tier tier) {
        std::vector<std::shared_ptr<Target>> found;
        for (const auto& target : targets)
            if (target->config().tier == tier) found.push_back(target);
        return found;
    }

  private:
    Expected<PiecePointer> piece(const Origin& origin, std::uint64_t index);
    Expected<PiecePointer> load(const Origin& origin, const PieceKey& key);
    Expected<PiecePointer> fetch(const Origin& origin, const PieceKey& key, std::uint64_t bytes);

    const std::vector<std::shared_ptr<Target>> targets_;
    const std::uint64_t piece_bytes_;
    const ReadThroughOptions options_;
    PieceFiles files_;
    BlockMemory memory_; // before the pieces that come from it
    std::mutex mutex_;
    std::condition_variable landed_;
    KnownPieces known_;
    std::map<PieceKey, std::shared_ptr<Flight>> flights_;
    ReadThroughFigures figures_;
};

class ColdFile final : public TargetFile {
  public:
    ColdFile(std::shared_ptr<ReadThroughImpl> through, Origin origin)
        : through_(std::move(through)), origin_(std::move(origin)) {}
    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
        if (offset >= origin_.segment_bytes) return std::uint64_t{0};
        const std::uint64_t length = std::min<std::uint64_t>(into.size(), origin_.segment_bytes - offset);
        if (Status ok = through_->read(origin_, offset, into.first(length)); !ok) return ok.error();
        return length;
    }
    Status write(std::uint64_t, std::span<const std::span<const std::byte>>) override { return refused("write"); }
    Status sync() override { return {}; }
    Status finish(std::uint64_t) override { return refused("truncate"); }
    Expected<std::uint64_t> size() const override { return origin_.segment_bytes; }
    int descriptor(bool /*direct*/) const override { return -1; }

  private:
    Status refused(const char* operation) const {
        return storage_error(operation, segment_name(origin_.segment), EROFS,
                             "the segment lies in the object tier, where nothing is changed");
    }
    std::shared_ptr<ReadThroughImpl> through_;
    Origin origin_;
};

Expected<std::shared_ptr<TargetFile>> ReadThroughImpl::open(std::uint64_t segment, const SegmentRecord& row) {
    for (const auto& target : targets_)
        if (target->config().id == row.object_target)
            return std::shared_ptr<TargetFile>(
                std::make_shared<ColdFile>(shared_from_this(), Origin{segment, row.bytes, target.get()}));
    return storage_error("open", segment_name(segment), ENODEV,
                         "it lies on target " + std::to_string(row.object_target) +
                             " of the object tier, which volume.yaml does not name");
}

Status ReadThroughImpl::read(const Origin& origin, std::uint64_t offset, std::span<std::byte> into) {
    while (!into.empty()) {
        const std::uint64_t index = offset / piece_bytes_, within = offset % piece_bytes_;
        const std::size_t length = std::min<std::uint64_t>(into.size(), piece_bytes_ - within);
        auto found = piece(origin, index);
        if (!found) return found.error();
        if (Status ok = (*found)->copy(within, into.first(length)); !ok) {
            // The fast tier failed: it goes without.
            const PieceKey key{origin.segment, index};
            found = fetch(origin, key, (*found)->bytes);
            if (!found) return found.error();
            if (Status again = (*found)->copy(within, into.first(length)); !again) return again;
        }
        into = into.subspan(length);
        offset += length;
    }
    return {};
}

Expected<PiecePointer> ReadThroughImpl::piece(const Origin& origin, std::uint64_t index) {
    const PieceKey key{origin.segment, index};
    std::unique_lock lock(mutex_);
    if (PiecePointer known = known_.find(key)) {
        ++(known->memory ? figures_.memory_hits : figures_.fast_hits);
        return known;
    }
    if (const auto found = flights_.find(key); found != flights_.end()) {
        const std::shared_ptr<Flight> flight = found->second;
        ++figures_.waits;
        landed_.wait(lock, [&] { return flight->landed; });
        if (flight->error) return *flight->error;
        return flight->piece;
    }
    const auto flight = std::make_shared<Flight>();
    flights_[key] = flight;
    lock.unlock();
    Expected<PiecePointer> loaded = load(origin, key);
    lock.lock();
    flight->landed = true;
    if (loaded)
        flight->piece = *loaded;
    else
        flight->error = loaded.error();
    flights_.erase(key);
    landed_.notify_all();
    return loaded;
}

// From the fast tier, if it is there and holds, else from the object tier.
Expected<PiecePointer> ReadThroughImpl::load(const Origin& origin, const PieceKey& key) {
    const std::uint64_t begin = key.piece * piece_bytes_;
    const std::uint64_t bytes = std::min(piece_bytes_, origin.segment_bytes - begin);
    PieceFiles::Found found{};
    if (auto file = files_.open(key, bytes, found)) {
        auto kept = std::make_shared<Piece>();
        kept->file = std::move(file);
        kept->bytes = bytes;
        const std::lock_guard lock(mutex_);
        ++figures_.fast_hits;
        known_.remember(key, kept);
        return PiecePointer(std::move(kept));
    }
    if (found == PieceFiles::Found::damaged) {
        const std::lock_guard lock(mutex_);
        ++figures_.damaged;
    }
    auto fetched = fetch(origin, key, bytes);
    if (!fetched) return fetched;
    // What is kept in the fast tier need not stay in memory; readers that wait have it from there.
    auto file = files_.keep(key, {(*fetched)->memory.data(), PieceFiles::file_bytes(bytes)}, bytes,
                            [this](std::uint64_t needed) { return shrink(needed).value(); });
    PiecePointer lasting = *fetched;
    if (file) {
        auto kept = std::make_shared<Piece>();
        kept->file = std::move(file);
        kept->bytes = bytes;
        lasting = std::move(kept);
    }
    const std::lock_guard lock(mutex_);
    known_.remember(key, std::move(lasting));
    return fetched;
}

Expected<PiecePointer> ReadThroughImpl::fetch(const Origin& origin, const PieceKey& key, std::uint64_t bytes) {
    const std::string name = segment_name(key.segment);
    auto object = origin.target->open(name);
    if (!object && object.error().errno_value == ENOENT)
        return storage_error("open", origin.target->config().place + "/" + name, ENOENT,
                             "the object tier has lost this segment");
    if (!object) return object.error();
    auto fetched = std::make_shared<Piece>();
    fetched->memory = memory_.take(PieceFiles::file_bytes(bytes));
    fetched->bytes = bytes;
    const std::uint64_t begin = key.piece * piece_bytes_;
    const auto read = (*object)->read(begin, {fetched->memory.data(), bytes});
    if (!read) return read.error();
    if (*read != bytes)
        return storage_error("read", origin.target->config().place + "/" + name, EIO,
                             "the object ends after " + std::to_string(begin + *read) + " bytes, expected " +
                                 std::to_string(origin.segment_bytes),
                             static_cast<std::int64_t>(begin));
    const std::lock_guard lock(mutex_);
    ++figures_.fetches;
    figures_.bytes_fetched += bytes;
    return PiecePointer(std::move(fetched));
}

Expected<std::uint64_t> ReadThroughImpl::shrink(std::uint64_t bytes) {
    std::vector<std::pair<std::uint64_t, PieceFiles::Listed>> pieces; // with when they were used
    for (const PieceFiles::Listed& one : files_.list()) {
        const std::lock_guard lock(mutex_);
        pieces.emplace_back(known_.last_use(one.key), one);
    }
    std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.key < b.second.key;
    });
    std::uint64_t freed = 0;
    for (const auto& [used, one] : pieces) {
        if (freed >= bytes) break;
        files_.remove(one.key);
        freed += one.bytes;
        const std::lock_guard lock(mutex_);
        known_.forget(one.key);
    }
    return freed;
}

} // namespace

std::shared_ptr<ReadThrough> make_read_through(std::vector<std::shared_ptr<Target>> targets, const VolumeConfig& volume,
                                               ReadThroughOptions options) {
    if (ReadThroughImpl::of_tier(targets, Tier::object).empty()) return nullptr;
    return std::make_shared<ReadThroughImpl>(std::move(targets), volume, options);
}

} // namespace feedbench::feedfs
