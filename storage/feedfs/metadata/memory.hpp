// A metadata engine in this process's memory: for tests, and as the model that the others are held against.
//
// Thread: any, as engine.hpp says. Owner: whoever holds the pointer; the content dies with the last. Units: none.
// Errors: ENOSPC above a limit that was set; nothing else. Source: engine.hpp.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::feedfs {

class MemoryEngine final : public MetadataEngine {
  public:
    MemoryEngine();
    const EngineProperties& properties() const override { return properties_; }
    Expected<ReadHandle> read() override;
    using MetadataEngine::apply;
    Expected<std::vector<Outcome>> apply(std::span<const Batch> batches, Durability durability) override;
    Status sync() override;
    Expected<std::uint64_t> take_ids(std::string_view counter, std::uint64_t count) override;
    Expected<EngineFigures> figures() override;

    // A loss of power: what is durable stays, and the first `kept` of the relaxed batches after it. Views go on as they
    // were.
    void crash(std::size_t kept);
    std::size_t relaxed_count() const; // batches that a crash may lose
    // From now on batches that would leave more keys than this fail with ENOSPC, wholly. 0: no limit.
    void limit_keys(std::size_t keys);

  private:
    using Content = std::map<std::string, std::string, std::less<>>;
    class View;
    class Writer;
    Content& writable(); // copied first where a view looks at it

    EngineProperties properties_;
    const std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
    std::shared_ptr<Content> latest_ = std::make_shared<Content>();
    std::shared_ptr<Content> durable_ = latest_;
    std::vector<Batch> relaxed_; // applied on top of durable_
    std::uint64_t state_number_ = 1;
    std::size_t keys_limit_ = 0;
};

} // namespace feedbench::feedfs
