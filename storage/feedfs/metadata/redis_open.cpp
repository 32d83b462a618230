// Opening: the place, the password, and what Redis says about its own persistence.
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "storage/feedfs/metadata/place_options.hpp"
#include "storage/feedfs/metadata/redis_engine.hpp"
#include "storage/feedfs/metadata/redis_scripts.hpp"

namespace feedbench::feedfs {

namespace {

Status find_password(RedisAddress& address, const std::string& variable, const std::string& file) {
    if (!file.empty()) {
        std::ifstream stream(file);
        if (!std::getline(stream, address.password))
            return config_error("the file of Redis' password cannot be read or is empty", file);
        return {};
    }
    const char* value = std::getenv(variable.empty() ? "FEEDFS_REDIS_PASSWORD" : variable.c_str());
    if (value != nullptr) address.password = value;
    if (value == nullptr && !variable.empty())
        return config_error("the environment variable " + variable + ", which should hold Redis' password, is not set");
    return {};
}

} // namespace

Expected<std::string> RedisEngine::setting(RedisClient& client, const char* name) {
    auto reply = client.connection.command(Words{"CONFIG", "GET", name});
    if (!reply) {
        if (reply.error().errno_value == ENOTCONN || reply.error().errno_value == ECONNREFUSED)
            return std::move(reply.error());
        return std::string(); // not permitted, or renamed away by a provider
    }
    return reply->items.size() == 2 ? reply->items[1].text : std::string();
}

Status RedisEngine::learn_durability(RedisClient& client) {
    auto append_only = setting(client, "appendonly");
    if (!append_only) return std::move(append_only.error());
    auto fsync_when = setting(client, "appendfsync");
    if (!fsync_when) return std::move(fsync_when.error());
    properties_.durable = false;
    if (append_only->empty() || fsync_when->empty())
        properties_.durability =
            "Redis does not tell its persistence settings (CONFIG GET is refused): what survives a crash "
            "of Redis or its host is not known";
    else if (*append_only != "yes")
        properties_.durability = "Redis has appendonly " + *append_only +
                                 ": a crash or restart of Redis loses what was written since its last snapshot";
    else if (*fsync_when != "always")
        properties_.durability =
            "Redis has appendfsync " + *fsync_when + ": a crash of its host loses " +
            (*fsync_when == "everysec" ? "up to the last 1 or 2 seconds" : "up to the last half minute") +
            "; durable closes need appendfsync always";
    else {
        properties_.durable = true;
        properties_.durability = "Redis with appendonly yes, appendfsync always: every commit is flushed to its log";
    }
    return {};
}

Status RedisEngine::start(bool require_durable, const std::function<void(const std::string&)>& warn) {
    RedisClient client(address_);
    if (Status connected = client.connection.connect(); !connected) return connected;
    for (const char* script : {kApplyScript, kScanScript}) {
        auto digest = client.connection.command(Words{"SCRIPT", "LOAD", script});
        if (!digest) return std::move(digest.error());
        digests_[script] = digest->text;
    }
    if (Status learnt = learn_durability(client); !learnt) return learnt;
    if (properties_.durable || read_only_) return {};
    if (require_durable)
        return storage_error("open", properties_.place, EINVAL,
                             properties_.durability + " (volume.yaml asks for durability: require)");
    if (warn) warn(properties_.place + ": " + properties_.durability);
    return {};
}

Expected<std::unique_ptr<MetadataEngine>> open_redis(const MetadataPlace& place, OpenMode mode,
                                                     const std::function<void(const std::string&)>& warn) {
    auto address = parse_redis_address(place.place);
    if (!address) return std::move(address.error());
    std::string variable;
    std::string file;
    std::string durability = "warn";
    PlaceOptions given(place);
    given.take("password_env", variable);
    given.take("password_file", file);
    given.take("durability", durability);
    given.take("timeout_ms", address->timeout_ms);
    given.take("retry_ms", address->retry_ms);
    if (Status all = given.check(); !all) return std::move(all.error());
    if (durability != "warn" && durability != "require")
        return config_error("metadata option durability is '" + durability + "', expected warn or require");
    if (address->password.empty()) {
        if (Status found = find_password(*address, variable, file); !found) return std::move(found.error());
    }
    auto engine = std::make_unique<RedisEngine>(std::move(*address), place.volume_id, mode == OpenMode::read_only);
    if (Status started = engine->start(durability == "require", warn); !started) return std::move(started.error());
    return std::unique_ptr<MetadataEngine>(std::move(engine));
}

} // namespace feedbench::feedfs
