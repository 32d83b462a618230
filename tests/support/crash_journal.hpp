// What a volume did to its targets and its metadata, in order, and what a loss of power may leave of it.
//
// A loss of power at a point of the journal keeps everything that a sync before that point covered. Of what was written
// to a file since its last sync, each write is kept, lost or torn into 512-byte sectors, independently of the others
// and of the order in which they were made; where writes overlap, either may have come last. A file whose name was
// never synced may be missing; a removed one may be there again; a changed length may be the old or the new one.
// Metadata keeps everything up to its last durable point, and any prefix of the batches behind it.
//
// Thread: one. Owner: the test; images share the bytes of files with each other and copy what is written to. Units:
// bytes. Errors: assertions, for a journal is the test's own. Source: issue 7, "Proof that it does not lose data".
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::test {

inline constexpr std::uint64_t kSectorBytes = 512;

struct JournalEntry {
    // Files: create (data empty, size = the reservation), write, resize (size), sync (content and name), failed_sync
    // (what was written since the last will never arrive), put (of an object tier: all of it, at once and durable),
    // remove. Metadata: batch, take_ids (durable by itself), metadata_sync.
    enum class Kind : std::uint8_t {
        create,
        write,
        resize,
        sync,
        failed_sync,
        put,
        remove,
        batch,
        take_ids,
        metadata_sync
    };
    Kind kind = Kind::write;
    std::uint32_t target = 0; // id
    std::string name;         // of the file; of the counter
    std::uint64_t offset = 0;
    std::uint64_t size = 0; // of create and resize; how many ids
    std::vector<std::byte> data;
    feedfs::Batch batch;
};
using Journal = std::vector<JournalEntry>;

// The bytes of a file, shared until somebody writes.
class FileImage {
  public:
    std::uint64_t size() const { return bytes_->size(); }
    const std::vector<std::byte>& bytes() const { return *bytes_; }
    std::vector<std::byte>& own() {
        if (bytes_.use_count() > 1) bytes_ = std::make_shared<std::vector<std::byte>>(*bytes_);
        return *bytes_;
    }
    void write(std::uint64_t offset, const std::byte* data, std::uint64_t length) {
        std::vector<std::byte>& bytes = own();
        if (bytes.size() < offset + length) bytes.resize(offset + length);
        std::copy_n(data, length, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    }

  private:
    std::shared_ptr<std::vector<std::byte>> bytes_ = std::make_shared<std::vector<std::byte>>();
};
using TargetImage = std::map<std::string, std::shared_ptr<FileImage>>; // by name
using DiskImage = std::map<std::uint32_t, TargetImage>;                // by target id

// What is left after a loss of power: files, and how many entries of the journal the metadata kept (of kind batch and
// take_ids; those behind are gone).
struct Remains {
    DiskImage disk;
    std::size_t metadata_until = 0; // entries [0, this) of the journal
};

// Goes through a journal from its beginning; at each point remains() may be asked for any number of times.
class CrashPoints {
  public:
    // `before`: what was on disk when the journal began.
    explicit CrashPoints(const Journal& journal, const DiskImage& before = {})
        : journal_(journal), durable_(copy_of(before)) {}

    std::size_t point() const { return point_; } // this many entries have been issued
    bool at_end() const { return point_ == journal_.size(); }
    // The entries that metadata has for certain at this point.
    std::size_t metadata_synced() const { return metadata_synced_; }

    void advance() {
        assert(!at_end());
        const JournalEntry& entry = journal_[point_];
        const FileKey key{entry.target, entry.name};
        switch (entry.kind) {
        case JournalEntry::Kind::create:
        case JournalEntry::Kind::write:
        case JournalEntry::Kind::resize:
        case JournalEntry::Kind::remove:
            pending_[key].push_back(point_);
            break;
        case JournalEntry::Kind::sync:
            settle(key);
            break;
        case JournalEntry::Kind::failed_sync:
            if (const auto found = pending_.find(key); found != pending_.end())
                std::erase_if(found->second,
                              [this](std::size_t i) { return journal_[i].kind == JournalEntry::Kind::write; });
            break;
        case JournalEntry::Kind::put:
            pending_.erase(key);
            durable_[key.first][key.second] = std::make_shared<FileImage>();
            durable_[key.first][key.second]->write(0, entry.data.data(), entry.data.size());
            break;
        case JournalEntry::Kind::batch:
            break;
        case JournalEntry::Kind::take_ids:
        case JournalEntry::Kind::metadata_sync:
            metadata_synced_ = point_ + 1;
            break;
        }
        ++point_;
    }

    // One of the states that a loss of power here may leave, drawn by `seed`; equal seeds give equal states.
    Remains remains(std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        Remains left{copy_of(durable_), metadata_synced_ + draw(random, point_ - metadata_synced_ + 1)};
        for (const auto& [key, entries] : pending_) leave_some(left.disk[key.first], key.second, entries, random);
        return left;
    }

    static std::uint64_t draw(std::mt19937_64& random, std::uint64_t below) { return random() % below; }

  private:
    using FileKey = std::pair<std::uint32_t, std::string>;

    static DiskImage copy_of(const DiskImage& disk) {
        DiskImage copy;
        for (const auto& [target, files] : disk)
            for (const auto& [name, file] : files) copy[target][name] = std::make_shared<FileImage>(*file);
        return copy;
    }

    static void apply(TargetImage& target, const std::string& name, const JournalEntry& entry) {
        if (entry.kind == JournalEntry::Kind::remove) {
            target.erase(name);
            return;
        }
        std::shared_ptr<FileImage>& file = target[name];
        if (!file) file = std::make_shared<FileImage>();
        if (entry.kind == JournalEntry::Kind::write)
            file->write(entry.offset, entry.data.data(), entry.data.size());
        else
            file->own().resize(entry.size);
    }

    void settle(const FileKey& key) {
        const auto found = pending_.find(key);
        if (found == pending_.end()) return;
        for (const std::size_t index : found->second) apply(durable_[key.first], key.second, journal_[index]);
        pending_.erase(found);
    }

    // A write of which only some sectors arrived: from the front, from the back, or any.
    static void tear(TargetImage& target, const std::string& name, const JournalEntry& entry, std::mt19937_64& random) {
        const std::uint64_t sectors = entry.data.size() / kSectorBytes;
        const std::uint64_t how = draw(random, 3);
        const std::uint64_t cut = draw(random, sectors + 1);
        for (std::uint64_t i = 0; i < sectors; ++i) {
            const bool kept = how == 0 ? i < cut : how == 1 ? i >= cut : draw(random, 2) == 0;
            if (kept)
                target[name]->write(entry.offset + i * kSectorBytes, entry.data.data() + i * kSectorBytes,
                                    kSectorBytes);
        }
    }

    void leave_some(TargetImage& target, const std::string& name, std::vector<std::size_t> entries,
                    std::mt19937_64& random) const {
        const std::uint64_t mood = draw(random, 4); // 0: all lost, 1: all kept, else each by itself
        if (mood == 0) return;
        if (mood != 1) std::shuffle(entries.begin(), entries.end(), random);
        // The name, before what lies under it.
        for (const std::size_t index : entries)
            if (journal_[index].kind == JournalEntry::Kind::create) {
                if (mood != 1 && draw(random, 4) == 0) return;
                target[name] = std::make_shared<FileImage>();
                if (mood == 1 || draw(random, 2) == 0) target[name]->own().resize(journal_[index].size);
            }
        bool removed = false;
        for (const std::size_t index : entries) {
            const JournalEntry& entry = journal_[index];
            if (entry.kind == JournalEntry::Kind::create) continue;
            const std::uint64_t fate = mood == 1 ? 0 : draw(random, 3); // kept, lost, torn
            if (fate == 1) continue;
            if (entry.kind == JournalEntry::Kind::remove)
                removed = true;
            else if (entry.kind == JournalEntry::Kind::write && fate == 2)
                tear(target, name, entry, random);
            else
                apply(target, name, entry);
        }
        if (removed) target.erase(name);
    }

    const Journal& journal_;
    std::size_t point_ = 0, metadata_synced_ = 0;
    DiskImage durable_;
    std::map<FileKey, std::vector<std::size_t>> pending_; // entries since the file's last sync
};

// The metadata that is left, into an engine that is empty.
inline Status restore_metadata(const Journal& journal, const Remains& left, feedfs::MetadataEngine& engine) {
    for (std::size_t i = 0; i < left.metadata_until; ++i) {
        const JournalEntry& entry = journal[i];
        if (entry.kind == JournalEntry::Kind::take_ids) {
            if (auto first = engine.take_ids(entry.name, entry.size); !first) return first.error();
        } else if (entry.kind == JournalEntry::Kind::batch) {
            const Expected<feedfs::Outcome> outcome = engine.apply(entry.batch, feedfs::Durability::relaxed);
            if (!outcome) return outcome.error();
            if (!outcome->applied()) return internal_error("a batch of the journal does not apply again");
        }
    }
    return {};
}

} // namespace feedbench::test
