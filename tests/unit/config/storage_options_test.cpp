#include "harness/config/load_yaml.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;
using namespace feedbench::config;

namespace {
const std::string kText = "framework: pytorch\ntrain: {epochs: 2, computation_time: 0.3}\ndataset: {format: npz}\n";
} // namespace

TEST_CASE("one option of the storage on the command line leaves the others as the file said them") {
    const std::string yaml = std::string(kText) + "storage: {storage_options: {region: x, part_size: 5MiB}}\n";
    const auto w =
        load_workload_text(yaml, "a.yaml",
                           {.params = {"storage.storage_options.region=eu=1", "storage.storage_options.a.b=c d"},
                            .dlio_overrides = {"++workload.storage.storage_options.credentials_file=/k"}});
    const std::map<std::string, std::string> wanted{
        {"region", "eu=1"}, {"part_size", "5MiB"}, {"a.b", "c d"}, {"credentials_file", "/k"}};
    REQUIRE(w.has_value());
    CHECK(w->storage.storage_options == wanted);
    const auto refused =
        load_workload_text(kText, "a.yaml", {.params = {"storage.storage_options.secret_access_key=hush"}});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().describe().find("hush") == std::string::npos);
    CHECK(refused.error().message.find("environment or in a file") != std::string::npos);
}
