#include <algorithm>

#include "storage/feedfs/metadata/redis_engine.hpp"
#include "storage/feedfs/metadata/redis_scripts.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::size_t kPageKeys = 1000; // of a scan or get_many: bounds how long Redis is busy with one call

} // namespace

Expected<ReadHandle> RedisEngine::read() {
    auto client = take_client();
    if (!client) return std::move(client.error());
    return ReadHandle(new RedisView(*this, std::move(*client)));
}

Expected<std::optional<std::string_view>> RedisView::get(std::string_view key) {
    auto reply = client_->connection.command(Words{"HGET", engine_.hash_key(), key});
    if (!reply) return std::move(reply.error());
    reply_ = std::move(*reply);
    if (reply_.kind == RedisReply::Kind::nil) return std::optional<std::string_view>();
    return std::optional<std::string_view>(reply_.text);
}

Status RedisView::get_many(std::span<const std::string> keys, const GetVisitor& visit) {
    for (std::size_t first = 0; first < keys.size(); first += kPageKeys) {
        const auto page = keys.subspan(first, std::min(kPageKeys, keys.size() - first));
        Words words{"HMGET", engine_.hash_key()};
        words.insert(words.end(), page.begin(), page.end());
        auto reply = client_->connection.command(words);
        if (!reply) return std::move(reply.error());
        for (std::size_t i = 0; i < reply->items.size(); ++i) {
            const RedisReply& item = reply->items[i];
            visit(first + i,
                  item.kind == RedisReply::Kind::nil ? std::nullopt : std::optional<std::string_view>(item.text));
        }
    }
    return {};
}

Expected<ScanEnd> RedisView::scan(const KeyRange& range, std::size_t limit, const ScanVisitor& visit) {
    std::string from = range.from;
    const std::string to = range.to.empty() ? "+" : "(" + range.to;
    while (limit > 0) {
        const std::string count = std::to_string(std::min(limit, kPageKeys));
        const std::string lower = "[" + from;
        auto reply =
            engine_.run(*client_, kScanScript, {"2", engine_.hash_key(), engine_.index_key(), lower, to, count});
        if (!reply) return std::move(reply.error());
        auto& items = reply->items;
        const bool more = items.size() % 2 == 1; // the last is the next page's first key
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
            --limit;
            if (visit(items[i].text, items[i + 1].text)) continue;
            if (i + 2 < items.size()) return ScanEnd{false, std::move(items[i + 2].text)};
            return ScanEnd{true, {}};
        }
        if (!more) return ScanEnd{true, {}};
        from = std::move(items.back().text);
    }
    return ScanEnd{false, std::move(from)};
}

void RedisView::give_back() {
    engine_.keep(std::move(client_));
    delete this;
}

} // namespace feedbench::feedfs
