#include "parquet_files.hpp"

#include "formats/parquet_reader.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;
using formats::parquet::WrittenFile;

namespace {

// Bytes of the chunks of the columns that are read, and of the footer with its end.
struct Wanted {
    std::uint64_t chunk_bytes = 0, footer_bytes = 0, payload_bytes = 0;
};
Wanted wanted_of(const FileShape& shape) {
    const auto layout = WrittenFile(shape).layout();
    Wanted wanted;
    for (const auto& chunk : layout.chunks) wanted.chunk_bytes += chunk.bytes;
    wanted.footer_bytes = layout.file_bytes - layout.footer_begin;
    wanted.payload_bytes = shape.read_sample_bytes() * shape.sample_count;
    return wanted;
}

} // namespace

TEST_CASE("T12: 40 of 200 columns: the bytes of the 40 are read and counted, and nothing but their gaps beside them",
          "[parquet]") {
    // Every fifth column: chunks of 2,000 rows lie 14 kB and more apart, so that no gap is read over.
    const FileShape shape = table_of(many_columns(200, [](int i) { return i % 5 == 0; }), 10000, 2000);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    const Wanted wanted = wanted_of(shape);
    CHECK(wanted.payload_bytes == 40 * 4 * 10000);
    for (const bool streams : {false, true}) {
        INFO((streams ? "stream" : "samples"));
        ReadBack result;
        const auto request = request_for(file, shape, Check::checksum);
        const Status status = streams ? read_stream(parquet(), request, file, result)
                                      : read_samples(parquet(), request, file, all_samples(shape), result);
        if (!status) FAIL(status.error().describe());
        CHECK(result.payload_bytes == wanted.payload_bytes); // the visitor saw the values of the 40
        const auto read = static_cast<std::int64_t>(sum_of(result.extents));
        CHECK(read - result.unneeded_bytes == static_cast<std::int64_t>(wanted.chunk_bytes + wanted.footer_bytes));
        // The footer (200 columns x 5 row groups) is longer than the last 64 KiB or within them; nothing else is read
        // that is not needed.
        CHECK(read <=
              static_cast<std::int64_t>(wanted.chunk_bytes + wanted.footer_bytes + formats::parquet::kTailBytes));
        CHECK(wanted.chunk_bytes < wanted.payload_bytes + 40 * 5 * 40); // a page header each
        // Payload that was seen is what was generated, at its place; the other 160 columns were not seen.
        const Bytes content = content_bytes(numbered_content(), shape.payload_bytes());
        std::uint64_t equal = 0;
        for (std::size_t i = 0; i < content.size(); ++i)
            equal += result.payload[i] == content[i] && content[i] != std::byte{0};
        CHECK(equal > wanted.payload_bytes * 99 / 100);
        CHECK(equal <= wanted.payload_bytes + 1);
    }
}

TEST_CASE("parquet: gaps of up to 8 KiB are read over and counted as unneeded, larger ones are not", "[parquet]") {
    // Rows x bytes of the column between: 8,000 bytes and a page header, or 16,000.
    for (const auto& [dtype, ranges] : {std::pair{"int8", 1U}, std::pair{"int16", 2U}}) {
        INFO(dtype);
        const FileShape shape = table_of({column("a", "int64"), column("between", dtype, false), column("c", "int64"),
                                          column("rest", "int64", false)},
                                         16000, 8000);
        const Bytes file = make_file(parquet(), shape, numbered_content());
        ReadBack result;
        REQUIRE(read_samples(parquet(), request_for(file, shape), file, {0}, result, {1 << 20}));
        // The tail, then what is wanted of the row group.
        REQUIRE(result.extents.size() == 1 + ranges);
        CHECK(result.extents[1].offset == 4);
        CHECK(result.payload_bytes == 2 * 64000);
    }
}

TEST_CASE("parquet: a row costs its row group once, while it is one of the last four", "[parquet]") {
    const FileShape shape = table_of({column("a", "float32", true, 100)}, 6000, 1000); // 400 kB a row group
    const Bytes file = make_file(parquet(), shape, numbered_content());
    const auto costs = [&](const std::vector<std::uint32_t>& rows) {
        ReadBack result;
        const Status status = read_samples(parquet(), request_for(file, shape), file, rows, result, {1 << 20});
        if (!status) FAIL(status.error().describe());
        return result.payload_bytes / 400000;
    };
    CHECK(costs({0}) == 1);
    CHECK(costs({0, 1, 999}) == 1);
    CHECK(costs({0, 1000, 1, 1001}) == 2);
    CHECK(costs({0, 1000, 2000, 3000, 1}) == 4);
    CHECK(costs({0, 1000, 2000, 3000, 4000, 1}) == 6); // the fifth drove out the first
    CHECK(costs({5999, 0, 3500}) == 3);

    auto reader = parquet().open(request_for(file, shape));
    REQUIRE(reader);
    CHECK_FALSE((*reader)->is_at_hand(0));
    REQUIRE((*reader)->begin(1500));
    while (true) {
        const auto extent = (*reader)->next(1 << 20);
        REQUIRE(extent);
        if (!*extent) break;
        CHECK_FALSE((*reader)->is_at_hand(1500));
        REQUIRE((*reader)->consume(**extent, std::span(file).subspan((*extent)->offset, (*extent)->bytes)));
    }
    CHECK((*reader)->is_at_hand(1000));
    CHECK((*reader)->is_at_hand(1999));
    CHECK_FALSE((*reader)->is_at_hand(999));
    CHECK_FALSE((*reader)->is_at_hand(2000));
    CHECK(parquet().samples_together(shape) == 1000);
}

TEST_CASE("parquet: the footer is read once: the last 64 KiB, and what of a longer one lies before them", "[parquet]") {
    const FileShape shape = table_of(many_columns(300, [](int i) { return i == 7; }), 40, 2); // 20 x 300 chunks
    const Bytes file = make_file(parquet(), shape, numbered_content());
    const WrittenFile written(shape);
    REQUIRE(file.size() - written.footer_begin() > formats::parquet::kTailBytes);
    ReadBack result;
    const Status status =
        read_samples(parquet(), request_for(file, shape, Check::checksum), file, all_samples(shape), result, {1 << 22});
    if (!status) FAIL(status.error().describe());
    REQUIRE(result.extents.size() == 2 + 20);
    CHECK(result.extents[0].offset == file.size() - formats::parquet::kTailBytes);
    CHECK(result.extents[1].offset == written.footer_begin());
    CHECK(result.unneeded_bytes == 0);
}

TEST_CASE("parquet: what the last 64 KiB hold of the columns is not read again", "[parquet]") {
    const FileShape shape = table_of({column("a", "int64"), column("b", "int64", false), column("c", "int64")}, 20000,
                                     4000); // 96 kB a row group
    const Bytes file = make_file(parquet(), shape, numbered_content());
    const Wanted wanted = wanted_of(shape);
    ReadBack result;
    const Status status =
        read_samples(parquet(), request_for(file, shape, Check::checksum), file, all_samples(shape), result, {30000});
    if (!status) FAIL(status.error().describe());
    std::vector<formats::Extent> sorted = result.extents;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < sorted.size(); ++i)
        CHECK(sorted[i - 1].offset + sorted[i - 1].bytes <= sorted[i].offset);
    CHECK(result.payload_bytes == wanted.payload_bytes);
    CHECK(static_cast<std::int64_t>(sum_of(result.extents)) - result.unneeded_bytes ==
          static_cast<std::int64_t>(wanted.chunk_bytes + wanted.footer_bytes));
}

TEST_CASE("parquet: rows larger than a page, and pages of many rows, in row groups that do not come out even",
          "[parquet]") {
    for (const FileShape& shape :
         {table_of({column("wide", "binary", true, 1500000), column("narrow", "int8")}, 5, 2),
          table_of({column("a", "float64", true, 3000), column("b", "uint16", false), column("c", "bool")}, 250, 100),
          table_of({column("one", "list", true, 2)}, 1, 7)}) {
        const Bytes file = make_file(parquet(), shape, numbered_content(), 77777);
        CHECK(file.size() == WrittenFile(shape).file_bytes());
        ReadBack result, streamed;
        const Status status =
            read_samples(parquet(), request_for(file, shape, Check::checksum), file, all_samples(shape), result);
        if (!status) FAIL(status.error().describe());
        CHECK(result.payload_bytes == wanted_of(shape).payload_bytes);
        REQUIRE(read_stream(parquet(), request_for(file, shape, Check::checksum), file, streamed));
        CHECK(streamed.payload == result.payload);
    }
}

TEST_CASE("parquet: without content a projection asks for the same bytes", "[parquet]") {
    const FileShape shape = table_of(many_columns(60, [](int i) { return i % 7 < 2; }), 5000, 900);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    ReadBack real, blind;
    REQUIRE(read_samples(parquet(), request_for(file, shape), file, all_samples(shape), real));
    auto request = request_for(file, shape);
    request.has_content = false;
    REQUIRE(read_samples(parquet(), request, Bytes(file.size()), all_samples(shape), blind));
    REQUIRE(blind.extents.size() == real.extents.size());
    for (std::size_t i = 0; i < real.extents.size(); ++i) {
        CHECK(blind.extents[i].offset == real.extents[i].offset);
        CHECK(blind.extents[i].bytes == real.extents[i].bytes);
    }
    CHECK(blind.unneeded_bytes == real.unneeded_bytes);
}

TEST_CASE("parquet: tables that cannot be are refused with the column", "[parquet]") {
    const auto reason = [](const FileShape& shape) {
        const Status status = parquet().supports(shape);
        return status ? std::string() : status.error().describe();
    };
    CHECK(reason(table_of({column("a", "int8")}, 1)).empty());
    CHECK_THAT(reason(table_of({column("a", "int8"), column("a", "int8")}, 1)), Catch::Contains("'a'"));
    CHECK_THAT(reason(table_of({column("a", "int8"), column("s", "string")}, 1)),
               Catch::Contains("'s'") && Catch::Contains("string"));
    CHECK_THAT(reason(table_of({column("a", "int8", false)}, 1)), Catch::Contains("no column is read"));
    CHECK_THAT(reason(table_of({column("a", "float64", true, 1 << 30)}, 1)), Catch::Contains("2147483647"));
    CHECK_THAT(reason(table_of({column("a", "int8")}, 1, 0)), Catch::Contains("row_group_size"));
    CHECK_THAT(reason(table_of(many_columns(5000, [](int) { return true; }), 4000000, 100)),
               Catch::Contains("256 MiB"));
    FileShape other = table_of({column("a", "int8")}, 1);
    other.dims = {2};
    CHECK_THAT(reason(other), Catch::Contains("1 bytes a row") && Catch::Contains("2"));
    FileShape packed = table_of({column("a", "int8")}, 1);
    packed.compression = FileShape::Compression::gzip;
    CHECK_THAT(reason(packed), Catch::Contains("compression"));
}

TEST_CASE("parquet: rows of each of the last four row groups are at hand, the longest unasked one goes", "[parquet]") {
    const FileShape shape = table_of({column("a", "float32", true, 100)}, 600, 100);
    const Bytes file = make_file(parquet(), shape, numbered_content());
    auto reader = parquet().open(request_for(file, shape));
    REQUIRE(reader);
    const auto read = [&](std::uint32_t row) {
        REQUIRE((*reader)->begin(row));
        for (;;) {
            const auto extent = (*reader)->next(1 << 20);
            REQUIRE(extent);
            if (!*extent) break;
            REQUIRE((*reader)->consume(**extent, std::span(file).subspan((*extent)->offset, (*extent)->bytes)));
        }
    };
    const auto groups_at_hand = [&] {
        std::string groups;
        for (std::uint32_t group = 0; group < 6; ++group) {
            CHECK((*reader)->is_at_hand(group * 100) == (*reader)->is_at_hand(group * 100 + 99));
            if ((*reader)->is_at_hand(group * 100 + 50)) groups += std::to_string(group);
        }
        return groups;
    };
    for (const std::uint32_t row : {450U, 0U, 399U, 200U}) read(row);
    CHECK(groups_at_hand() == "0234");
    REQUIRE((*reader)->begin(401)); // a row that is at hand is asked for, and costs nothing
    CHECK(groups_at_hand() == "0234");
    read(100);
    CHECK(groups_at_hand() == "1234");
    CHECK_FALSE((*reader)->is_at_hand(600));
}
