#include "storage/feedfs/metadata/batch_apply.hpp"

#include <algorithm>
#include <cerrno>

namespace feedbench::feedfs {

namespace {

Expected<bool> holds(KeySpace& keys, const Condition& condition) {
    if (condition.kind == Condition::Kind::range_empty) return keys.is_empty(condition.key, condition.value);
    auto found = keys.get(condition.key);
    if (!found) return std::move(found.error());
    switch (condition.kind) {
    case Condition::Kind::absent:
        return !found->has_value();
    case Condition::Kind::present:
        return found->has_value();
    default:
        return found->has_value() && **found == condition.value;
    }
}

Status make(KeySpace& keys, const Change& change) {
    switch (change.kind) {
    case Change::Kind::put:
        return keys.put(change.key, change.value);
    case Change::Kind::erase:
        return keys.erase(change.key);
    case Change::Kind::erase_range:
        return keys.erase_range(change.key, change.value);
    case Change::Kind::add:
    case Change::Kind::raise:
        break;
    }
    auto found = keys.get(change.key);
    if (!found) return std::move(found.error());
    const std::string_view before = found->value_or(std::string_view());
    return keys.put(change.key, change.kind == Change::Kind::add ? add_counters(before, change.value)
                                                                 : raise_counters(before, change.value));
}

Error bad_size(const std::string& key, const std::string& what) {
    return storage_error("apply", {}, EINVAL,
                         what + " (key of " + std::to_string(key.size()) + " bytes, table " +
                             (key.empty() ? std::string("none") : key.substr(0, 1)) + ")");
}

} // namespace

Expected<Outcome> apply_batch(KeySpace& keys, const Batch& batch) {
    for (std::size_t i = 0; i < batch.conditions().size(); ++i) {
        auto held = holds(keys, batch.conditions()[i]);
        if (!held) return std::move(held.error());
        if (!*held) return Outcome{i};
    }
    for (const Change& change : batch.changes())
        if (Status made = make(keys, change); !made) return std::move(made.error());
    return Outcome{};
}

Status check_sizes(std::span<const Batch> batches) {
    for (const Batch& batch : batches) {
        for (const Condition& condition : batch.conditions())
            if (condition.kind != Condition::Kind::range_empty &&
                (condition.key.empty() || condition.key.size() > kKeyBytesMax))
                return bad_size(condition.key, "a key has 1 to 511 bytes");
        for (const Change& change : batch.changes()) {
            if (change.kind == Change::Kind::erase_range) continue;
            if (change.key.empty() || change.key.size() > kKeyBytesMax)
                return bad_size(change.key, "a key has 1 to 511 bytes");
            if (change.value.size() > kValueBytesMax) return bad_size(change.key, "a value has at most 64 MiB");
        }
    }
    return {};
}

std::string raise_counters(std::string_view bytes, std::string_view least) {
    std::vector<std::int64_t> values = decode_counters(bytes);
    const std::vector<std::int64_t> wanted = decode_counters(least);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (i == values.size())
            values.push_back(wanted[i]);
        else
            values[i] = std::max(values[i], wanted[i]);
    return encode_counters(values);
}

std::string add_counters(std::string_view bytes, std::string_view deltas) {
    std::vector<std::int64_t> sums = decode_counters(bytes);
    const std::vector<std::int64_t> added = decode_counters(deltas);
    sums.resize(std::max(sums.size(), added.size()));
    for (std::size_t i = 0; i < added.size(); ++i) sums[i] += added[i];
    return encode_counters(sums);
}

} // namespace feedbench::feedfs
