// Tiering: sealed segments are copied to the object tier, cold ones leave the fast tier, and the namespace never
// changes.
//
// A segment is in the fast tier, in both, or in the object tier alone; SegmentRecord::tiers says which. The row says
// "object tier" only after the upload is complete, durable and has been read back; the fast tier's file goes only after
// the row that no longer names it is durable. So at every moment at least one place that the row names has all of it.
//
// Thread: any; several processes may upload and evict at once (rows change only if they are as they were read).
// Owner: the FileSystem outlives it. Units: bytes. Errors: each call goes on with the other segments after one that
// failed, and answers the first error; what was done is in TierWork. Source: issue 7, "Tiering".
#pragma once

#include <functional>
#include <memory>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::feedfs {

struct TierAmount {
    std::uint64_t segments = 0, bytes = 0;
};
struct TierFigures {
    TierAmount unsealed;              // being written; fast tier
    TierAmount fast_only;             // sealed, waiting for their upload
    TierAmount both;                  // may leave the fast tier
    TierAmount object_only;           // read through
    TierAmount pieces;                // of the object tier's segments, kept in the fast tier
    TierAmount left_over;             // files of the fast tier that no row names there: of interrupted evictions
    std::uint64_t fast_bytes = 0;     // of all files in the fast tier
    std::uint64_t capacity_bytes = 0; // VolumeConfig::fast_capacity_bytes
};

struct TierWork {
    TierAmount done, failed;
    bool stopped = false; // by the progress function
    MaybeError first_error;
};
struct TierProgress {
    TierAmount done, all;
};
// Called after each piece of work; answers false to stop.
using TierWatcher = std::function<bool(const TierProgress&)>;

struct TierOptions {
    unsigned parallel = 1; // segments on their way at once; a bucket's are in memory meanwhile
};

class Tiering {
  public:
    // The volume must have an object tier (EINVAL else).
    static Expected<std::unique_ptr<Tiering>> make(FileSystem& volume, TierOptions options = {});
    virtual ~Tiering() = default;

    virtual Expected<TierFigures> figures() = 0;
    // What this process has written and left alone is sealed (FileSystem::seal_idle), so that it can be uploaded.
    virtual Status seal_idle() = 0;
    // Every sealed segment that the object tier does not have.
    virtual TierWork upload(const TierWatcher& watch = {}) = 0;
    // Frees at least `bytes` of the fast tier, coldest first: pieces and segments that the object tier has.
    virtual TierWork evict(std::uint64_t bytes, const TierWatcher& watch = {}) = 0;
    // Evicts until the fast tier is below VolumeConfig::fast_capacity_bytes; nothing to do where that is 0.
    virtual TierWork make_room(const TierWatcher& watch = {}) = 0;
    // Uploads everything, then evicts everything: the fast tier could be taken away. Open segments stay.
    virtual TierWork drain(const TierWatcher& watch = {}) = 0;
    // Copies segments back until the fast tier is at its limit or has all.
    virtual TierWork fetch(const TierWatcher& watch = {}) = 0;
};

// Seals what lies idle, uploads and makes room from a thread of its own, until it is destroyed: for mounts and long
// imports.
class TierAgent {
  public:
    TierAgent(Tiering& tiering, std::uint64_t pause_ns, std::function<void(const std::string&)> warn);
    ~TierAgent();
    TierAgent(const TierAgent&) = delete;
    TierAgent& operator=(const TierAgent&) = delete;
    void wake();     // there is something to do now
    TierWork done(); // so far

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace feedbench::feedfs
