#include "storage/feedfs/metadata/take_ids.hpp"

#include <cerrno>

#include "storage/feedfs/metadata/schema.hpp"

namespace feedbench::feedfs {

Expected<std::uint64_t> take_ids_by_batches(MetadataEngine& engine, std::string_view counter, std::uint64_t count) {
    if (count == 0) return storage_error("take ids", std::string(counter), EINVAL, "a range of ids holds at least one");
    const std::string key = counter_key(counter);
    const std::int64_t delta[] = {static_cast<std::int64_t>(count)};
    for (;;) {
        std::string before;
        auto found = engine.get(key, before);
        if (!found) return std::move(found.error());
        Batch batch;
        if (*found)
            batch.require_equals(key, before);
        else
            batch.require_absent(key);
        batch.add(key, delta);
        auto outcome = engine.apply(batch, Durability::durable);
        if (!outcome) return std::move(outcome.error());
        if (!outcome->applied()) continue;
        const std::vector<std::int64_t> handed_out = decode_counters(before);
        return static_cast<std::uint64_t>(handed_out.empty() ? 0 : handed_out[0]) + 1;
    }
}

} // namespace feedbench::feedfs
