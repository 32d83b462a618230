#include "storage/feedfs/metadata/memory.hpp"

#include <algorithm>
#include <cerrno>

#include "storage/feedfs/metadata/batch_apply.hpp"
#include "storage/feedfs/metadata/take_ids.hpp"

namespace feedbench::feedfs {

class MemoryEngine::View final : public ReadView {
  public:
    View(std::shared_ptr<std::mutex> mutex, std::shared_ptr<const Content> content, std::uint64_t state_number)
        : mutex_(std::move(mutex)), content_(std::move(content)), state_number_(state_number) {}
    Expected<std::optional<std::string_view>> get(std::string_view key) override {
        const auto found = content_->find(key);
        if (found == content_->end()) return std::optional<std::string_view>();
        return std::optional<std::string_view>(found->second);
    }
    Status get_many(std::span<const std::string> keys, const GetVisitor& visit) override {
        for (std::size_t i = 0; i < keys.size(); ++i) visit(i, *get(keys[i]));
        return {};
    }
    Expected<ScanEnd> scan(const KeyRange& range, std::size_t limit, const ScanVisitor& visit) override {
        auto at = content_->lower_bound(range.from);
        const auto end = range.to.empty() ? content_->end() : content_->lower_bound(range.to);
        bool more = true;
        for (; more && limit > 0 && at != end && at->first >= range.from; --limit, ++at)
            more = visit(at->first, at->second);
        if (at == end || at == content_->end() || (!range.to.empty() && at->first >= range.to))
            return ScanEnd{true, {}};
        return ScanEnd{false, at->first};
    }
    std::uint64_t state_number() const override { return state_number_; }
    // Under the engine's mutex: writable() takes a content that nobody looks at any more for its own, and must see
    // everything that was read before.
    void give_back() override {
        {
            const std::lock_guard lock(*mutex_);
            content_.reset();
        }
        delete this;
    }

  private:
    const std::shared_ptr<std::mutex> mutex_; // a view may outlive the engine
    std::shared_ptr<const Content> content_;
    std::uint64_t state_number_;
};

class MemoryEngine::Writer final : public KeySpace {
  public:
    explicit Writer(Content& content) : content_(content) {}
    Expected<std::optional<std::string_view>> get(std::string_view key) override {
        const auto found = content_.find(key);
        if (found == content_.end()) return std::optional<std::string_view>();
        return std::optional<std::string_view>(found->second);
    }
    Status put(std::string_view key, std::string_view value) override {
        content_.insert_or_assign(std::string(key), std::string(value));
        return {};
    }
    Status erase(std::string_view key) override {
        if (const auto found = content_.find(key); found != content_.end()) content_.erase(found);
        return {};
    }
    Status erase_range(std::string_view from, std::string_view to) override {
        auto at = content_.lower_bound(from);
        while (at != content_.end() && (to.empty() || at->first < to)) at = content_.erase(at);
        return {};
    }
    Expected<bool> is_empty(std::string_view from, std::string_view to) override {
        const auto at = content_.lower_bound(from);
        return at == content_.end() || (!to.empty() && at->first >= to);
    }

  private:
    Content& content_;
};

MemoryEngine::MemoryEngine() {
    properties_.engine = "memory";
    properties_.place = "memory of this process";
    properties_.durability = "memory: kept as long as the process has it open";
    properties_.durable = false;
}

MemoryEngine::Content& MemoryEngine::writable() {
    if (latest_.use_count() > 1) latest_ = std::make_shared<Content>(*latest_);
    return *latest_;
}

Expected<ReadHandle> MemoryEngine::read() {
    const std::lock_guard lock(*mutex_);
    return ReadHandle(new View(mutex_, latest_, state_number_));
}

Expected<std::vector<Outcome>> MemoryEngine::apply(std::span<const Batch> batches, Durability durability) {
    if (Status sizes = check_sizes(batches); !sizes) return std::move(sizes.error());
    const std::lock_guard lock(*mutex_);
    const std::shared_ptr<Content> before = keys_limit_ > 0 ? latest_ : nullptr; // kept only where it may be needed
    std::vector<Outcome> outcomes;
    Writer writer(writable());
    for (const Batch& batch : batches) outcomes.push_back(*apply_batch(writer, batch));
    if (keys_limit_ > 0 && latest_->size() > keys_limit_ && latest_->size() > before->size()) {
        const std::size_t asked = latest_->size();
        latest_ = before;
        return storage_error("apply", properties_.place, ENOSPC,
                             "the metadata engine is full: " + std::to_string(asked) + " keys, its limit is " +
                                 std::to_string(keys_limit_));
    }
    ++state_number_;
    for (std::size_t i = 0; i < batches.size(); ++i)
        if (outcomes[i].applied()) relaxed_.push_back(batches[i]);
    if (durability == Durability::durable) {
        durable_ = latest_;
        relaxed_.clear();
    }
    return outcomes;
}

Status MemoryEngine::sync() {
    const std::lock_guard lock(*mutex_);
    durable_ = latest_;
    relaxed_.clear();
    return {};
}

Expected<std::uint64_t> MemoryEngine::take_ids(std::string_view counter, std::uint64_t count) {
    return take_ids_by_batches(*this, counter, count);
}

Expected<EngineFigures> MemoryEngine::figures() {
    const std::lock_guard lock(*mutex_);
    EngineFigures figures;
    figures.keys = latest_->size();
    for (const auto& [key, value] : *latest_) figures.used_bytes += key.size() + value.size();
    return figures;
}

void MemoryEngine::crash(std::size_t kept) {
    const std::lock_guard lock(*mutex_);
    latest_ = std::make_shared<Content>(*durable_);
    Writer writer(*latest_);
    for (std::size_t i = 0; i < std::min(kept, relaxed_.size()); ++i)
        (void)apply_batch(writer, relaxed_[i]); // its conditions hold: the state is the one that it was applied to
    durable_ = latest_;
    relaxed_.clear();
    ++state_number_;
}

std::size_t MemoryEngine::relaxed_count() const {
    const std::lock_guard lock(*mutex_);
    return relaxed_.size();
}

void MemoryEngine::limit_keys(std::size_t keys) {
    const std::lock_guard lock(*mutex_);
    keys_limit_ = keys;
}

} // namespace feedbench::feedfs
