#include "storage/feedfs/tier.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "storage/feedfs/tier_copy.hpp"
#include "storage/feedfs/tier_read.hpp"
#include "storage/feedfs/tier_rows.hpp"

namespace feedbench::feedfs {

namespace {

class TieringImpl final : public Tiering {
  public:
    TieringImpl(FileSystem& volume, Target& object, TierOptions options)
        : volume_(volume), object_(object), options_(options) {}

    Expected<TierFigures> figures() override { return tier_figures(volume_); }
    Status seal_idle() override { return volume_.read_only() ? Status{} : volume_.seal_idle(); }
    TierWork upload(const TierWatcher& watch) override {
        return each_row([](const SegmentRow& row) { return row.record.sealed && !row.has(SegmentRecord::kObject); },
                        watch, [this](SegmentRow& row) { return upload_one(row); });
    }
    TierWork evict(std::uint64_t bytes, const TierWatcher& watch) override;
    TierWork make_room(const TierWatcher& watch) override;
    TierWork drain(const TierWatcher& watch) override;
    TierWork fetch(const TierWatcher& watch) override;

  private:
    using Chosen = std::function<bool(const SegmentRow&)>;
    using Job = std::function<Status(SegmentRow&)>;

    TierWork each_row(const Chosen& chosen, const TierWatcher& watch, const Job& job);
    TierWork each(std::vector<SegmentRow> rows, const TierWatcher& watch, const Job& job);
    Status upload_one(const SegmentRow& row);
    Status evict_one(const SegmentRow& row);
    Status fetch_one(const SegmentRow& row);
    std::vector<SegmentRow> coldest_first(std::vector<SegmentRow> rows);
    ReadThrough* read_through() { return dynamic_cast<ReadThrough*>(volume_.segments().fetcher().get()); }

    FileSystem& volume_;
    Target& object_;
    const TierOptions options_;
};

TierWork TieringImpl::each_row(const Chosen& chosen, const TierWatcher& watch, const Job& job) {
    if (volume_.read_only()) {
        TierWork refused;
        refused.first_error = storage_error("move", volume_.volume().name, EROFS, "the volume was opened to read only");
        return refused;
    }
    auto found = segment_rows(volume_, chosen);
    if (found) return each(std::move(*found), watch, job);
    TierWork failed;
    failed.first_error = found.error();
    return failed;
}

TierWork TieringImpl::each(std::vector<SegmentRow> rows, const TierWatcher& watch, const Job& job) {
    TierWork work;
    TierProgress progress;
    for (const SegmentRow& row : rows) add(progress.all, row.record.bytes);
    std::mutex mutex;
    std::atomic<std::size_t> next{0};
    const auto take_turns = [&] {
        for (std::size_t index = next++; index < rows.size(); index = next++) {
            const Status done = job(rows[index]);
            const std::lock_guard lock(mutex);
            if (done)
                add(work.done, rows[index].record.bytes);
            else {
                add(work.failed, rows[index].record.bytes);
                if (!work.first_error) work.first_error = done.error();
            }
            add(progress.done, rows[index].record.bytes);
            if (watch && !work.stopped && !watch(progress)) {
                work.stopped = true;
                next = rows.size();
            }
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min<std::size_t>(options_.parallel, rows.size()); ++i)
        threads.emplace_back(take_turns);
    take_turns();
    for (std::thread& thread : threads) thread.join();
    return work;
}

Status TieringImpl::upload_one(const SegmentRow& row) {
    Target* const from = volume_.segments().target(row.record.target);
    const std::string name = segment_name(row.segment);
    if (!from)
        return storage_error("open", name, ENODEV, "volume.yaml names no target " + std::to_string(row.record.target));
    if (Status ok = copy_segment({name, row.record.bytes, from, &object_}, volume_.memory()); !ok) return ok;
    SegmentRecord after = row.record;
    after.tiers |= SegmentRecord::kObject;
    after.object_target = object_.config().id;
    const auto changed = change_row(volume_, row, after);
    if (!changed) return changed.error();
    if (*changed) return {};
    // Somebody else changed the row meanwhile: uploaded it, too (the object is theirs now), or removed the segment.
    std::string now;
    const auto there = volume_.metadata().get(segment_key(row.segment), now);
    if (!there) return there.error();
    return *there ? Status{} : object_.remove(name);
}

Status TieringImpl::evict_one(const SegmentRow& row) {
    const std::string name = segment_name(row.segment);
    // Nothing leaves that the object tier cannot give back.
    Target* const object = volume_.segments().target(row.record.object_target);
    if (!object) return storage_error("open", name, ENODEV, "volume.yaml does not name the target of its object");
    auto kept = object->open(name);
    if (!kept) return kept.error();
    const auto size = (*kept)->size();
    if (!size) return size.error();
    if (*size != row.record.bytes)
        return storage_error("evict", object->config().place + "/" + name, EIO,
                             "the object has " + std::to_string(*size) + " bytes, the segment " +
                                 std::to_string(row.record.bytes) + ": it stays in the fast tier");
    SegmentRecord after = row.record;
    after.tiers = SegmentRecord::kObject;
    const auto changed = change_row(volume_, row, after);
    if (!changed) return changed.error();
    if (!*changed) return {};
    volume_.segments().forget(row.segment);
    Target* const target = volume_.segments().target(row.record.target);
    return target ? target->remove(name) : Status{};
}

Status TieringImpl::fetch_one(const SegmentRow& row) {
    Target* const object = volume_.segments().target(row.record.object_target);
    const std::vector<Target*> fast = fast_targets(volume_);
    Target* const to = fast[row.segment % fast.size()];
    const std::string name = segment_name(row.segment);
    if (!object) return storage_error("open", name, ENODEV, "volume.yaml does not name the target of its object");
    const std::uint64_t limit = volume_.volume().fast_capacity_bytes;
    if (limit != 0) {
        const auto used = fast_tier_bytes(volume_);
        if (!used) return used.error();
        if (*used + row.record.bytes > limit)
            return storage_error("fetch", name, ENOSPC, "the fast tier is at the limit of the volume");
    }
    if (Status ok = copy_segment({name, row.record.bytes, object, to}, volume_.memory()); !ok) return ok;
    SegmentRecord after = row.record;
    after.tiers = kBothTiers;
    after.target = to->config().id;
    const auto changed = change_row(volume_, row, after);
    if (!changed) return changed.error();
    if (!*changed) return to->remove(name);
    volume_.segments().forget(row.segment); // the next reader opens the fast tier's file
    return {};
}

std::vector<SegmentRow> TieringImpl::coldest_first(std::vector<SegmentRow> rows) {
    std::unordered_map<std::uint64_t, std::uint64_t> used;
    for (const auto& [segment, use] : volume_.segments().recent_uses()) used[segment] = use;
    const auto use_of = [&](const SegmentRow& row) {
        const auto found = used.find(row.segment);
        return found == used.end() ? 0 : found->second;
    };
    std::sort(rows.begin(), rows.end(), [&](const SegmentRow& a, const SegmentRow& b) {
        return use_of(a) != use_of(b) ? use_of(a) < use_of(b) : a.segment < b.segment;
    });
    return rows;
}

TierWork TieringImpl::evict(std::uint64_t bytes, const TierWatcher& watch) {
    TierWork work;
    const auto fail = [&](const Error& error) {
        if (!work.first_error) work.first_error = error;
        return work;
    };
    if (volume_.read_only()) return fail(storage_error("evict", volume_.volume().name, EROFS));
    // What interrupted evictions left, then pieces, which are copies, then segments.
    TierAmount left_over;
    if (Status ok = find_left_over(volume_, true, left_over); !ok) return fail(ok.error());
    std::uint64_t freed = left_over.bytes;
    if (ReadThrough* const pieces = read_through(); pieces && freed < bytes) {
        auto shrunk = pieces->shrink(bytes - freed);
        if (!shrunk) return fail(shrunk.error());
        freed += *shrunk;
    }
    auto both = segment_rows(volume_, [](const SegmentRow& row) { return row.record.sealed && row.has(kBothTiers); });
    if (!both) return fail(both.error());
    std::vector<SegmentRow> chosen;
    for (SegmentRow& row : coldest_first(std::move(*both))) {
        if (freed >= bytes) break;
        freed += row.record.bytes;
        chosen.push_back(std::move(row));
    }
    return each(std::move(chosen), watch, [this](SegmentRow& row) { return evict_one(row); });
}

TierWork TieringImpl::make_room(const TierWatcher& watch) {
    const std::uint64_t limit = volume_.volume().fast_capacity_bytes;
    TierWork nothing;
    if (limit == 0) return nothing;
    const auto used = fast_tier_bytes(volume_);
    if (!used) {
        nothing.first_error = used.error();
        return nothing;
    }
    return *used > limit ? evict(*used - limit, watch) : nothing;
}

TierWork TieringImpl::drain(const TierWatcher& watch) {
    TierWork work = upload(watch);
    if (work.stopped) return work;
    const TierWork evicted = evict(~std::uint64_t{0}, watch);
    work.done.segments += evicted.done.segments;
    work.done.bytes += evicted.done.bytes;
    work.failed.segments += evicted.failed.segments;
    work.failed.bytes += evicted.failed.bytes;
    work.stopped = evicted.stopped;
    if (!work.first_error) work.first_error = evicted.first_error;
    return work;
}

TierWork TieringImpl::fetch(const TierWatcher& watch) {
    return each_row([](const SegmentRow& row) { return row.record.sealed && !row.has(SegmentRecord::kFast); }, watch,
                    [this](SegmentRow& row) { return fetch_one(row); });
}

} // namespace

Expected<std::unique_ptr<Tiering>> Tiering::make(FileSystem& volume, TierOptions options) {
    for (const auto& target : volume.segments().targets())
        if (target->config().tier == Tier::object)
            return std::unique_ptr<Tiering>(std::make_unique<TieringImpl>(volume, *target, options));
    return storage_error("open", volume.volume().folder + "/" + kVolumeFile, EINVAL,
                         "the volume has no object tier: volume.yaml names no target with tier object");
}

} // namespace feedbench::feedfs
