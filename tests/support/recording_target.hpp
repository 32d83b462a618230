// A target in memory that writes down everything in a journal, and can be told to fail, to be full, to be missing, or
// to lie about syncs.
//
// Thread: any (one mutex). Owner: shared; files may outlive it. Units: bytes. Errors: as target.hpp promises, and those
// asked for. Source: issue 7, "Proof that it does not lose data".
#pragma once

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "storage/feedfs/target.hpp"
#include "tests/support/crash_journal.hpp"

namespace feedbench::test {

// What a recording target and its files share.
struct RecordedStore {
    feedfs::TargetConfig config;
    std::mutex mutex;
    TargetImage files;
    Journal* journal = nullptr;    // of the whole volume; none: nothing is written down
    bool lies_about_sync = false;  // answers that it did, and did not: a broken variant that tests must notice
    bool missing = false;          // ENODEV for everything
    std::uint64_t limit_bytes = 0; // ENOSPC past it; 0: none
    // errno with which an operation fails, 0 = it does not: "create", "read", "write", "sync", "finish", "remove".
    std::function<int(const char* operation, const std::string& name, std::uint64_t offset)> error;
    bool flips_reads = false;          // every read comes back with one bit changed
    std::function<void()> before_read; // called without the mutex
    std::uint64_t reads = 0, bytes_read = 0;

    std::uint64_t used_bytes() const {
        std::uint64_t sum = 0;
        for (const auto& [name, file] : files) sum += file->size();
        return sum;
    }
    Status check(const char* operation, const std::string& name, std::uint64_t offset = 0) const {
        const int number = missing ? ENODEV : error ? error(operation, name, offset) : 0;
        if (number != 0) return storage_error(operation, config.place + "/" + name, number, {}, -1);
        return {};
    }
    void record(JournalEntry::Kind kind, const std::string& name, std::uint64_t offset = 0, std::uint64_t size = 0,
                std::vector<std::byte> data = {}) {
        if (!journal) return;
        JournalEntry entry;
        entry.kind = kind;
        entry.target = config.id;
        entry.name = name;
        entry.offset = offset;
        entry.size = size;
        entry.data = std::move(data);
        journal->push_back(std::move(entry));
    }
};

class RecordedFile final : public feedfs::TargetFile {
  public:
    // `is_object`: of an object tier and being made: nobody sees it before sync().
    RecordedFile(std::shared_ptr<RecordedStore> store, std::string name, std::shared_ptr<FileImage> image,
                 bool is_object = false)
        : store_(std::move(store)), name_(std::move(name)), image_(std::move(image)), is_object_(is_object) {}

    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
        if (store_->before_read) store_->before_read();
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("read", name_, offset); !ok) return ok.error();
        const std::vector<std::byte>& bytes = image_->bytes();
        const std::uint64_t length =
            offset >= bytes.size() ? 0 : std::min<std::uint64_t>(into.size(), bytes.size() - offset);
        if (length > 0) std::memcpy(into.data(), bytes.data() + offset, length);
        if (length > 0 && store_->flips_reads) into[length / 2] ^= std::byte{1};
        ++store_->reads;
        store_->bytes_read += length;
        return length;
    }

    Status write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("write", name_, offset); !ok) return ok;
        std::vector<std::byte> data;
        for (const std::span<const std::byte> piece : pieces) {
            assert(piece.size() % feedfs::kBlockBytes == 0 &&
                   reinterpret_cast<std::uintptr_t>(piece.data()) % feedfs::kBlockBytes == 0);
            data.insert(data.end(), piece.begin(), piece.end());
        }
        assert(offset % feedfs::kBlockBytes == 0);
        const std::uint64_t end = std::max<std::uint64_t>(offset + data.size(), image_->size());
        if (store_->limit_bytes != 0 && store_->used_bytes() + end - image_->size() > store_->limit_bytes)
            return storage_error("write", store_->config.place + "/" + name_, ENOSPC, {}, std::int64_t(offset));
        image_->write(offset, data.data(), data.size());
        if (!is_object_) store_->record(JournalEntry::Kind::write, name_, offset, 0, std::move(data));
        return {};
    }

    Status sync() override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("sync", name_); !ok) {
            store_->record(JournalEntry::Kind::failed_sync, name_);
            return ok;
        }
        if (is_object_) {
            store_->files[name_] = std::make_shared<FileImage>(*image_);
            store_->record(JournalEntry::Kind::put, name_, 0, 0, image_->bytes());
        } else if (!store_->lies_about_sync)
            store_->record(JournalEntry::Kind::sync, name_);
        return {};
    }

    Status finish(std::uint64_t size) override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("finish", name_); !ok) return ok;
        if (image_->size() != size) image_->own().resize(size);
        if (!is_object_) store_->record(JournalEntry::Kind::resize, name_, 0, size);
        return {};
    }

    Expected<std::uint64_t> size() const override {
        const std::lock_guard lock(store_->mutex);
        return image_->size();
    }
    int descriptor(bool /*direct*/) const override { return -1; }

  private:
    std::shared_ptr<RecordedStore> store_;
    std::string name_;
    std::shared_ptr<FileImage> image_;
    const bool is_object_;
};

class RecordingTarget final : public feedfs::Target {
  public:
    explicit RecordingTarget(feedfs::TargetConfig config, Journal* journal = nullptr, TargetImage files = {}) {
        store_->config = std::move(config);
        store_->journal = journal;
        store_->files = std::move(files);
    }
    RecordedStore& store() { return *store_; }

    const feedfs::TargetConfig& config() const override { return store_->config; }

    Expected<std::shared_ptr<feedfs::TargetFile>> create(const std::string& name, std::uint64_t reserve) override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("create", name); !ok) return ok.error();
        const std::string path = store_->config.place + "/" + name;
        if (store_->config.tier == feedfs::Tier::object)
            return std::shared_ptr<feedfs::TargetFile>(
                std::make_shared<RecordedFile>(store_, name, std::make_shared<FileImage>(), true));
        if (store_->files.contains(name)) return storage_error("create", path, EEXIST);
        if (store_->limit_bytes != 0 && store_->used_bytes() + reserve > store_->limit_bytes)
            return storage_error("create", path, ENOSPC);
        auto image = std::make_shared<FileImage>();
        image->own().resize(reserve);
        store_->files[name] = image;
        store_->record(JournalEntry::Kind::create, name, 0, reserve);
        return std::shared_ptr<feedfs::TargetFile>(std::make_shared<RecordedFile>(store_, name, image));
    }
    Expected<std::shared_ptr<feedfs::TargetFile>> open(const std::string& name) override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("open", name); !ok) return ok.error();
        const auto found = store_->files.find(name);
        if (found == store_->files.end()) return storage_error("open", store_->config.place + "/" + name, ENOENT);
        return std::shared_ptr<feedfs::TargetFile>(std::make_shared<RecordedFile>(store_, name, found->second));
    }
    Expected<std::shared_ptr<feedfs::TargetFile>> open_for_repair(const std::string& name) override {
        return open(name);
    }
    Status list(const std::function<bool(const std::string&, std::uint64_t)>& each) override {
        std::vector<std::pair<std::string, std::uint64_t>> names;
        {
            const std::lock_guard lock(store_->mutex);
            if (Status ok = store_->check("list", {}); !ok) return ok;
            for (const auto& [name, file] : store_->files) names.emplace_back(name, file->size());
        }
        for (const auto& [name, size] : names)
            if (!each(name, size)) break;
        return {};
    }
    Status remove(const std::string& name) override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("remove", name); !ok) return ok;
        if (store_->files.erase(name) > 0) store_->record(JournalEntry::Kind::remove, name);
        return {};
    }
    Expected<feedfs::TargetSpace> space() override {
        const std::lock_guard lock(store_->mutex);
        if (Status ok = store_->check("space", {}); !ok) return ok.error();
        const std::uint64_t total = store_->limit_bytes != 0 ? store_->limit_bytes : std::uint64_t{1} << 40;
        return feedfs::TargetSpace{total, total - std::min(total, store_->used_bytes())};
    }

  private:
    std::shared_ptr<RecordedStore> store_ = std::make_shared<RecordedStore>();
};

} // namespace feedbench::test
