// Redis: addresses, passwords, what its persistence settings promise, and servers that are not as they should be.
#include <fstream>

#include "storage/feedfs/metadata/redis_connection.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

TEST_CASE("redis: addresses") {
    const auto address = parse_redis_address("redis://user:p%40ss%3A@db.example:7000/3");
    REQUIRE(address.has_value());
    CHECK(address->host == "db.example");
    CHECK(address->port == 7000);
    CHECK(address->database == 3);
    CHECK(address->user == "user");
    CHECK(address->password == "p@ss:");
    CHECK(address->shown() == "redis://user@db.example:7000/3");
    CHECK(parse_redis_address("redis://h")->port == 6379);
    CHECK(parse_redis_address("redis://[::1]:7000/")->host == "::1");
    const auto socket = parse_redis_address("redis+unix:///run/r.sock?db=2");
    CHECK(socket->host == "/run/r.sock");
    CHECK(socket->database == 2);
    for (const char* wrong :
         {"", "http://h", "redis://", "redis://h:0", "redis://h:x", "redis://h/x", "redis://h/-1", "redis://u:%4@h",
          "redis+unix://relative", "redis+unix:///s?x=1", "redis://secret:secret@"}) {
        INFO(wrong);
        const auto refused = parse_redis_address(wrong);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().kind == ErrorKind::config);
        CHECK(refused.error().describe().find("secret") == std::string::npos);
    }
}

TEST_CASE("redis: no server, and one that dies, are said in words with the address") {
    MetadataPlace place{"redis", "redis+unix:///nowhere/redis.sock", kVolumeId, {}};
    const Error nobody = open_metadata(place, OpenMode::create).error();
    CHECK(nobody.errno_value == ECONNREFUSED);
    CHECK(nobody.describe().find("/nowhere/redis.sock") != std::string::npos);
    if (!RedisServer::available()) return;
    MetadataRig rig("redis", {"--appendonly", "no"});
    rig.place.options = {{"retry_ms", "50"}};
    auto engine = rig.create();
    rig.server.stop(SIGKILL);
    const Error gone = engine->sync().error();
    CHECK((gone.errno_value == ECONNREFUSED || gone.errno_value == ENOTCONN));
    Batch batch;
    batch.put("Ea", "1");
    CHECK(engine->apply(batch, Durability::relaxed).error().errno_value == ECONNREFUSED);
    CHECK_FALSE(engine->figures().has_value());
    rig.server.start();
    CHECK(applied(*engine, batch)); // and it goes on with the server that is back (this one has lost everything)
    CHECK(value_of(*engine, "Ea") == "1");
}

TEST_CASE("redis: what its settings promise is said, and refused where durability is asked for") {
    if (!RedisServer::available()) return;
    struct Case {
        std::vector<std::string> settings;
        std::string words;
    };
    for (const Case& each : {Case{{"--appendonly", "no"}, "appendonly no"},
                             Case{{"--appendonly", "yes", "--appendfsync", "everysec"}, "appendfsync everysec"},
                             Case{{"--appendonly", "yes", "--appendfsync", "no"}, "appendfsync no"},
                             Case{{"--rename-command", "CONFIG", "secret"}, "does not tell"}}) {
        MetadataRig rig("redis", each.settings);
        MetadataPlace strict = rig.place;
        strict.options.push_back({"durability", "require"});
        const Error refused = open_metadata(strict, OpenMode::create).error();
        CHECK(refused.describe().find(each.words) != std::string::npos);
        auto engine = rig.create();
        CHECK_FALSE(engine->properties().durable);
        REQUIRE(rig.warnings.size() == 1);
        CHECK(rig.warnings[0].find(each.words) != std::string::npos);
        engine.reset();
        rig.warnings.clear();
        rig.open(OpenMode::read_only);
        CHECK(rig.warnings.empty());
    }
}

TEST_CASE("redis: passwords come from the address, the environment or a file, and are never shown") {
    if (!RedisServer::available()) return;
    MetadataRig rig("redis", {"--appendonly", "no", "--requirepass", "pa55word"});
    const Error none = open_metadata(rig.place, OpenMode::create).error();
    CHECK(none.errno_value == EACCES);
    CHECK(none.describe().find("FEEDFS_REDIS_PASSWORD") != std::string::npos);
    setenv("FEEDFS_TEST_PASSWORD", "wrong-one", 1);
    rig.place.options.push_back({"password_env", "FEEDFS_TEST_PASSWORD"});
    const Error wrong = open_metadata(rig.place, OpenMode::create).error();
    CHECK(wrong.errno_value == EACCES);
    CHECK(wrong.describe().find("wrong-one") == std::string::npos);
    setenv("FEEDFS_TEST_PASSWORD", "pa55word", 1);
    CHECK(rig.create()->properties().place.find("pa55word") == std::string::npos);
    unsetenv("FEEDFS_TEST_PASSWORD");
    CHECK(open_metadata(rig.place, OpenMode::read_write).error().kind == ErrorKind::config);
    std::ofstream(rig.folder.path() + "/password") << "pa55word\n";
    rig.place.options.back() = {"password_file", rig.folder.path() + "/password"};
    CHECK(rig.open(OpenMode::read_write)->sync().has_value());
    rig.place.options.back() = {"password_file", "/nowhere"};
    CHECK(open_metadata(rig.place, OpenMode::read_write).error().kind == ErrorKind::config);
}

TEST_CASE("redis: out of memory is ENOSPC, nothing of the batch happens, and removing still works") {
    if (!RedisServer::available()) return;
    MetadataRig rig("redis", {"--appendonly", "no", "--maxmemory", "8mb", "--maxmemory-policy", "noeviction"});
    auto engine = rig.create();
    MaybeError full;
    int stored = 0;
    for (; stored < 1000 && !full; ++stored) {
        Batch batch;
        batch.put("Ea" + std::to_string(stored), std::string(20'000, 'x'));
        batch.put("Eb" + std::to_string(stored), std::string(20'000, 'x'));
        auto outcome = engine->apply(batch, Durability::relaxed);
        if (!outcome) full = outcome.error();
    }
    REQUIRE(full.has_value());
    CHECK(full->errno_value == ENOSPC);
    CHECK(full->describe().find("maxmemory") != std::string::npos);
    const std::string last = std::to_string(stored - 1);
    CHECK(value_of(*engine, "Ea" + last) == std::nullopt);
    CHECK(value_of(*engine, "Eb" + last) == std::nullopt);
    CHECK(engine->figures()->limit_bytes == 8 << 20);
    Batch erase;
    erase.erase_range(keys_with_prefix("Ea"));
    CHECK(applied(*engine, erase));
    CHECK(value_of(*engine, "Ea0") == std::nullopt);
    Batch again;
    again.put("Ec", "x");
    CHECK(applied(*engine, again));
}

} // namespace
