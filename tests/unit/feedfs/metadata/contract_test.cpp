// Every engine of the table against the contract of engine.hpp.
#include <algorithm>
#include <mutex>
#include <thread>

#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

const std::string kBinary("E\0\xff\r\n\0\"'%s{}\x80", 14);

TEST_CASE("metadata engines: get, put, erase, any bytes in keys and values") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        Batch batch;
        batch.put(kBinary, kBinary + kBinary);
        batch.put("Eempty", "");
        batch.put("Elarge", std::string(1 << 20, 'x'));
        REQUIRE(applied(*engine, batch));
        CHECK(value_of(*engine, kBinary) == kBinary + kBinary);
        CHECK(value_of(*engine, "Eempty") == "");
        CHECK(value_of(*engine, "Elarge")->size() == 1 << 20);
        CHECK(value_of(*engine, "Eabsent") == std::nullopt);
        Batch second;
        second.put(kBinary, "new");
        second.erase("Elarge");
        second.erase("Eabsent");
        REQUIRE(applied(*engine, second));
        CHECK(value_of(*engine, kBinary) == "new");
        CHECK(value_of(*engine, "Elarge") == std::nullopt);
    }
}

TEST_CASE("metadata engines: a condition that fails is named and nothing of its batch happens") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        Batch first;
        first.put("Ea", "1");
        REQUIRE(applied(*engine, first));
        const auto outcome_of = [&](auto condition) {
            Batch batch;
            batch.require_present("Ea"); // holds
            condition(batch);
            batch.put("Eb", "2");
            batch.erase("Ea");
            auto outcome = engine->apply(batch, Durability::relaxed);
            REQUIRE(outcome.has_value());
            return *outcome;
        };
        for (const Outcome& outcome : {outcome_of([](Batch& b) { b.require_absent("Ea"); }),
                                       outcome_of([](Batch& b) { b.require_present("Eb"); }),
                                       outcome_of([](Batch& b) { b.require_equals("Ea", "0"); }),
                                       outcome_of([](Batch& b) { b.require_equals("Eb", ""); }),
                                       outcome_of([](Batch& b) { b.require_empty(keys_with_prefix("E")); })}) {
            CHECK(outcome.failed_condition == std::optional<std::size_t>(1));
            CHECK(value_of(*engine, "Ea") == "1");
            CHECK(value_of(*engine, "Eb") == std::nullopt);
        }
        CHECK(outcome_of([](Batch& b) {
                  b.require_absent("Eb");
                  b.require_equals("Ea", "1");
                  b.require_empty(keys_with_prefix("Eb"));
                  b.require_empty({"Ea\x01", ""});
              }).failed_condition == std::optional<std::size_t>(4)); // the volume's own key lies behind E
        CHECK(outcome_of([](Batch& b) { b.require_empty({"Ea1", "Eb"}); }).applied());
        CHECK(value_of(*engine, "Ea") == std::nullopt);
        CHECK(value_of(*engine, "Eb") == "2");
    }
}

TEST_CASE("metadata engines: batches of one call are atomic each, in order, and see those before them") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        std::vector<Batch> batches(4);
        batches[0].require_absent("Ea");
        batches[0].put("Ea", "0");
        batches[1].require_absent("Ea"); // fails
        batches[1].put("Ea", "1");
        batches[2].require_equals("Ea", "0");
        batches[2].put("Ea", "2");
        batches[2].put("Eb", "2");
        batches[2].erase("Eb"); // changes in order
        auto outcomes = engine->apply(batches, Durability::durable);
        REQUIRE(outcomes.has_value());
        REQUIRE(outcomes->size() == 4);
        CHECK((*outcomes)[0].applied());
        CHECK_FALSE((*outcomes)[1].applied());
        CHECK((*outcomes)[2].applied());
        CHECK((*outcomes)[3].applied()); // an empty one
        CHECK(value_of(*engine, "Ea") == "2");
        CHECK(value_of(*engine, "Eb") == std::nullopt);
        CHECK(engine->apply(std::span<const Batch>(), Durability::durable)->empty());
        CHECK(engine->sync().has_value());
    }
}

TEST_CASE(
    "metadata engines: scans are in order of unsigned bytes, go on where they stopped, and erase_range takes a range") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        std::vector<std::pair<std::string, std::string>> expected;
        Batch batch;
        for (int i = 0; i < 2500; ++i)
            expected.emplace_back(entry_key(7, "f" + std::to_string(100000 + i * 3)), std::to_string(i));
        for (auto it = expected.rbegin(); it != expected.rend(); ++it) batch.put(it->first, it->second);
        batch.put(entry_key(6, "\xff"), "before");
        batch.put(entry_key(8, ""), "behind");
        REQUIRE(applied(*engine, batch));
        CHECK(contents(*engine, entries_of(7)) == expected);
        CHECK(contents(*engine, entries_of(7), 1700) == expected);
        CHECK(contents(*engine, entries_of(7), 7) == expected);
        CHECK(contents(*engine, entries_of(9)).empty());
        expected.erase(expected.begin(), expected.begin() + 1200);
        CHECK(contents(*engine, entries_behind(7, "f103597")) == expected);
        {
            auto view = engine->read();
            std::size_t seen = 0;
            auto end =
                (*view)->scan(entries_of(7), 100, [&](std::string_view, std::string_view) { return ++seen < 10; });
            REQUIRE(end.has_value());
            CHECK(seen == 10);
            CHECK_FALSE(end->complete);
            CHECK(end->next_key == entry_key(7, "f100030"));
            std::vector<std::string> keys{entry_key(7, "f100003"), entry_key(7, "absent"), entry_key(8, "")};
            std::vector<std::optional<std::string>> values;
            REQUIRE((*view)->get_many(keys, [&](std::size_t index, std::optional<std::string_view> value) {
                CHECK(index == values.size());
                values.push_back(value ? std::optional<std::string>(*value) : std::nullopt);
            }));
            CHECK(values == std::vector<std::optional<std::string>>{"1", std::nullopt, "behind"});
        }
        Batch erase;
        erase.erase_range(entries_of(7));
        REQUIRE(applied(*engine, erase));
        CHECK(contents(*engine, entries_of(7)).empty());
        CHECK(contents(*engine, all_entries()).size() == 2);
    }
}

TEST_CASE("metadata engines: a view stays what it was while others write, and knows when nothing has changed",
          "[threads]") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        Batch first;
        first.put("Ea", "1");
        REQUIRE(applied(*engine, first));
        if (!engine->properties().snapshot_spans_calls) {
            CHECK((*engine->read())->state_number() == 0);
            continue;
        }
        auto view = engine->read();
        const std::uint64_t before = (*view)->state_number();
        CHECK((*engine->read())->state_number() == before);
        std::thread other([&] { // a view's own thread must not apply
            Batch second;
            second.put("Ea", "2");
            second.put("Eb", "2");
            CHECK(engine->apply(second, Durability::relaxed)->applied());
        });
        other.join();
        CHECK((*view)->get("Ea")->value() == "1");
        CHECK_FALSE((*view)->get("Eb")->has_value());
        auto later = engine->read();
        CHECK((*later)->get("Ea")->value() == "2");
        CHECK((*later)->state_number() > before);
    }
}

TEST_CASE("metadata engines: ids begin at 1, behind the root's for inodes, and never come twice", "[threads]") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        CHECK(*engine->take_ids(kSegmentCounter, 10) == 1);
        CHECK(*engine->take_ids(kSegmentCounter, 1) == 11);
        CHECK(*engine->take_ids(kInodeCounter, 1000) == kRootInode + 1);
        CHECK(engine->take_ids(kLeaseCounter, 0).error().errno_value == EINVAL);
        std::vector<std::uint64_t> taken;
        std::mutex mutex;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 10; ++i) {
                    const std::uint64_t id = *engine->take_ids(kLeaseCounter, 3);
                    const std::lock_guard lock(mutex);
                    taken.push_back(id);
                }
            });
        for (std::thread& thread : threads) thread.join();
        std::sort(taken.begin(), taken.end());
        for (std::size_t i = 0; i < taken.size(); ++i) CHECK(taken[i] == 1 + 3 * i);
    }
}

TEST_CASE("metadata engines: keys and values that not every engine takes are refused by all") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        for (const std::string& key : {std::string(), std::string(512, 'k')}) {
            std::vector<Batch> batches(2);
            batches[0].put("Ea", "1");
            batches[1].put(key, "1");
            CHECK(engine->apply(batches, Durability::relaxed).error().errno_value == EINVAL);
            CHECK(value_of(*engine, "Ea") == std::nullopt);
        }
        Batch longest;
        longest.put(std::string(511, 'k'), "1");
        CHECK(applied(*engine, longest));
    }
}

TEST_CASE("metadata engines: whose metadata it is, and of which version, is checked") {
    for (const std::string& name : metadata_engines(false)) {
        INFO(name);
        MetadataRig rig(name);
        CHECK(open_metadata(rig.place, OpenMode::read_write).error().errno_value == ENOENT);
        auto engine = rig.create();
        CHECK(open_metadata(rig.place, OpenMode::create).error().errno_value == EEXIST);
        CHECK(rig.open(OpenMode::read_write) == engine); // one place is opened once
        Batch batch;
        batch.put("Ea", "1");
        REQUIRE(applied(*engine, batch, Durability::durable));
        engine.reset();
        CHECK(open_metadata(rig.place, OpenMode::create).error().errno_value == EEXIST);
        MetadataPlace other = rig.place;
        other.volume_id = "another";
        const Error wrong = open_metadata(other, OpenMode::read_write).error();
        CHECK((name == "redis" ? wrong.errno_value == ENOENT
                               : wrong.errno_value == EINVAL)); // several volumes in one Redis
        {
            auto reader = rig.open(OpenMode::read_only);
            CHECK(value_of(*reader, "Ea") == "1");
            CHECK(reader->apply(batch, Durability::relaxed).error().errno_value == EROFS);
            CHECK(open_metadata(rig.place, OpenMode::read_write).error().errno_value == EROFS);
        }
        auto writer = rig.open(OpenMode::read_write);
        CHECK(value_of(*writer, "Ea") == "1");
        CHECK(writer->figures()->keys == 3); // volume, inode counter, Ea
        Batch later;
        later.put(volume_key(), encode(VolumeRecord{kSchemaVersion + 1, kVolumeId}));
        REQUIRE(applied(*writer, later));
        writer.reset();
        const Error version = open_metadata(rig.place, OpenMode::read_only).error();
        CHECK(version.errno_value == EPROTONOSUPPORT);
        CHECK(version.describe().find("schema version 2") != std::string::npos);
    }
}

TEST_CASE("metadata engines: unknown engines and options are refused with what there is") {
    MetadataPlace place{"mysql", "x", kVolumeId, {}};
    CHECK(open_metadata(place, OpenMode::create).error().message.find("lmdb, redis, memory") != std::string::npos);
    place = {"lmdb", "/nowhere", kVolumeId, {{"map_byts", "1"}}};
    CHECK(open_metadata(place, OpenMode::create).error().message.find("map_bytes") != std::string::npos);
    place.options = {{"map_bytes", "1g"}};
    CHECK(open_metadata(place, OpenMode::create).error().message.find("'1g'") != std::string::npos);
    place.options.clear();
    CHECK(open_metadata(place, OpenMode::read_only).error().errno_value == ENOENT);
}

} // namespace
