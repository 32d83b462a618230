// An LMDB environment of one folder: opened with care, grown when it is full, its errors in words.
//
// Thread: any. begin() and renew() enter the map's gate and every success is followed by leave() from the same thread;
// growing waits until nobody is inside, for LMDB allows a new map only while no transaction of the process is active.
// Owner: the engine in lmdb.cpp; not usable after fork(). Units: bytes.
// Errors: as engine.hpp. ENOSPC says whether the disk or the limit is what is full. Source: lmdb.h of LMDB 0.9.24.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/feedfs/metadata/engine.hpp"
#include "storage/feedfs/metadata/lmdb_sync_point.hpp"

namespace feedbench::feedfs {

struct LmdbOptions {
    std::uint64_t map_bytes = std::uint64_t{16} << 30; // address space, not memory nor disk
    std::uint64_t map_limit_bytes = 0;                 // 0: until the disk is full
    std::uint32_t max_readers = 1024;                  // views out at a time, of all processes
};

// Many may be inside; whoever closes it is alone.
class MapGate {
  public:
    void enter();
    void leave();
    void close();
    void open();

  private:
    static constexpr std::uint32_t kClosed = 1u << 31;
    std::atomic<std::uint32_t> state_{0}; // how many are inside, and whether it is closed
};

class LmdbEnvironment {
  public:
    static Expected<std::unique_ptr<LmdbEnvironment>> open(const std::string& folder, const LmdbOptions& options,
                                                           OpenMode mode);
    ~LmdbEnvironment();
    LmdbEnvironment(const LmdbEnvironment&) = delete;
    LmdbEnvironment& operator=(const LmdbEnvironment&) = delete;

    MDB_env* get() const { return env_; }
    MDB_dbi table() const { return table_; }
    const std::string& folder() const { return folder_; }
    bool read_only() const { return read_only_; }

    Expected<MDB_txn*> begin(unsigned flags);
    // A transaction for changes, made durable by the next sync point; ends by mdb_txn_commit or _abort and leave().
    Expected<MDB_txn*> begin_changes();
    // Everything committed by now, by all processes, is durable when it answers.
    Status make_sync_point();
    Status renew(MDB_txn* transaction); // one that was reset
    void leave() { gate_.leave(); }
    // A larger map; ENOSPC where the limit is reached. Not from inside the gate.
    Status grow(std::uint64_t full_bytes);
    std::uint64_t map_bytes() const;
    std::uint64_t limit_bytes() const { return options_.map_limit_bytes; }
    Error error(const char* operation, int code) const;

  private:
    LmdbEnvironment(std::string folder, const LmdbOptions& options, bool read_only)
        : folder_(std::move(folder)), options_(options), read_only_(read_only), sync_point_(folder_) {}
    Status start(OpenMode mode);
    template <class Attempt>
    int inside_the_map(Attempt attempt); // again after adopting the map of a process that has grown it

    std::string folder_;
    LmdbOptions options_;
    bool read_only_;
    MDB_env* env_ = nullptr;
    MDB_dbi table_ = 0;
    MapGate gate_;
    LmdbSyncPoint sync_point_;
};

} // namespace feedbench::feedfs
