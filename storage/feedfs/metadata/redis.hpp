// The metadata engine for many hosts: one Redis server, several volumes in it if need be.
//
// Thread: any. Owner: the caller. Units: none. Errors: as engine.hpp and redis_connection.hpp say. Each call of a view
// sees one state, two calls may see two. Durable means what Redis' own settings give: appendonly yes with appendfsync
// always; anything less is said at opening (option durability: warn) or refused (durability: require). After a broken
// connection a call is sent again and carried out once. Source: Redis 7.0.
#pragma once

#include <memory>

#include "storage/feedfs/metadata/engine.hpp"

namespace feedbench::feedfs {

Expected<std::unique_ptr<MetadataEngine>> open_redis(const MetadataPlace& place, OpenMode mode,
                                                     const std::function<void(const std::string&)>& warn);

} // namespace feedbench::feedfs
