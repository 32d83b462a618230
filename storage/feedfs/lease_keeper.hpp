// The lease under which segments are written: taken before the first, renewed as long as the process lives, given back
// at the end. Internal to storage/feedfs.
//
// Another host cannot see whether a process lives; it believes a lease until that expires. Repair erases the leases of
// the dead before it looks at anything, and every transaction that names records has the condition that its writer's
// lease is there: so a writer that was taken for dead (stopped for minutes, or cut off) can no longer name what repair
// may have removed. It is told so, with ESTALE, and may take another lease for what it writes from then on.
//
// Thread: any. Owner: the holder; ends its thread when destroyed. Units: ns. Errors: the engine's; ESTALE of a lease
// that somebody else has ended. Source: issue 7.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "storage/feedfs/metadata/schema.hpp"

namespace feedbench::feedfs {

inline constexpr std::int64_t kLeaseNs = 120LL * 1'000'000'000;       // from its last renewal on
inline constexpr std::int64_t kLeaseRenewalNs = 20LL * 1'000'000'000; // five may fail before it is over

struct LeaseTerms {
    std::string purpose;
    std::function<std::int64_t()> now_ns;
    std::int64_t renewal_ns = kLeaseRenewalNs; // 0: no thread, renew() is the holder's
};

class LeaseKeeper {
  public:
    static Expected<std::unique_ptr<LeaseKeeper>> take(std::shared_ptr<MetadataEngine> metadata, LeaseTerms terms);
    ~LeaseKeeper(); // without end(): the lease stays, as after a crash
    LeaseKeeper(const LeaseKeeper&) = delete;
    LeaseKeeper& operator=(const LeaseKeeper&) = delete;

    std::uint64_t id() const { return id_; }
    Status renew();
    // Before a segment is written: ESTALE where the lease is known to be gone. Looks at the metadata only where it was
    // not renewed in time; what cannot be asked now is asked when the records are named.
    Status check();
    // The condition of a transaction that names what was written under the lease, and what to say if it does not hold.
    void require(Batch& batch) const { batch.require_present(lease_key(id_)); }
    Error lost(); // from now on it is known
    bool is_known_lost() const { return is_lost_.load(); }
    // Of the last transaction: with it the lease is over. It is renewed no more.
    void end(Batch& batch);

  private:
    LeaseKeeper(std::shared_ptr<MetadataEngine> metadata, LeaseTerms terms, std::uint64_t id);
    void renew_until_over();

    const std::shared_ptr<MetadataEngine> metadata_;
    const LeaseTerms terms_;
    const std::uint64_t id_;
    std::mutex mutex_;
    std::condition_variable wake_;
    LeaseRecord record_;
    bool over_ = false;
    std::atomic<bool> is_lost_{false};
    std::atomic<std::int64_t> expires_ns_; // as others know it
    std::thread thread_;
};

} // namespace feedbench::feedfs
