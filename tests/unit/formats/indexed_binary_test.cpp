#include "tests/support/format_files.hpp"

#include "formats/little_endian.hpp"
#include "formats/registry.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::indexed_binary_format;

namespace {

formats::ReadRequest request_with(const Bytes& file, const FileShape& shape, const std::vector<std::uint64_t>& offsets,
                                  const std::vector<std::uint64_t>& sizes) {
    formats::ReadRequest request = request_for(file, shape);
    auto index = std::make_shared<formats::IndexBytes>(2);
    for (const std::uint64_t one : offsets) formats::append_le((*index)[0], one);
    for (const std::uint64_t one : sizes) formats::append_le((*index)[1], one);
    request.index = index;
    return request;
}

// The message with which reading all samples of a file of 128 bytes ends; "" = it does not.
std::string refusal(const FileShape& shape, const std::vector<std::uint64_t>& offsets,
                    const std::vector<std::uint64_t>& sizes) {
    const Bytes file(128);
    ReadBack samples, stream;
    const formats::ReadRequest request = request_with(file, shape, offsets, sizes);
    const Status status =
        read_samples(indexed_binary_format(), request, file, all_samples(shape), samples, {.wants_payload = false});
    const Status streamed = read_stream(indexed_binary_format(), request, file, stream, {.wants_payload = false});
    CHECK(static_cast<bool>(status) == static_cast<bool>(streamed));
    return status ? "" : status.error().describe();
}

} // namespace

TEST_CASE("indexed_binary: the data alone, and beside it where each sample lies, little endian", "[indexed_binary]") {
    const FileShape shape = shape_of({50, 30}, 3);
    CHECK(make_file(indexed_binary_format(), shape, numbered_content()) == content_bytes(numbered_content(), 4500));
    REQUIRE(indexed_binary_format().side_files().size() == 2);
    CHECK(formats::side_path(indexed_binary_format().side_files()[0], "train/img_0_of_1.indexed_binary") ==
          "train/img_0_of_1.indexed_binary.off.idx");
    CHECK(formats::side_path(indexed_binary_format().side_files()[1], "a") == "a.sz.idx");
    CHECK(indexed_binary_format().side_bytes(shape, 0) ==
          std::string("\0\0\0\0\0\0\0\0\xdc\5\0\0\0\0\0\0\xb8\xb\0\0\0\0\0\0", 24));
    CHECK(indexed_binary_format().side_bytes(shape, 1) ==
          std::string("\xdc\5\0\0\0\0\0\0\xdc\5\0\0\0\0\0\0\xdc\5\0\0\0\0\0\0", 24));
    CHECK(indexed_binary_format().index_bytes_per_sample() == 16);
}

TEST_CASE("indexed_binary: a sample costs its own range, which the index names", "[indexed_binary]") {
    const Bytes file = content_bytes(numbered_content(), 128);
    FileShape shape; // of another tool's file: only the index knows
    shape.sample_count = 3;
    ReadBack result;
    REQUIRE(read_samples(indexed_binary_format(), request_with(file, shape, {0, 100, 40}, {100, 28, 50}), file, {1, 2},
                         result, {64, 8, false}));
    REQUIRE(result.extents.size() == 3);
    CHECK(result.extents[0].offset == 100);
    CHECK(result.extents[0].bytes == 28);
    CHECK(result.extents[1].offset == 40);
    CHECK(result.extents[1].bytes == 24); // to the next multiple of 64
    CHECK(result.extents[2].bytes == 26);
    ReadBack stream;
    REQUIRE(read_stream(indexed_binary_format(), request_with(file, shape, {0, 100, 40}, {100, 28, 50}), file, stream,
                        {50, 1, false}));
    CHECK(stream.counts == std::vector<std::uint32_t>{0, 1, 3}); // the third was complete before the second
}

TEST_CASE("indexed_binary: an index that does not fit the data is refused in one sentence", "[indexed_binary]") {
    FileShape planned = shape_of({64}, 2), found;
    found.sample_count = 2;
    CHECK(refusal(planned, {0, 64}, {64, 64}).empty());
    CHECK(refusal(found, {0, 64}, {64, 64}).empty());
    CHECK(refusal(found, {0, 0}, {64, 64}).empty()); // as the reference generator leaves it
    const auto says = [](const std::string& text, const std::string& words) {
        INFO(text);
        CHECK(text.find(words) != std::string::npos);
    };
    says(refusal(planned, {0, 64}, {64, 63}), "test_file.sz.idx");
    says(refusal(planned, {0, 64}, {64, 63}), "sample 1: 64 bytes expected, found 63");
    says(refusal(planned, {0, 63}, {64, 64}), "test_file.off.idx");
    says(refusal(planned, {0, 63}, {64, 64}), "sample 1: offset 64 expected, found 63");
    says(refusal(planned, {0, 64, 128}, {64, 64, 64}), "an index of 2 samples expected, found 3");
    says(refusal(planned, {0}, {64}), "an index of 2 samples expected, found 1");
    says(refusal(planned, {}, {}), "an index of 8 bytes a sample expected, found 0 bytes");
    says(refusal(found, {0, 65}, {64, 64}), "sample 1: 64 bytes at offset 65 do not lie within the file's 128");
    says(refusal(found, {0, ~std::uint64_t{0}}, {64, 2}), "do not lie within the file's 128");
    says(refusal(found, {0, 1}, {64, ~std::uint64_t{0}}), "do not lie within the file's 128");
    says(refusal(found, {0, 1}, {64, 0}), "sample 1: at least 1 byte expected, found 0");
    says(refusal(shape_of({65}, 2), {0, 65}, {65, 65}), "the file has 128 bytes, 2 samples of 65x1 bytes need 130");
}

TEST_CASE("indexed_binary: dims are told only where arithmetic finds the samples", "[indexed_binary]") {
    const Bytes file(128);
    const auto dims = [&](const std::vector<std::uint64_t>& offsets, const std::vector<std::uint64_t>& sizes) {
        const auto shape = inspect(indexed_binary_format(), request_with(file, FileShape{}, offsets, sizes), file);
        REQUIRE(shape);
        CHECK(shape->sample_count == offsets.size());
        return shape->dims;
    };
    CHECK(dims({0, 64}, {64, 64}) == std::vector<std::uint64_t>{64});
    CHECK(dims({0, 32}, {32, 32}).empty()); // bytes that belong to no sample
    CHECK(dims({0, 0}, {64, 64}).empty());
    CHECK(dims({0, 100}, {100, 28}).empty());
}

TEST_CASE("indexed_binary: more samples than an index in memory has room for are refused", "[indexed_binary]") {
    CHECK(indexed_binary_format().supports(shape_of({1}, 4194304)));
    const Status status = indexed_binary_format().supports(shape_of({1}, 4194305));
    REQUIRE_FALSE(status);
    CHECK_THAT(status.error().describe(), Catch::Contains("at most 4194304 samples a file"));
}
