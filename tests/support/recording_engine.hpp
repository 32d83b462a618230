// A metadata engine around another that writes down every batch that was applied, in order, and every durable point.
//
// Thread: any; the journal is written under a mutex, in the order in which batches were applied only where one thread
// applies. Owner: shared. Units: -. Errors: those of the engine behind it, and ENOSPC and EIO where asked for.
// Source: issue 7, "Proof that it does not lose data".
#pragma once

#include <mutex>
#include <utility>

#include "storage/feedfs/metadata/engine.hpp"
#include "tests/support/crash_journal.hpp"

namespace feedbench::test {

class RecordingEngine final : public feedfs::MetadataEngine {
  public:
    RecordingEngine(std::shared_ptr<feedfs::MetadataEngine> inner, Journal* journal)
        : inner_(std::move(inner)), journal_(journal) {}

    bool lies_about_sync = false; // broken variants, which tests must notice: durable commits are not,
    bool tears_batches = false;   // and a batch may survive in part
    bool is_full = false;         // ENOSPC for whatever changes something
    bool loses_answers = false;   // what is applied is answered by EIO, as when a connection breaks

    const feedfs::EngineProperties& properties() const override { return inner_->properties(); }
    Expected<feedfs::ReadHandle> read() override { return inner_->read(); }
    using feedfs::MetadataEngine::apply;
    Expected<std::vector<feedfs::Outcome>> apply(std::span<const feedfs::Batch> batches,
                                                 feedfs::Durability durability) override {
        const std::lock_guard lock(mutex_);
        if (is_full) return full();
        auto outcomes = inner_->apply(batches, durability);
        if (!outcomes) return outcomes;
        for (std::size_t i = 0; i < batches.size(); ++i)
            if ((*outcomes)[i].applied()) record(batches[i]);
        if (durability == feedfs::Durability::durable) record_sync();
        if (loses_answers) return storage_error("commit", inner_->properties().place, EIO, "the answer was lost");
        return outcomes;
    }
    Status sync() override {
        const std::lock_guard lock(mutex_);
        if (is_full) return full();
        if (Status ok = inner_->sync(); !ok) return ok;
        record_sync();
        return {};
    }
    Expected<std::uint64_t> take_ids(std::string_view counter, std::uint64_t count) override {
        const std::lock_guard lock(mutex_);
        if (is_full) return full();
        auto first = inner_->take_ids(counter, count);
        if (!first || !journal_) return first;
        JournalEntry entry;
        entry.kind = JournalEntry::Kind::take_ids;
        entry.name = std::string(counter);
        entry.size = count;
        journal_->push_back(std::move(entry));
        return first;
    }
    Expected<feedfs::EngineFigures> figures() override { return inner_->figures(); }

  private:
    Error full() const {
        return storage_error("commit", inner_->properties().place, ENOSPC, "the metadata engine is full");
    }
    void record(const feedfs::Batch& batch) {
        if (!journal_) return;
        JournalEntry entry;
        entry.kind = JournalEntry::Kind::batch;
        if (!tears_batches) {
            entry.batch = batch;
            journal_->push_back(std::move(entry));
            return;
        }
        for (const feedfs::Change& change : batch.changes()) {
            entry.batch.clear();
            switch (change.kind) {
            case feedfs::Change::Kind::put:
                entry.batch.put(change.key, change.value);
                break;
            case feedfs::Change::Kind::erase:
                entry.batch.erase(change.key);
                break;
            case feedfs::Change::Kind::erase_range:
                entry.batch.erase_range({change.key, change.value});
                break;
            case feedfs::Change::Kind::add:
                entry.batch.add(change.key, feedfs::decode_counters(change.value));
                break;
            case feedfs::Change::Kind::raise:
                entry.batch.raise(change.key, feedfs::decode_counters(change.value));
                break;
            }
            journal_->push_back(entry);
        }
    }
    void record_sync() {
        if (!journal_ || lies_about_sync) return;
        JournalEntry entry;
        entry.kind = JournalEntry::Kind::metadata_sync;
        journal_->push_back(std::move(entry));
    }

    std::shared_ptr<feedfs::MetadataEngine> inner_;
    Journal* journal_;
    std::mutex mutex_;
};

} // namespace feedbench::test
