// The blocking client on an object store in memory.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <span>
#include <string>

#include "storage/s3/client.hpp"
#include "tests/unit/s3/object_store.hpp"

namespace feedbench::test {

inline std::unique_ptr<storage::s3::Client> client_of(storage::s3::Config config,
                                                      const std::string& bucket = "bucket") {
    auto made = storage::s3::Client::make(std::move(config), bucket);
    REQUIRE(made);
    return std::move(*made);
}

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

} // namespace feedbench::test
