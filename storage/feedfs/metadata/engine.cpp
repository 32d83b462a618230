#include "storage/feedfs/metadata/engine.hpp"

#include "storage/feedfs/metadata/varint.hpp"

namespace feedbench::feedfs {

KeyRange keys_with_prefix(std::string prefix) {
    std::string to = prefix;
    while (!to.empty() && static_cast<unsigned char>(to.back()) == 0xff) to.pop_back();
    if (!to.empty()) to.back() = static_cast<char>(static_cast<unsigned char>(to.back()) + 1);
    return {std::move(prefix), std::move(to)};
}

std::string encode_counters(std::span<const std::int64_t> values) {
    std::string bytes;
    for (const std::int64_t value : values) put_little(bytes, value);
    return bytes;
}

std::vector<std::int64_t> decode_counters(std::string_view bytes) {
    std::vector<std::int64_t> values;
    for (std::int64_t value = 0; get_little(bytes, value);) values.push_back(value);
    return values;
}

void Batch::add(std::string key, std::span<const std::int64_t> deltas) {
    change(Change::Kind::add, std::move(key), encode_counters(deltas));
}

void Batch::raise(std::string key, std::span<const std::int64_t> values) {
    change(Change::Kind::raise, std::move(key), encode_counters(values));
}

void Batch::append(Batch other) {
    for (Condition& condition : other.conditions_) conditions_.push_back(std::move(condition));
    for (Change& each : other.changes_) changes_.push_back(std::move(each));
}

void Batch::clear() {
    conditions_.clear();
    changes_.clear();
}

Expected<Outcome> MetadataEngine::apply(const Batch& batch, Durability durability) {
    auto outcomes = apply(std::span<const Batch>(&batch, 1), durability);
    if (!outcomes) return std::move(outcomes.error());
    return outcomes->front();
}

Expected<bool> MetadataEngine::get(std::string_view key, std::string& value) {
    auto view = read();
    if (!view) return std::move(view.error());
    auto found = (*view)->get(key);
    if (!found) return std::move(found.error());
    if (!found->has_value()) return false;
    value.assign(**found);
    return true;
}

} // namespace feedbench::feedfs
