#include "reporters/result_json.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "reporters/read_result.hpp"
#include "reporters/registry.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;
using nlohmann::json;

namespace {

struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("feedbench-reporters-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

std::string problem(const json& changed) {
    auto read = from_json(changed.dump(), "r.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().kind == ErrorKind::format);
    CHECK(read.error().path == "r.json");
    return read.error().message;
}

} // namespace

TEST_CASE("every sample survives JSON without the loss of a bit") {
    for (const auto& [name, result] : test::samples()) {
        INFO(name);
        const std::string text = to_json(result);
        auto read = from_json(text, "x");
        REQUIRE(read.has_value());
        CHECK(to_json(*read) == text);
        CHECK(read->run_seed == result.run_seed);
        CHECK(read->config.size() == result.config.size());
        CHECK(read->epochs.size() == result.epochs.size());
        CHECK(read->attribution.think_s == result.attribution.think_s);
        REQUIRE(read->metrics.size() == result.metrics.size());
        for (std::size_t i = 0; i < result.metrics.size(); ++i) {
            CHECK(read->metrics[i].value == result.metrics[i].value);
            CHECK(read->metrics[i].reason == result.metrics[i].reason);
        }
        CHECK(read->errors.size() == result.errors.size());
        for (std::size_t i = 0; i < result.errors.size(); ++i)
            CHECK(read->errors[i].describe() == result.errors[i].describe());
    }
}

TEST_CASE("numbers that are not finite, and bytes that are not UTF-8, still give valid JSON") {
    RunResult r;
    r.metrics = {{"x", "s", std::nan(""), "", "f"}, {"y", "s", 1e308 * 10, "", "f"}};
    r.record_length_bytes = std::numeric_limits<double>::infinity();
    r.data_folder = "/data/\xff\xfe";
    const std::string text = to_json(r);
    auto read = from_json(text, "x");
    REQUIRE(read.has_value());
    CHECK_FALSE(read->metrics[0].value.has_value());
    CHECK_FALSE(read->metrics[1].value.has_value());
    CHECK(std::isnan(read->record_length_bytes));
    CHECK(to_json(*read) == text);
}

TEST_CASE("what is wrong with a result file is said with the key") {
    const json good = json::parse(to_json(test::passing()));
    CHECK(from_json(good.dump(), "r").has_value());

    json bad = good;
    bad.erase("status");
    CHECK(problem(bad) == "key 'status' is missing");
    bad = good;
    bad["epochs"][1]["blocks"][0].erase("start_s");
    CHECK(problem(bad) == "key 'epochs[1].blocks[0].start_s' is missing");
    bad = good;
    bad["epochs"][0]["start_s"] = "soon";
    CHECK(problem(bad) == "key 'epochs[0].start_s': expected a number, found string");
    bad = good;
    bad["hosts"] = 3;
    CHECK(problem(bad) == "key 'hosts': expected an array, found number");
    bad = good;
    bad["accelerator_count"] = -4;
    CHECK(problem(bad) == "key 'accelerator_count': -4 is out of range");
    bad["accelerator_count"] = 4294967296;
    CHECK(problem(bad) == "key 'accelerator_count': 4294967296 is out of range");
    bad["accelerator_count"] = 2.5;
    CHECK(problem(bad) == "key 'accelerator_count': expected a whole number, found number");
    bad = good;
    bad["histograms"][0]["buckets_ns_count"][0] = {1};
    CHECK(problem(bad) == "key 'histograms[0].buckets_ns_count[0]': expected a pair of numbers, found array");
    bad = good;
    bad["schema_version"] = 99;
    CHECK(problem(bad) == "schema_version is 99, this binary reads 2 to " + std::to_string(kResultSchemaVersion));
    CHECK(problem(json::object({{"a", 1}})).find("no schema_version") != std::string::npos);
    CHECK(problem(json::array()).find("top level is not an object") != std::string::npos);

    json older = good; // version 2 knew less of a checkpoint
    older["schema_version"] = 2;
    older.erase("checkpoint_gap_s");
    for (const char* key : {"kind", "mode", "ranks", "hosts", "committed"}) older["checkpoints"][0].erase(key);
    older.erase("storages");
    const auto read = from_json(older.dump(), "r");
    REQUIRE(read.has_value());
    CHECK(read->storages.empty());
    CHECK(read->schema_version == kResultSchemaVersion);
    CHECK(read->checkpoints.at(0).kind == "write");
    CHECK(read->checkpoints.at(0).bytes == good["checkpoints"][0]["bytes"]);

    json newer = good;
    newer["a_key_of_the_future"] = {1, 2, 3};
    CHECK(from_json(newer.dump(), "r").has_value());
}

TEST_CASE("text that is not JSON, or is cut off, is an error with its place") {
    const std::string text = to_json(test::failing());
    for (const std::size_t keep : {std::size_t{0}, std::size_t{1}, text.size() / 3, text.size() - 3}) {
        auto read = from_json(text.substr(0, keep), "cut.json");
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().kind == ErrorKind::format);
        CHECK(read.error().message.find(keep == 0 ? "empty" : "not valid JSON") != std::string::npos);
    }
    CHECK_FALSE(from_json(std::string(100000, '['), "deep").has_value());
    CHECK_FALSE(from_json("\x00\x05\x16\x07 AppleDouble", "._x.json").has_value());
}

TEST_CASE("files are written whole or not at all, and read back from file and folder") {
    const Folder folder;
    const RunResult result = test::passing();
    REQUIRE(write_all_reports(result, folder.path).has_value());
    std::size_t file_count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
        CHECK(entry.path().extension() != ".tmp");
        CHECK(std::filesystem::file_size(entry.path()) > 0);
        ++file_count;
    }
    CHECK(file_count == 5);
    auto from_folder = read_result(folder.path), from_file = read_result(folder.path / "result.json");
    REQUIRE(from_folder.has_value());
    REQUIRE(from_file.has_value());
    CHECK(to_json(*from_folder) == to_json(result));

    auto missing = read_result(folder.path / "nothing.json");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().kind == ErrorKind::storage);
    CHECK(missing.error().errno_value == ENOENT);
    const Status refused = write_report(*find_reporter("json"), result, folder.path / "no_such_folder");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().errno_value == ENOENT);
    if (std::filesystem::exists("/dev/full")) {
        // A folder in its place: the rename fails, and the temporary file goes away with it.
        std::filesystem::create_directories(folder.path / "taken" / "result.json" / "x");
        CHECK_FALSE(write_report(*find_reporter("json"), result, folder.path / "taken").has_value());
        CHECK_FALSE(std::filesystem::exists(folder.path / "taken" / "result.json.tmp"));
    }
}

TEST_CASE("reporters are found by name") {
    for (const Reporter& reporter : reporters::reporters()) CHECK(find_reporter(reporter.name) == &reporter);
    CHECK(find_reporter("fax") == nullptr);
}
