#include "storage/feedfs/metadata/lmdb.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "storage/feedfs/metadata/lmdb_transactions.hpp"
#include "storage/feedfs/metadata/place_options.hpp"
#include "storage/feedfs/metadata/take_ids.hpp"

namespace feedbench::feedfs {

namespace {

class LmdbEngine final : public MetadataEngine {
  public:
    explicit LmdbEngine(std::unique_ptr<LmdbEnvironment> environment)
        : environment_(std::move(environment)), views_(*environment_) {
        properties_.engine = "lmdb";
        properties_.place = environment_->folder();
        properties_.durability = "LMDB: a durable commit flushes its pages, then a copy of its root (fdatasync each)";
    }
    const EngineProperties& properties() const override { return properties_; }
    Expected<ReadHandle> read() override { return views_.take(); }
    using MetadataEngine::apply;
    Expected<std::vector<Outcome>> apply(std::span<const Batch> batches, Durability durability) override;
    Status sync() override;
    Expected<std::uint64_t> take_ids(std::string_view counter, std::uint64_t count) override {
        return take_ids_by_batches(*this, counter, count);
    }
    Expected<EngineFigures> figures() override;

  private:
    // What one thread asks for while another commits.
    struct Request {
        std::span<const Batch> batches;
        Durability durability;
        std::vector<Outcome> outcomes; // of the batches that are committed or in the transaction
        MaybeError error;
        bool done = false;
    };
    // Where a transaction ended, or why it failed.
    struct Attempt {
        std::size_t next_request = 0;
        int code = 0; // LMDB's
        MaybeError error;
    };
    void commit(std::vector<Request*>& group);
    Attempt commit_some(std::vector<Request*>& group, std::size_t first);
    int fill(std::vector<Request*>& group, Attempt& attempt, MDB_txn* transaction);

    static constexpr std::size_t kChangesOfTransaction = 100'000; // bounds memory, and how long others wait
    static constexpr std::uint64_t kUnsyncedCommits = 1024;
    static constexpr std::uint64_t kUnsyncedBytes = 16 << 20;
    static constexpr std::uint64_t kCommitsBetweenChecks = 256; // for readers that died

    std::unique_ptr<LmdbEnvironment> environment_;
    LmdbViews views_;
    EngineProperties properties_;
    std::mutex mutex_; // of the queue
    std::condition_variable committed_;
    std::vector<Request*> queue_;
    bool committing_ = false;
    std::uint64_t commits_ = 0; // these are of whoever commits
    std::uint64_t unsynced_commits_ = 0;
    std::uint64_t unsynced_bytes_ = 0;
};

Expected<std::vector<Outcome>> LmdbEngine::apply(std::span<const Batch> batches, Durability durability) {
    if (environment_->read_only())
        return storage_error("apply", properties_.place, EROFS, "the metadata is open read-only");
    if (Status sizes = check_sizes(batches); !sizes) return std::move(sizes.error());
    Request mine{batches, durability, {}, {}, false};
    std::unique_lock lock(mutex_);
    queue_.push_back(&mine);
    while (!mine.done) {
        if (committing_) {
            committed_.wait(lock);
            continue;
        }
        committing_ = true;
        std::vector<Request*> group = std::exchange(queue_, {});
        lock.unlock();
        commit(group);
        lock.lock();
        for (Request* request : group) request->done = true;
        committing_ = false;
        committed_.notify_all();
    }
    if (mine.error) return std::move(*mine.error);
    return std::move(mine.outcomes);
}

void LmdbEngine::commit(std::vector<Request*>& group) {
    bool durable = false;
    for (const Request* request : group) durable = durable || request->durability == Durability::durable;
    if (commits_++ % kCommitsBetweenChecks == 0) {
        int dead = 0; // their slots would keep LMDB from reusing pages
        mdb_reader_check(environment_->get(), &dead);
    }
    std::size_t request = 0;
    while (request < group.size()) {
        const std::uint64_t map_bytes = environment_->map_bytes();
        Attempt attempt = commit_some(group, request);
        request = attempt.next_request;
        if (attempt.code == MDB_MAP_FULL && environment_->grow(map_bytes)) continue;
        if (!attempt.error) continue;
        for (; request < group.size(); ++request) group[request]->error = attempt.error;
    }
    // Pages that a sync point needs are not used again before the next one: without any the file would only grow.
    if (!durable && ++unsynced_commits_ < kUnsyncedCommits && unsynced_bytes_ < kUnsyncedBytes) return;
    Status synced = environment_->make_sync_point();
    unsynced_commits_ = 0;
    unsynced_bytes_ = 0;
    if (synced) return;
    for (Request* each : group)
        if (!each->error) each->error = synced.error();
}

// One transaction from request `first` on: all of the group, or as much as a transaction should hold. Where it fails no
// batch of it has happened.
LmdbEngine::Attempt LmdbEngine::commit_some(std::vector<Request*>& group, std::size_t first) {
    Attempt attempt;
    attempt.next_request = first;
    auto transaction = environment_->begin_changes();
    if (!transaction) {
        attempt.error = std::move(transaction.error());
        return attempt;
    }
    const std::size_t outcomes_before = group[first]->outcomes.size(); // of the others: none
    attempt.code = fill(group, attempt, *transaction);
    if (attempt.code == 0 && !attempt.error) {
        attempt.code = mdb_txn_commit(*transaction);
        if (attempt.code != 0) attempt.error = environment_->error("commit", attempt.code);
    } else {
        mdb_txn_abort(*transaction);
    }
    environment_->leave();
    if (attempt.error) {
        attempt.next_request = first;
        group[first]->outcomes.resize(outcomes_before);
        for (std::size_t i = first + 1; i < group.size(); ++i) group[i]->outcomes.clear();
    }
    return attempt;
}

int LmdbEngine::fill(std::vector<Request*>& group, Attempt& attempt, MDB_txn* transaction) {
    LmdbWriter writer(*environment_, transaction);
    std::size_t changes = 0;
    for (; attempt.next_request < group.size(); ++attempt.next_request) {
        Request& request = *group[attempt.next_request];
        while (request.outcomes.size() < request.batches.size()) {
            if (changes >= kChangesOfTransaction) return 0;
            const Batch& batch = request.batches[request.outcomes.size()];
            auto outcome = apply_batch(writer, batch);
            if (!outcome) {
                attempt.error = std::move(outcome.error());
                return writer.code();
            }
            request.outcomes.push_back(*outcome);
            changes += batch.changes().size() + batch.conditions().size();
            for (const Change& change : batch.changes()) unsynced_bytes_ += change.key.size() + change.value.size();
        }
    }
    return 0;
}

Status LmdbEngine::sync() {
    if (environment_->read_only()) return {};
    return environment_->make_sync_point();
}

int count_reader(const char* line, void* count) {
    // "pid thread txnid": a slot at rest has "-" for its transaction; other lines are a heading and "(no active
    // readers)".
    const std::string_view text(line);
    if (text.find("pid") == std::string_view::npos && text.find("(no") == std::string_view::npos &&
        text.find(" -") == std::string_view::npos)
        ++*static_cast<std::uint64_t*>(count);
    return 0;
}

Expected<EngineFigures> LmdbEngine::figures() {
    EngineFigures figures;
    int dead = 0;
    if (!environment_->read_only()) mdb_reader_check(environment_->get(), &dead);
    figures.stale_readers = static_cast<std::uint64_t>(dead);
    mdb_reader_list(environment_->get(), count_reader, &figures.readers);
    auto transaction = environment_->begin(MDB_RDONLY);
    if (!transaction) return std::move(transaction.error());
    MDB_stat stat{};
    mdb_stat(*transaction, environment_->table(), &stat);
    mdb_txn_abort(*transaction);
    environment_->leave();
    figures.keys = stat.ms_entries;
    figures.used_bytes = (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) * stat.ms_psize;
    figures.limit_bytes = environment_->limit_bytes();
    struct stat facts {};
    if (::stat((environment_->folder() + "/data.mdb").c_str(), &facts) == 0)
        figures.file_bytes = static_cast<std::uint64_t>(facts.st_size);
    return figures;
}

} // namespace

Expected<std::unique_ptr<MetadataEngine>> open_lmdb(const MetadataPlace& place, OpenMode mode) {
    LmdbOptions options;
    PlaceOptions given(place);
    given.take("map_bytes", options.map_bytes);
    given.take("map_limit_bytes", options.map_limit_bytes);
    given.take("max_readers", options.max_readers);
    if (Status all = given.check(); !all) return std::move(all.error());
    auto environment = LmdbEnvironment::open(place.place, options, mode);
    if (!environment) return std::move(environment.error());
    return std::unique_ptr<MetadataEngine>(std::make_unique<LmdbEngine>(std::move(*environment)));
}

} // namespace feedbench::feedfs
