// What of an LMDB file is on stable storage, remembered so that commits need not be flushed one by one.
//
// LMDB keeps two roots (meta pages) and writes them by turns; without a flush at each commit a loss of power may leave
// a root whose pages never reached the disk, and nothing older. Here every commit is made without a flush (the
// environment has MDB_NOSYNC), and a sync point is: flush the file, then write a copy of the latest root to the file
// "sync-point" beside it, and flush that. Pages of that root are not used again before the next sync point, because
// whoever commits holds a read transaction on it (the pin) or makes a sync point first. When the host has been started
// anew since (boot_id), opening puts the copied root back: exactly the state of the last sync point, whatever of the
// later commits reached the disk.
//
// Thread: under LMDB's write lock, or with the map's gate closed; recover() before the environment is open. Owner:
// LmdbEnvironment. Units: bytes. Errors: storage_error; EROFS where recovery is needed and the file cannot be written.
// After a flush that failed nobody knows what is on the disk: nothing is committed any more (EIO) until opened again.
// Source: LMDB 0.9.24, mdb.c: struct MDB_meta, mdb_env_pick_meta, mdb_page_alloc, mdb_find_oldest.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::feedfs {

// The latest whole one of the file's two slots.
struct SyncPointRecord {
    std::uint64_t sequence = 0;
    std::uint64_t transaction = 0; // LMDB's number of the state
    std::string boot_id;           // of the host when it was written
    std::string root;              // the meta page
};
Expected<std::optional<SyncPointRecord>> read_sync_point(int file);
Status write_sync_point(int file, const SyncPointRecord& record); // durable
std::string this_boot_id();

class LmdbSyncPoint {
  public:
    explicit LmdbSyncPoint(std::string folder) : folder_(std::move(folder)) {}
    ~LmdbSyncPoint();
    LmdbSyncPoint(const LmdbSyncPoint&) = delete;
    LmdbSyncPoint& operator=(const LmdbSyncPoint&) = delete;

    // Before the environment is opened: after a restart of the host puts the last sync point's root back. Other
    // processes that open at the same time wait.
    Status recover(bool read_only);
    // Inside a write transaction, before it changes anything: what is durable is pinned, or made so and pinned.
    Status protect(MDB_env* environment, MDB_txn* transaction);
    // Inside a write transaction that changes nothing: its state is durable when this answers.
    Status make(MDB_env* environment, MDB_txn* transaction);
    // The map is about to change, or the environment to be closed: LMDB wants no transaction then.
    void release_pin();
    void close();

  private:
    Status pin(MDB_env* environment, std::uint64_t transaction);
    Expected<std::string> read_root(MDB_env* environment, std::uint64_t transaction) const;
    Error failed(const char* what, int code);

    std::string folder_;
    int file_ = -1;
    MDB_txn* pin_ = nullptr;
    std::optional<std::uint64_t> pinned_; // the state that the pin holds
    bool has_failed_ = false;
};

} // namespace feedbench::feedfs
