// Random batches from seeds, on every engine and on a std::map, one beside the other.
#include <map>
#include <random>

#include "storage/feedfs/metadata/memory.hpp"
#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

using Model = std::map<std::string, std::string>;

struct RandomBatches {
    std::mt19937_64 random;
    std::size_t below(std::size_t n) { return random() % n; }

    std::string key() { // few of them, so that conditions meet what they ask for
        std::string made = entry_key(1 + below(3), {});
        for (std::size_t i = below(3); i > 0; --i) made.push_back("\0a\xff"[below(3)]);
        return made;
    }
    std::string value() {
        return std::string(below(5) == 0 ? below(5000) : below(9), static_cast<char>('a' + below(26)));
    }
    KeyRange range() {
        std::string from = key();
        std::string to = below(4) == 0 ? std::string("F") : key();
        if (to < from) std::swap(from, to);
        return {from, to};
    }
    Batch batch(const Model& model) {
        Batch made;
        for (std::size_t i = below(3); i > 0; --i) {
            const std::string k = key();
            const auto found = model.find(k);
            switch (below(5)) {
            case 0:
                made.require_absent(k);
                break;
            case 1:
                made.require_present(k);
                break;
            case 2:
                made.require_equals(k, found == model.end() || below(4) == 0 ? value() : found->second);
                break;
            case 3:
                made.require_empty(range());
                break;
            default: // one that holds
                if (found == model.end())
                    made.require_absent(k);
                else
                    made.require_equals(k, found->second);
            }
        }
        for (std::size_t i = below(5); i > 0; --i) {
            switch (below(9)) {
            case 0:
            case 1:
                made.erase(key());
                break;
            case 2:
                made.erase_range(range());
                break;
            case 3: {
                const std::int64_t deltas[] = {static_cast<std::int64_t>(below(1000)) - 500, 1};
                made.add("L" + std::to_string(below(3)), std::span(deltas, 1 + below(2)));
                break;
            }
            case 4: {
                const std::int64_t values[] = {static_cast<std::int64_t>(below(1000)) - 500,
                                               1'800'000'000'000'000 + static_cast<std::int64_t>(below(1000))};
                made.raise("L" + std::to_string(below(3)), std::span(values, 1 + below(2)));
                break;
            }
            default:
                made.put(key(), value());
            }
        }
        return made;
    }
};

bool is_empty(const Model& model, const std::string& from, const std::string& to) {
    const auto at = model.lower_bound(from);
    return at == model.end() || at->first >= to;
}

// The meaning of a batch once more, in the plainest words.
Outcome apply_to(Model& model, const Batch& batch) {
    for (std::size_t i = 0; i < batch.conditions().size(); ++i) {
        const Condition& c = batch.conditions()[i];
        const auto found = model.find(c.key);
        const bool there = found != model.end();
        const bool holds = c.kind == Condition::Kind::absent    ? !there
                           : c.kind == Condition::Kind::present ? there
                           : c.kind == Condition::Kind::equals  ? there && found->second == c.value
                                                                : is_empty(model, c.key, c.value);
        if (!holds) return {i};
    }
    for (const Change& c : batch.changes()) {
        if (c.kind == Change::Kind::put) model[c.key] = c.value;
        if (c.kind == Change::Kind::erase) model.erase(c.key);
        if (c.kind == Change::Kind::erase_range)
            std::erase_if(model, [&](const auto& entry) { return entry.first >= c.key && entry.first < c.value; });
        if (c.kind != Change::Kind::add && c.kind != Change::Kind::raise) continue;
        auto sums = decode_counters(model[c.key]);
        const auto deltas = decode_counters(c.value);
        const std::size_t known = sums.size();
        sums.resize(std::max(sums.size(), deltas.size()));
        for (std::size_t i = 0; i < deltas.size(); ++i)
            sums[i] = c.kind == Change::Kind::raise && i < known ? std::max(sums[i], deltas[i]) : sums[i] + deltas[i];
        model[c.key] = encode_counters(sums);
    }
    return {};
}

TEST_CASE("metadata engines: random batches have the same outcomes and leave the same keys as a map") {
    for (const std::string& name : metadata_engines()) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            INFO(name << ", seed " << seed);
            MetadataRig rig(name, {"--appendonly", "no"});
            auto engine = rig.create();
            RandomBatches batches{std::mt19937_64(seed)};
            Model model;
            for (int round = 0; round < 300; ++round) {
                std::vector<Batch> together;
                std::vector<Outcome> expected;
                for (std::size_t i = batches.below(4); i > 0; --i) {
                    together.push_back(batches.batch(model));
                    expected.push_back(apply_to(model, together.back()));
                }
                auto outcomes =
                    engine->apply(together, batches.below(8) == 0 ? Durability::durable : Durability::relaxed);
                REQUIRE(outcomes.has_value());
                for (std::size_t i = 0; i < expected.size(); ++i)
                    REQUIRE((*outcomes)[i].failed_condition == expected[i].failed_condition);
                if (round % 20 != 0) continue;
                std::vector<std::pair<std::string, std::string>> all(model.begin(), model.end());
                std::vector<std::pair<std::string, std::string>> found =
                    contents(*engine, all_entries(), 1 + batches.below(40));
                const auto counters = contents(*engine, keys_with_prefix("L"));
                found.insert(found.end(), counters.begin(), counters.end());
                REQUIRE(found == all);
            }
            if (name != "lmdb") continue;
            engine.reset(); // and it is still so after opening again
            CHECK(contents(*rig.open(OpenMode::read_only), all_entries()).size() ==
                  static_cast<std::size_t>(
                      std::count_if(model.begin(), model.end(), [](auto& e) { return e.first[0] == 'E'; })));
        }
    }
}

TEST_CASE("memory engine: a crash keeps what is durable and a prefix of the rest") {
    MemoryEngine engine;
    std::vector<Batch> batches(5);
    for (std::size_t i = 0; i < 5; ++i) batches[i].put("E" + std::to_string(i), "x");
    REQUIRE(engine.apply(std::span(batches).first(2), Durability::durable).has_value());
    REQUIRE(engine.apply(std::span(batches).subspan(2), Durability::relaxed).has_value());
    CHECK(engine.relaxed_count() == 3);
    engine.crash(1);
    CHECK(contents(engine, {}).size() == 3);
    CHECK(value_of(engine, "E2") == "x");
    engine.crash(9);
    CHECK(contents(engine, {}).size() == 3);
    engine.limit_keys(4);
    REQUIRE(applied(engine, batches[3]));
    CHECK(engine.apply(batches[4], Durability::relaxed).error().errno_value == ENOSPC);
    CHECK(value_of(engine, "E4") == std::nullopt);
}

} // namespace
