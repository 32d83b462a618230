// The Redis engine's classes, shared by the files that implement them.
//
// Thread: RedisEngine: any; a client and a view: one at a time. Owner: views hold their client and give it back to the
// engine, which outlives them. Units: none. Errors: redis.hpp. Source: redis_scripts.hpp (how keys and values are
// kept).
#pragma once

#include <map>
#include <mutex>

#include "storage/feedfs/metadata/redis.hpp"
#include "storage/feedfs/metadata/redis_connection.hpp"
#include "storage/feedfs/metadata/take_ids.hpp"

namespace feedbench::feedfs {

using Words = std::vector<std::string_view>;

// A connection with the name under which Redis remembers what it was told last.
struct RedisClient {
    explicit RedisClient(const RedisAddress& address) : connection(address) {}
    RedisConnection connection;
    std::string told_key;
    std::uint64_t calls = 0;
};

class RedisEngine final : public MetadataEngine {
  public:
    RedisEngine(RedisAddress address, const std::string& volume_id, bool read_only)
        : address_(std::move(address)), read_only_(read_only), prefix_("feedfs:{" + volume_id + "}:"),
          hash_key_(prefix_ + "kv"), index_key_(prefix_ + "keys") {
        properties_.engine = "redis";
        properties_.place = address_.shown();
        properties_.several_hosts = true;
        properties_.snapshot_spans_calls = false;
    }
    Status start(bool require_durable, const std::function<void(const std::string&)>& warn);
    const EngineProperties& properties() const override { return properties_; }
    Expected<ReadHandle> read() override;
    using MetadataEngine::apply;
    Expected<std::vector<Outcome>> apply(std::span<const Batch> batches, Durability durability) override;
    Status sync() override; // what is applied is as durable as Redis makes it: asks whether it still lives
    Expected<std::uint64_t> take_ids(std::string_view counter, std::uint64_t count) override {
        return take_ids_by_batches(*this, counter, count);
    }
    Expected<EngineFigures> figures() override;

    Expected<std::unique_ptr<RedisClient>> take_client();
    void keep(std::unique_ptr<RedisClient> client) {
        const std::lock_guard lock(mutex_);
        resting_.push_back(std::move(client));
    }
    // EVALSHA, and EVAL where Redis has lost the script.
    Expected<RedisReply> run(RedisClient& client, const char* script, const Words& keys_and_arguments);
    const std::string& hash_key() const { return hash_key_; }
    const std::string& index_key() const { return index_key_; }

  private:
    Status apply_some(RedisClient& client, std::span<const Batch> batches, std::vector<Outcome>& outcomes);
    Status learn_durability(RedisClient& client);
    Expected<std::string> setting(RedisClient& client, const char* name); // empty: not told

    RedisAddress address_;
    bool read_only_;
    std::string prefix_;
    std::string hash_key_;
    std::string index_key_;
    EngineProperties properties_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<RedisClient>> resting_;
    std::map<const char*, std::string> digests_; // SHA1 by script; filled by start, then constant
};

class RedisView final : public ReadView {
  public:
    RedisView(RedisEngine& engine, std::unique_ptr<RedisClient> client) : engine_(engine), client_(std::move(client)) {}
    Expected<std::optional<std::string_view>> get(std::string_view key) override;
    Status get_many(std::span<const std::string> keys, const GetVisitor& visit) override;
    Expected<ScanEnd> scan(const KeyRange& range, std::size_t limit, const ScanVisitor& visit) override;
    std::uint64_t state_number() const override { return 0; }
    void give_back() override;

  private:
    RedisEngine& engine_;
    std::unique_ptr<RedisClient> client_;
    RedisReply reply_; // what the latest get looks into
};

} // namespace feedbench::feedfs
