#include "tests/support/format_files.hpp"

#include "formats/checksums.hpp"
#include "formats/registry.hpp"
#include "formats/tfrecord_framing.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;
using formats::tfrecord_format;

namespace {

Bytes bytes_of(std::string_view text) {
    Bytes out;
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
    return out;
}

void append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }

Bytes record(const Bytes& data) {
    Bytes out = formats::record_head(data.size());
    append(out, data);
    const std::uint32_t crc = formats::crc32c_mask(formats::crc32c(0, data));
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(crc >> shift));
    return out;
}

Bytes example(std::size_t image_bytes) {
    const formats::ExampleFrame frame = formats::example_frame(image_bytes, 3);
    Bytes out = frame.before;
    out.resize(out.size() + image_bytes, std::byte{'i'});
    append(out, frame.after);
    return out;
}

} // namespace

TEST_CASE("checksums: the known values over 123456789, in one piece and in two", "[checksums]") {
    const Bytes digits = bytes_of("123456789");
    CHECK(formats::crc32_zip(0, digits) == 0xcbf43926);
    CHECK(formats::crc32c(0, digits) == 0xe3069283);
    const auto first = std::span(digits).first(4), rest = std::span(digits).subspan(4);
    CHECK(formats::crc32_zip(formats::crc32_zip(0, first), rest) == 0xcbf43926);
    CHECK(formats::crc32c(formats::crc32c(0, first), rest) == 0xe3069283);
    CHECK(formats::crc32c(0, {}) == 0);
    CHECK(formats::crc32c_mask(0xe3069283) ==
          static_cast<std::uint32_t>(((0xe3069283U >> 15) | (0xe3069283U << 17)) + 0xa282ead8U));
}

TEST_CASE("tfrecord: a small file, byte for byte", "[tfrecord]") {
    const FileShape shape = shape_of({1, 2});
    const Bytes file = make_file(tfrecord_format(), shape, [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>('A' + offset + i);
    });
    const Bytes data = bytes_of(std::string_view("\x0a\x20\x0a\x0f\x0a\x05image\x12\x06\x0a\x04\x0a\x02"
                                                 "AB\x0a\x0d\x0a\x04size\x12\x05\x1a\x03\x0a\x01\x01",
                                                 34));
    Bytes expected = bytes_of(std::string_view("\x22\0\0\0\0\0\0\0", 8));
    const std::uint32_t length_crc = formats::crc32c_mask(formats::crc32c(0, expected));
    for (int shift = 0; shift < 32; shift += 8) expected.push_back(static_cast<std::byte>(length_crc >> shift));
    append(expected, data);
    const std::uint32_t data_crc = formats::crc32c_mask(formats::crc32c(0, data));
    for (int shift = 0; shift < 32; shift += 8) expected.push_back(static_cast<std::byte>(data_crc >> shift));
    CHECK(file == expected);
}

TEST_CASE("tfrecord: the index names offset and length of each record", "[tfrecord]") {
    const FileShape shape = shape_of({30, 40}, 3);
    const std::uint64_t record_bytes = *tfrecord_format().file_bytes(shape) / 3;
    REQUIRE(tfrecord_format().side_files().size() == 1);
    CHECK(formats::side_path(tfrecord_format().side_files()[0], "train/img_0_of_1.tfrecord") ==
          "index/train/img_0_of_1.tfrecord.idx");
    CHECK(tfrecord_format().index_bytes_per_sample() == 0); // nobody here reads it
    CHECK(tfrecord_format().side_bytes(shape, 0) ==
          "0 " + std::to_string(record_bytes) + "\n" + std::to_string(record_bytes) + " " +
              std::to_string(record_bytes) + "\n" + std::to_string(2 * record_bytes) + " " +
              std::to_string(record_bytes) + "\n");
    const Bytes file = make_file(tfrecord_format(), shape, numbered_content());
    for (std::uint64_t i = 0; i < 3; ++i)
        CHECK(formats::parse_record_head(std::span(file).subspan(i * record_bytes, 12), i * record_bytes, file.size(),
                                         "t")
                  .value() == record_bytes - 16);
}

TEST_CASE("tfrecord: one record costs itself alone", "[tfrecord]") {
    const FileShape shape = shape_of({30, 40}, 3);
    const Bytes file = make_file(tfrecord_format(), shape, numbered_content());
    ReadBack result;
    REQUIRE(read_samples(tfrecord_format(), request_for(file, shape, Check::checksum), file, {1}, result));
    REQUIRE(result.extents.size() == 1);
    CHECK(result.extents[0].offset == file.size() / 3);
    CHECK(result.extents[0].bytes == file.size() / 3);
    const Bytes content = content_bytes(numbered_content(), 3600);
    CHECK(std::equal(content.begin() + 1200, content.begin() + 2400, result.payload.begin() + 1200));
    CHECK(result.payload_bytes == 1200);
}

TEST_CASE("tfrecord: as a stream, records are counted as they pass, for pieces of any size", "[tfrecord]") {
    const FileShape shape = shape_of({10, 10}, 20);
    const Bytes file = make_file(tfrecord_format(), shape, numbered_content());
    const std::uint64_t record_bytes = file.size() / 20;
    for (std::uint64_t piece = 1; piece < 400; piece += 7) {
        ReadBack result;
        REQUIRE(read_stream(tfrecord_format(), request_for(file, shape, Check::checksum), file, result, {piece}));
        for (std::size_t i = 0; i < result.counts.size(); ++i)
            REQUIRE(result.counts[i] == std::min<std::uint64_t>(file.size(), (i + 1) * piece) / record_bytes);
        CHECK(result.payload == content_bytes(numbered_content(), 2000));
    }
}

TEST_CASE("tfrecord: records of sizes that only the file knows", "[tfrecord]") {
    Bytes file;
    for (const std::size_t size : {10, 5000, 0, 300}) append(file, record(example(size)));
    append(file, record(bytes_of("no Example at all")));
    append(file, record({}));
    formats::ReadRequest request = request_for(file, FileShape{}, Check::checksum);
    const auto found = inspect(tfrecord_format(), request, file);
    REQUIRE(found);
    CHECK(found->sample_count == 6);
    CHECK(found->dims.empty());
    request.shape = *found;
    for (const std::uint64_t transfer : {std::uint64_t{64}, std::uint64_t{100000}}) {
        ReadBack result;
        REQUIRE(read_samples(tfrecord_format(), request, file, {0, 1, 2, 3, 4, 5}, result, {transfer}));
        std::uint64_t total = 0;
        for (const formats::Extent& e : result.extents) total += e.bytes;
        CHECK(total == file.size());
        CHECK(result.payload_bytes == 5310);
        ReadBack streamed;
        REQUIRE(read_stream(tfrecord_format(), request, file, streamed, {transfer}));
        CHECK(streamed.counts.back() == 6);
    }
    request.shape.sample_count = 5;
    ReadBack result;
    CHECK_FALSE(read_stream(tfrecord_format(), request, file, result));
    request.shape.sample_count = 7;
    CHECK_FALSE(read_stream(tfrecord_format(), request, file, result));
}

TEST_CASE("tfrecord: features in another order, and foreign ones, are stepped over", "[tfrecord]") {
    // size before image, and a feature of more than 64 bytes before both
    std::string features = std::string("\x0a\x5e\x0a\x04name\x12\x56\x0a\x54\x0a\x52", 14) + std::string(82, 'n');
    features += std::string("\x0a\x0d\x0a\x04size\x12\x05\x1a\x03\x0a\x01\x05", 15);
    features += std::string("\x0a\x10\x0a\x05image\x12\x07\x0a\x05\x0a\x03xyz", 18);
    const Bytes data = bytes_of(std::string("\x0a") + std::string("\x81\x01", 2) + features);
    REQUIRE(features.size() == 129);
    CHECK_FALSE(formats::find_image(std::span(data).first(64), data.size())); // cannot tell yet
    const auto place = formats::find_image(data, data.size());
    REQUIRE(place);
    CHECK(place->is_found);
    CHECK(place->offset == data.size() - 3);
    CHECK(place->bytes == 3);
    const Bytes file = record(data);
    ReadBack result;
    REQUIRE(read_samples(tfrecord_format(), request_for(file, shape_of({3}), Check::checksum), file, {0}, result));
    CHECK(result.payload == bytes_of("xyz"));
}

TEST_CASE("tfrecord: errors name place, found and expected", "[tfrecord]") {
    const FileShape shape = shape_of({30, 40}, 3);
    const Bytes file = make_file(tfrecord_format(), shape, numbered_content());
    const std::size_t second = file.size() / 3;
    const auto message = [&](std::size_t at, Check check) {
        Bytes damaged = file;
        damaged[at] ^= std::byte{0x40};
        ReadBack one, all;
        const Status status = read_samples(tfrecord_format(), request_for(damaged, shape, check), damaged, {1}, one);
        CHECK(status.has_value() ==
              read_stream(tfrecord_format(), request_for(damaged, shape, check), damaged, all).has_value());
        return status ? std::string("no error") : status.error().describe();
    };
    for (std::size_t at = second; at < second + 12; ++at) // length and its checksum: always
        CHECK_THAT(message(at, Check::framing),
                   Catch::Contains("offset " + std::to_string(second)) && Catch::Contains("TFRecord length"));
    CHECK(message(second + 500, Check::framing) == "no error");
    CHECK_THAT(message(second + 500, Check::checksum),
               Catch::Contains("checksum of record 1") && Catch::Contains(std::to_string(second)));
    CHECK_THAT(message(2 * second - 1, Check::checksum), Catch::Contains("checksum of record 1"));
    CHECK_THAT(message(second + 12 + 9, Check::framing), Catch::Contains("`image` of 1200 bytes expected, found none"));
}
