// Datasets of tables: their plan, their manifest, and what a run may ask of them.
#include <catch2/catch.hpp>

#include "harness/dataset/manifest.hpp"

using namespace feedbench;
using namespace feedbench::dataset;

namespace {

DatasetSection table_section() {
    DatasetSection section;
    section.format = "parquet";
    section.num_files_train = 3;
    section.num_samples_per_file = 100;
    section.parquet_row_group_size = 10;
    section.parquet_columns = {{"a", "float32", 1, true}, {"b", "float64", 4, false}, {"c", "int8", 1, true}};
    section.record_length_bytes = 5;
    return section;
}

} // namespace

TEST_CASE("a table's sample is a row: all of it lies on the disk, what is read of it is delivered") {
    const auto plan = DatasetPlan::make(table_section(), Split::train);
    REQUIRE(plan);
    CHECK(plan->shape(0).sample_bytes() == 37);
    CHECK(plan->shape(0).read_sample_bytes() == 5);
    CHECK(plan->shape(0).row_group_rows == 10);
    CHECK(plan->total_payload_bytes() == 3 * 100 * 37);
    CHECK(plan->total_read_bytes() == 3 * 100 * 5);
    DatasetSection plain = table_section();
    plain.parquet_columns.clear();
    plain.record_length_bytes = 10000;
    const auto whole = DatasetPlan::make(plain, Split::train);
    REQUIRE(whole);
    CHECK(whole->total_read_bytes() == whole->total_payload_bytes());
}

TEST_CASE("a table's manifest holds its columns, not which of them a run reads") {
    Manifest manifest;
    manifest.dataset = table_section();
    manifest.generator = "feedbench/test";
    manifest.state = Manifest::State::complete;
    const auto read = parse_manifest(to_json(manifest), "m");
    if (!read) FAIL(read.error().describe());
    CHECK(read->dataset.parquet_row_group_size == 10);
    REQUIRE(read->dataset.parquet_columns.size() == 3);
    CHECK(read->dataset.parquet_columns[1] == TableColumn{"b", "float64", 4, true});
    CHECK(compare(*read, table_section()).empty());
    DatasetSection other = table_section();
    other.parquet_columns[1].is_read = true; // another projection of the same files
    other.record_length_bytes = 37;
    CHECK(compare(*read, other).empty());
}

TEST_CASE("another table than the one that lies there is named") {
    Manifest manifest;
    manifest.dataset = table_section();
    manifest.state = Manifest::State::complete;
    const auto difference = [&](auto change) {
        DatasetSection asked = table_section();
        change(asked);
        const Status status = check_manifest(manifest, asked, "d");
        return status ? std::string() : status.error().message;
    };
    CHECK(difference([](DatasetSection&) {}).empty());
    CHECK_THAT(difference([](DatasetSection& s) { s.parquet_columns.pop_back(); }),
               Catch::Contains("dataset.parquet.columns: found 3 columns, asked 2 columns"));
    CHECK_THAT(difference([](DatasetSection& s) { s.parquet_columns[2].dtype = "uint8"; }),
               Catch::Contains("dataset.parquet.columns[2]: found c (1 x int8), asked c (1 x uint8)"));
    CHECK_THAT(difference([](DatasetSection& s) { s.parquet_row_group_size = 11; }),
               Catch::Contains("dataset.parquet.row_group_size: found 10, asked 11"));
}

TEST_CASE("a manifest of a table without what it must say is damaged") {
    Manifest manifest;
    manifest.dataset = table_section();
    std::string text = to_json(manifest);
    const auto damaged = [&](const std::string& from, const std::string& to) {
        std::string other = text;
        const auto at = other.find(from);
        REQUIRE(at != std::string::npos);
        other.replace(at, from.size(), to);
        const auto read = parse_manifest(other, "m");
        return read ? std::string() : read.error().message;
    };
    CHECK_THAT(damaged("\"parquet\": {", "\"parket\": {"), Catch::Contains("'dataset.parquet'"));
    CHECK_THAT(damaged("\"row_group_size\": 10", "\"row_group_size\": 0"), Catch::Contains("dataset.parquet"));
    CHECK_THAT(damaged("\"float64\"", "\"float65\""), Catch::Contains("dataset.parquet"));
    CHECK_THAT(damaged("\"size\": 4", "\"size\": -4"), Catch::Contains("dataset.parquet"));
}
