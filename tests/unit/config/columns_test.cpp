// dataset.parquet.columns: parsed, written back, and what follows from them.
#include "harness/config/load_yaml.hpp"

#include <catch2/catch.hpp>
#include <yaml-cpp/yaml.h>

#include "harness/config/value.hpp"

using namespace feedbench;
using namespace feedbench::config;

namespace {

Expected<Workload> table(const std::string& columns, const std::string& more = "") {
    return load_workload_text(
        "dataset:\n  format: parquet\n  record_length_bytes: 761\n  parquet:\n    row_group_size: "
        "6144\n    columns: " +
            columns + "\n" + more,
        "t.yaml");
}
std::string refused(const std::string& columns, const std::string& more = "") {
    const auto workload = table(columns, more);
    return workload ? std::string() : workload.error().describe();
}

} // namespace

TEST_CASE("columns of a table: as the reference writes them, with its defaults") {
    const auto w =
        table("[{name: label, dtype: float32}, {name: v, dtype: float16, size: 8, read: false}, id, {dtype: int8, "
              "name: b, read: yes}]");
    REQUIRE(w);
    const std::vector<TableColumn> expected{
        {"label", "float32", 1, true}, {"v", "float16", 8, false}, {"id", "float32", 1, true}, {"b", "int8", 1, true}};
    CHECK(w->dataset.parquet_columns == expected);
    CHECK(w->dataset.parquet_row_group_size == 6144);
    CHECK(w->dataset.record_length_bytes == 9); // of what is read (T12), not the 761 of the file
    const auto again = parse_columns("k", YAML::Load(yaml_text(expected)));
    REQUIRE(again);
    CHECK(*again == expected);
    CHECK(effective_yaml(*w).find("size: 8, read: false") != std::string::npos);
    const auto reloaded = load_workload_text(effective_yaml(*w), "again.yaml");
    REQUIRE(reloaded);
    CHECK(reloaded->dataset == w->dataset);
}

TEST_CASE("columns of a table: what cannot be is refused at its place") {
    CHECK_THAT(refused("label"), Catch::Contains("is 'label'; expected a list of columns"));
    CHECK_THAT(refused("[[a]]"), Catch::Contains("columns[0] is a list"));
    CHECK_THAT(refused("[{name: a, dtype: float23}]"), Catch::Contains("columns[0].dtype is 'float23'"));
    CHECK_THAT(refused("[{name: a, dtype: string}]"), Catch::Contains("fixed width"));
    CHECK_THAT(refused("[{name: a, size: 0}]"), Catch::Contains("columns[0].size is '0'"));
    CHECK_THAT(refused("[{name: a, size: 1.5}]"), Catch::Contains("columns[0].size is '1.5'"));
    CHECK_THAT(refused("[{name: a, read: maybe}]"), Catch::Contains("columns[0].read is 'maybe'"));
    CHECK_THAT(refused("[{name: a, dtyp: int8}]"), Catch::Contains("did you mean dtype?"));
    CHECK_THAT(refused("[a, b, a]"), Catch::Contains("columns[2].name is 'a'"));
    CHECK_THAT(refused("[{name: a, read: false}]"), Catch::Contains("all read: false"));
    CHECK_THAT(refused("[a]", "train:\n  epochs: 1\n  epoch: 1"), Catch::Contains("epochs"));
    const auto other = load_workload_text("dataset:\n  format: npz\n  parquet:\n    columns: [a]", "t.yaml");
    REQUIRE_FALSE(other);
    CHECK_THAT(other.error().describe(), Catch::Contains("t.yaml:4") && Catch::Contains("dataset.format is npz"));
}

TEST_CASE("columns of a table: on the command line, and other keys of the reference") {
    LoadRequest request;
    request.params = {"dataset.parquet.columns=[{name: a, dtype: int64}]"};
    const auto w = load_workload_text("dataset:\n  format: parquet\n  parquet:\n    read_mode: row_group\n    "
                                      "use_s3dlio_gen: true\n    columns: [x, y]",
                                      "t.yaml", request);
    REQUIRE(w);
    CHECK(w->dataset.record_length_bytes == 8);
    const auto partitioned =
        load_workload_text("dataset:\n  format: parquet\n  parquet:\n    partition_by: a", "t.yaml");
    REQUIRE_FALSE(partitioned);
    CHECK_THAT(partitioned.error().describe(), Catch::Contains("partition_by is refused"));
}

TEST_CASE("the table of DLRM: 200 columns, 761 bytes a row, of which 40 columns are read (T12)") {
    const auto w = load_workload(
        {.workload = "dlrm_b200", .search_dirs = {std::string(FEEDBENCH_SOURCE_DIR) + "/configs/workloads"}});
    REQUIRE(w);
    std::uint64_t bytes = 0, read = 0;
    for (const TableColumn& column : w->dataset.parquet_columns) {
        bytes += row_bytes(column);
        read += column.is_read ? 1 : 0;
    }
    CHECK(w->dataset.parquet_columns.size() == 200);
    CHECK(bytes == 761);
    CHECK(read == 40);
    CHECK(w->dataset.record_length_bytes == 160);
    CHECK(w->accelerator == "b200");
}
