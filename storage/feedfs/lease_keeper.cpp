#include "storage/feedfs/lease_keeper.hpp"

#include <cerrno>
#include <chrono>

#include "storage/feedfs/lease.hpp"

namespace feedbench::feedfs {

LeaseKeeper::LeaseKeeper(std::shared_ptr<MetadataEngine> metadata, LeaseTerms terms, std::uint64_t id)
    : metadata_(std::move(metadata)), terms_(std::move(terms)), id_(id),
      record_(lease_of_this_process(terms_.purpose, terms_.now_ns() + kLeaseNs)), expires_ns_(record_.expires_ns) {}

Expected<std::unique_ptr<LeaseKeeper>> LeaseKeeper::take(std::shared_ptr<MetadataEngine> metadata, LeaseTerms terms) {
    auto id = metadata->take_ids(kLeaseCounter, 1);
    if (!id) return id.error();
    std::unique_ptr<LeaseKeeper> keeper(new LeaseKeeper(std::move(metadata), std::move(terms), *id));
    Batch batch;
    batch.put(lease_key(*id), encode(keeper->record_));
    auto outcome = keeper->metadata_->apply(batch, Durability::relaxed);
    if (!outcome) return outcome.error();
    if (keeper->terms_.renewal_ns > 0) keeper->thread_ = std::thread([all = keeper.get()] { all->renew_until_over(); });
    return keeper;
}

LeaseKeeper::~LeaseKeeper() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

Error LeaseKeeper::lost() {
    is_lost_.store(true);
    return storage_error("publish", metadata_->properties().place, ESTALE,
                         "lease " + std::to_string(id_) + " of this process (" + terms_.purpose +
                             ") is gone: it was not renewed for " + std::to_string(kLeaseNs / 1'000'000'000) +
                             " s, so a repair took the process for dead; what was not published is lost");
}

Status LeaseKeeper::renew() {
    const std::lock_guard lock(mutex_);
    if (over_) return {};
    record_.expires_ns = terms_.now_ns() + kLeaseNs;
    Batch batch;
    require(batch);
    batch.put(lease_key(id_), encode(record_));
    auto outcome = metadata_->apply(batch, Durability::relaxed);
    if (!outcome) return outcome.error();
    if (!outcome->applied()) return lost();
    expires_ns_.store(record_.expires_ns);
    return {};
}

Status LeaseKeeper::check() {
    if (is_known_lost()) return lost();
    if (terms_.now_ns() < expires_ns_.load()) return {};
    auto status = renew();
    return is_known_lost() ? std::move(status) : Status();
}

// What fails is tried again at the next turn; who publishes meanwhile is told of it.
void LeaseKeeper::renew_until_over() {
    for (std::unique_lock lock(mutex_); !over_ && !is_known_lost();) {
        if (wake_.wait_for(lock, std::chrono::nanoseconds(terms_.renewal_ns), [this] { return over_; })) return;
        lock.unlock();
        (void)renew();
        lock.lock();
    }
}

void LeaseKeeper::end(Batch& batch) {
    const std::lock_guard lock(mutex_);
    over_ = true;
    wake_.notify_all();
    require(batch);
    batch.erase(lease_key(id_));
}

} // namespace feedbench::feedfs
