#include "storage/feedfs/metadata/redis.hpp"

#include <cerrno>
#include <cstdlib>

#include "storage/feedfs/metadata/batch_apply.hpp"
#include "storage/feedfs/metadata/redis_engine.hpp"
#include "storage/feedfs/metadata/redis_scripts.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::size_t kChangesOfCall = 4000; // of several batches: bounds how long Redis is busy with one call

char letter(Condition::Kind kind) {
    switch (kind) {
    case Condition::Kind::absent:
        return 'a';
    case Condition::Kind::present:
        return 'p';
    case Condition::Kind::equals:
        return 'e';
    default:
        return 'r';
    }
}
char letter(Change::Kind kind) {
    switch (kind) {
    case Change::Kind::put:
        return 'p';
    case Change::Kind::erase:
        return 'e';
    case Change::Kind::raise:
        return 'm';
    case Change::Kind::erase_range:
        return 'r';
    default:
        return 'd';
    }
}
// Letters that live as long as the program, for words are views.
std::string_view word_of(char letter) {
    static constexpr std::string_view kLetters = "adermp";
    return kLetters.substr(kLetters.find(letter), 1);
}

std::uint64_t figure(const std::string& info, const std::string& name) {
    const std::size_t at = info.find("\n" + name + ":");
    return at == std::string::npos ? 0 : std::strtoull(info.c_str() + at + name.size() + 2, nullptr, 10);
}

} // namespace

Expected<std::unique_ptr<RedisClient>> RedisEngine::take_client() {
    {
        const std::lock_guard lock(mutex_);
        if (!resting_.empty()) {
            auto client = std::move(resting_.back());
            resting_.pop_back();
            return client;
        }
    }
    auto client = std::make_unique<RedisClient>(address_);
    if (read_only_) return client;
    // Unique even if Redis loses its latest second: its clock, and a number that it counts up.
    const std::string counter = prefix_ + "clients";
    auto number = client->connection.command(Words{"INCR", counter});
    if (!number) return std::move(number.error());
    auto time = client->connection.command(Words{"TIME"});
    if (!time) return std::move(time.error());
    client->told_key = prefix_ + "told:" + std::to_string(number->number);
    for (const RedisReply& part : time->items) client->told_key += "." + part.text;
    return client;
}

Expected<RedisReply> RedisEngine::run(RedisClient& client, const char* script, const Words& keys_and_arguments) {
    Words words{"EVALSHA", digests_.at(script)};
    words.insert(words.end(), keys_and_arguments.begin(), keys_and_arguments.end());
    auto reply = client.connection.command(words);
    if (!reply || reply->kind != RedisReply::Kind::error) return reply;
    words[0] = "EVAL";
    words[1] = script;
    return client.connection.command(words);
}

Status RedisEngine::apply_some(RedisClient& client, std::span<const Batch> batches, std::vector<Outcome>& outcomes) {
    const std::string call = std::to_string(++client.calls);
    std::vector<std::string> counts; // reserved: words look into them
    counts.reserve(batches.size() * 2 + 1);
    counts.push_back(std::to_string(batches.size()));
    Words words{"3", hash_key_, index_key_, client.told_key, call, counts.back()};
    for (const Batch& batch : batches) {
        words.push_back(counts.emplace_back(std::to_string(batch.conditions().size())));
        words.push_back(counts.emplace_back(std::to_string(batch.changes().size())));
        for (const Condition& condition : batch.conditions())
            words.insert(words.end(), {word_of(letter(condition.kind)), condition.key, condition.value});
        for (const Change& change : batch.changes())
            words.insert(words.end(), {word_of(letter(change.kind)), change.key, change.value});
    }
    auto reply = run(client, kApplyScript, words);
    if (!reply) return std::move(reply.error());
    const char* at = reply->text.c_str();
    for (std::size_t i = 0; i < batches.size(); ++i) {
        char* end = nullptr;
        const unsigned long failed = std::strtoul(at, &end, 10);
        if (end == at)
            return storage_error("apply", properties_.place, EPROTO,
                                 "Redis answered a batch with '" + reply->text + "'");
        at = end;
        outcomes.push_back(failed == 0 ? Outcome{} : Outcome{failed - 1});
    }
    return {};
}

Expected<std::vector<Outcome>> RedisEngine::apply(std::span<const Batch> batches, Durability) {
    if (read_only_) return storage_error("apply", properties_.place, EROFS, "the metadata is open read-only");
    if (Status sizes = check_sizes(batches); !sizes) return std::move(sizes.error());
    auto client = take_client();
    if (!client) return std::move(client.error());
    std::vector<Outcome> outcomes;
    outcomes.reserve(batches.size());
    while (!batches.empty()) {
        std::size_t count = 0;
        for (std::size_t changes = 0; count < batches.size() && (count == 0 || changes < kChangesOfCall); ++count)
            changes += batches[count].changes().size() + batches[count].conditions().size();
        if (Status applied = apply_some(**client, batches.first(count), outcomes); !applied)
            return std::move(applied.error()); // the connection is not kept: its call may still be under way
        batches = batches.subspan(count);
    }
    keep(std::move(*client));
    return outcomes;
}

Status RedisEngine::sync() {
    auto client = take_client();
    if (!client) return std::move(client.error());
    auto reply = (*client)->connection.command(Words{"PING"});
    if (!reply) return std::move(reply.error());
    keep(std::move(*client));
    return {};
}

Expected<EngineFigures> RedisEngine::figures() {
    auto client = take_client();
    if (!client) return std::move(client.error());
    auto keys = (*client)->connection.command(Words{"ZCARD", index_key_});
    if (!keys) return std::move(keys.error());
    auto memory = (*client)->connection.command(Words{"INFO", "memory"});
    if (!memory) return std::move(memory.error());
    keep(std::move(*client));
    EngineFigures figures;
    figures.keys = static_cast<std::uint64_t>(keys->number);
    figures.used_bytes = figure(memory->text, "used_memory");
    figures.limit_bytes = figure(memory->text, "maxmemory");
    return figures;
}

} // namespace feedbench::feedfs
