// LMDB's transactions as feedfs uses them: views that are reset between uses, and the key space that batches change.
//
// Thread: a view and a writer belong to one thread at a time; LmdbViews is for any. Owner: views go back to the
// LmdbViews they came from, which outlives them. Units: none. Errors: engine.hpp. Source: lmdb.h of LMDB 0.9.24.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "storage/feedfs/metadata/batch_apply.hpp"
#include "storage/feedfs/metadata/lmdb_environment.hpp"

namespace feedbench::feedfs {

class LmdbViews;

// A read transaction; renewing one costs a tenth of a microsecond, which beginning one does not.
class LmdbView final : public ReadView {
  public:
    LmdbView(LmdbViews& views, LmdbEnvironment& environment) : views_(views), environment_(environment) {}
    ~LmdbView() override;
    LmdbView(const LmdbView&) = delete;
    LmdbView& operator=(const LmdbView&) = delete;

    Status begin(); // the latest state
    Expected<std::optional<std::string_view>> get(std::string_view key) override;
    Status get_many(std::span<const std::string> keys, const GetVisitor& visit) override;
    Expected<ScanEnd> scan(const KeyRange& range, std::size_t limit, const ScanVisitor& visit) override;
    std::uint64_t state_number() const override { return mdb_txn_id(transaction_); }
    void give_back() override;

  private:
    LmdbViews& views_;
    LmdbEnvironment& environment_;
    MDB_txn* transaction_ = nullptr;
    MDB_cursor* cursor_ = nullptr;
};

// The views that are at rest.
class LmdbViews {
  public:
    explicit LmdbViews(LmdbEnvironment& environment) : environment_(environment) {}
    Expected<ReadHandle> take();
    void keep(LmdbView* view);

  private:
    LmdbEnvironment& environment_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<LmdbView>> resting_;
};

// The keys of one write transaction, which remains the caller's.
class LmdbWriter final : public KeySpace {
  public:
    LmdbWriter(LmdbEnvironment& environment, MDB_txn* transaction)
        : environment_(environment), transaction_(transaction) {}
    Expected<std::optional<std::string_view>> get(std::string_view key) override;
    Status put(std::string_view key, std::string_view value) override;
    Status erase(std::string_view key) override;
    Status erase_range(std::string_view from, std::string_view to) override;
    Expected<bool> is_empty(std::string_view from, std::string_view to) override;
    int code() const { return code_; } // LMDB's own, of the call that failed

  private:
    Status checked(int code);
    LmdbEnvironment& environment_;
    MDB_txn* transaction_;
    int code_ = 0;
};

} // namespace feedbench::feedfs
