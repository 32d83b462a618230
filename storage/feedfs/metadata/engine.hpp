// MetadataEngine: an ordered key-value store with atomic conditional batches, which is all that feedfs asks of a
// metadata service. What the keys mean is schema.hpp's; engines are lmdb.cpp, redis.cpp and memory.cpp, the table is
// registry.cpp.
//
// Thread: every method of an engine from any thread. A ReadView belongs to the thread that took it and goes back before
// that thread calls apply(), sync() or take_ids() (LMDB grows its map only while no view of the process is out), and
// within about a second (a view keeps LMDB from reusing pages).
// Processes: each opens the place for itself, after its last fork(). LMDB: any number of processes of one host, on a
// local filesystem (refused elsewhere). Redis: any number of hosts. Memory: this process alone. Within a process one
// place is opened once and shared (open_metadata sees to it).
// Owner: views and what their callbacks are handed (string_views) are valid until the next call on that view; batches
// are the caller's and stay unchanged. Keys: 1..511 bytes; values: up to 64 MiB. Both are any bytes, ordered as
// unsigned. Units: bytes; wall-clock nanoseconds do not occur here. Errors: a condition that does not hold is an
// Outcome, not an Error. Errors carry errno: ENOSPC (disk, map limit or Redis' maxmemory), EROFS (opened to read), EIO,
// ECONNREFUSED and ENOTCONN (Redis), EUCLEAN (damaged), EPROTONOSUPPORT (a version this build does not know), EBUSY
// (too many readers). After an error of apply() a prefix of its batches may have been applied, each wholly or not at
// all; LMDB and memory apply none. Source: DESIGN section 11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::feedfs {

// relaxed: seen by everybody at once, survives the death of this process; after a loss of power the latest relaxed
// batches may be gone, always a suffix of the order in which they were applied, never one of the middle.
// durable: on stable storage when apply() returns, and with it everything applied before.
enum class Durability : std::uint8_t { relaxed, durable };

// [from, to); an empty `to` is the end of all keys.
struct KeyRange {
    std::string from;
    std::string to;
};
KeyRange keys_with_prefix(std::string prefix);

struct Condition {
    enum class Kind : std::uint8_t { absent, present, equals, range_empty };
    Kind kind = Kind::absent;
    std::string key;   // of range_empty: where the range begins
    std::string value; // of equals: what is there; of range_empty: where the range ends
};

struct Change {
    enum class Kind : std::uint8_t { put, erase, erase_range, add, raise };
    Kind kind = Kind::put;
    std::string key;   // of erase_range: where the range begins
    std::string value; // of put; of erase_range: where the range ends; of add: the deltas, of raise: the values, as
                       // encode_counters writes them
};

// All conditions are looked at first; only if each holds all changes are made, in order. A key may be named repeatedly.
class Batch {
  public:
    void require_absent(std::string key) { require(Condition::Kind::absent, std::move(key), {}); }
    void require_present(std::string key) { require(Condition::Kind::present, std::move(key), {}); }
    void require_equals(std::string key, std::string value) {
        require(Condition::Kind::equals, std::move(key), std::move(value));
    }
    void require_empty(KeyRange range) {
        require(Condition::Kind::range_empty, std::move(range.from), std::move(range.to));
    }
    void put(std::string key, std::string value) { change(Change::Kind::put, std::move(key), std::move(value)); }
    void erase(std::string key) { change(Change::Kind::erase, std::move(key), {}); } // no error where it is absent
    void erase_range(KeyRange range) { change(Change::Kind::erase_range, std::move(range.from), std::move(range.to)); }
    // Adds to the counters under the key, element by element; missing ones begin at 0. Never a conflict.
    void add(std::string key, std::span<const std::int64_t> deltas);
    // Raises the counters under the key, element by element, to at least these; missing ones are put. Never a conflict,
    // and the order of several does not matter.
    void raise(std::string key, std::span<const std::int64_t> values);
    void append(Batch other); // its conditions and changes after ours

    const std::vector<Condition>& conditions() const { return conditions_; }
    const std::vector<Change>& changes() const { return changes_; }
    bool empty() const { return conditions_.empty() && changes_.empty(); }
    void clear();

  private:
    void require(Condition::Kind kind, std::string key, std::string value) {
        conditions_.push_back({kind, std::move(key), std::move(value)});
    }
    void change(Change::Kind kind, std::string key, std::string value) {
        changes_.push_back({kind, std::move(key), std::move(value)});
    }
    std::vector<Condition> conditions_;
    std::vector<Change> changes_;
};

// Counters are 64-bit little-endian integers, one behind the other; magnitudes stay below 2^53 (Redis adds in doubles).
std::string encode_counters(std::span<const std::int64_t> values);
std::vector<std::int64_t> decode_counters(std::string_view bytes); // of a length that is no multiple of 8: whole ones

struct Outcome {
    std::optional<std::size_t> failed_condition; // index of the first that did not hold
    bool applied() const { return !failed_condition; }
};

struct ScanEnd {
    bool complete = false; // nothing is left in the range
    std::string next_key;  // of an incomplete scan: where to go on from
};

// Answers false to stop after this key.
using ScanVisitor = std::function<bool(std::string_view key, std::string_view value)>;
using GetVisitor = std::function<void(std::size_t index, std::optional<std::string_view> value)>;

class ReadView {
  public:
    virtual ~ReadView() = default;
    virtual Expected<std::optional<std::string_view>> get(std::string_view key) = 0;
    // Visits every key once, in the order of `keys`.
    virtual Status get_many(std::span<const std::string> keys, const GetVisitor& visit) = 0;
    // At most `limit` keys in order. Large ranges: page by page, preferably each with a view of its own.
    virtual Expected<ScanEnd> scan(const KeyRange& range, std::size_t limit, const ScanVisitor& visit) = 0;
    // Of the state that is read, growing with every change anywhere; equal numbers mean equal states, 0: not known
    // (Redis). What was cached under an equal number still holds.
    virtual std::uint64_t state_number() const = 0;
    // Called by the handle instead of a destructor: engines keep views for the next reader.
    virtual void give_back() = 0;
};

struct GiveBack {
    void operator()(ReadView* view) const { view->give_back(); }
};
using ReadHandle = std::unique_ptr<ReadView, GiveBack>;

struct EngineProperties {
    std::string engine;               // "lmdb", "redis", "memory"
    std::string place;                // for people and messages; never a password
    bool several_hosts = false;       // others than this host may have it open
    bool snapshot_spans_calls = true; // false (Redis): each call of a view sees one state, two calls may see two
    bool durable = true;              // what "durable" promises is kept through a loss of power
    std::string durability;           // what it rests on, in words: "LMDB: fdatasync at every durable commit"
};

struct EngineFigures { // for `feedfs stat`
    std::uint64_t keys = 0;
    std::uint64_t used_bytes = 0;    // of data, as the engine counts
    std::uint64_t file_bytes = 0;    // on disk; 0: not known
    std::uint64_t limit_bytes = 0;   // what it may grow to; 0: no limit of its own
    std::uint64_t readers = 0;       // views out now, of all processes; LMDB: one more for each that has written
    std::uint64_t stale_readers = 0; // slots of dead processes, freed by this call
};

class MetadataEngine {
  public:
    virtual ~MetadataEngine() = default;
    virtual const EngineProperties& properties() const = 0;
    // The latest state. Cheap enough for every look-up (LMDB: 0.1 us).
    virtual Expected<ReadHandle> read() = 0;
    // Each batch atomic by itself, in order, each seeing those before it; one commit for all of them and for what other
    // threads ask for meanwhile. One outcome a batch.
    virtual Expected<std::vector<Outcome>> apply(std::span<const Batch> batches, Durability durability) = 0;
    // Everything applied so far by this process is durable.
    virtual Status sync() = 0;
    // The first of `count` ids that nobody else gets, from 1 on (2 for kInodeCounter: 1 is the root); durable, so that
    // no id comes twice after a crash either. Ids that a process does not use are lost: take thousands.
    virtual Expected<std::uint64_t> take_ids(std::string_view counter, std::uint64_t count) = 0;
    virtual Expected<EngineFigures> figures() = 0;

    Expected<Outcome> apply(const Batch& batch, Durability durability);
    // One key into `value`; false: absent.
    Expected<bool> get(std::string_view key, std::string& value);
};

struct MetadataPlace {
    std::string engine = "lmdb";
    std::string place; // lmdb: a folder; redis: redis://[user@]host:port/db or redis+unix:///path?db=n; memory: a name
    std::string volume_id; // uuid: what is stored there must be of this volume
    // lmdb: map_bytes, map_limit_bytes, max_readers. redis: password_env, password_file, durability (require|warn),
    // timeout_ms. Unknown ones are refused.
    std::vector<std::pair<std::string, std::string>> options;
};
enum class OpenMode : std::uint8_t { read_only, read_write, create }; // create: refused where a volume is there already

// Opens, or hands out what this process has open; checks the schema's version and the volume's id. `warn`, where given,
// gets sentences about what is usable but not as it should be (Redis without appendfsync always).
Expected<std::shared_ptr<MetadataEngine>> open_metadata(const MetadataPlace& place, OpenMode mode,
                                                        const std::function<void(const std::string&)>& warn = {});

} // namespace feedbench::feedfs
