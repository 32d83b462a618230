#include "tests/support/format_files.hpp"

#include "formats/npz_reader.hpp"
#include "formats/registry.hpp"
#include "formats/zip_records.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;

namespace {

Bytes npz_file(const FileShape& shape) { return make_file(formats::npz_format(), shape, numbered_content()); }

Status read_npz(const Bytes& file, const FileShape& shape, ReadBack& result, Check check = Check::framing,
                ReadOptions options = {}) {
    return read_samples(formats::npz_format(), request_for(file, shape, check), file, all_samples(shape), result,
                        options);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(const ReadBack& result) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
    for (const formats::Extent& e : result.extents) list.emplace_back(e.offset, e.offset + e.bytes);
    return list;
}
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

void poke(Bytes& file, std::size_t at, std::initializer_list<unsigned> values) {
    for (const unsigned value : values) file[at++] = static_cast<std::byte>(value);
}

} // namespace

TEST_CASE("npz: head, tail, then the member in order, as numpy asks", "[npz]") {
    // The file of the strace in npz_reader.cpp: x (1732, 1816, 1), 3,145,810 bytes.
    const FileShape shape = shape_of({1732, 1816});
    const Bytes file = npz_file(shape);
    REQUIRE(file.size() == 3145810);
    Ranges expected{{0, 4096}, {3141632, 3145810}, {4096, 262144}};
    for (std::uint64_t at = 262144; at + 262144 <= 3141632; at += 262144) expected.emplace_back(at, at + 262144);
    expected.emplace_back(2883584, 3141632);
    ReadBack result;
    REQUIRE(read_npz(file, shape, result));
    CHECK(ranges(result) == expected);

    ReadBack blind; // null: and model: get the same
    formats::ReadRequest request = request_for(file, shape);
    request.has_content = false;
    REQUIRE(read_samples(formats::npz_format(), request, file, {0}, blind));
    CHECK(ranges(blind) == expected);
}

TEST_CASE("npz: every byte once, and labels are not asked for where they lie apart", "[npz]") {
    const FileShape shape = shape_of({10, 10}, 5000); // 40 KB of labels
    const Bytes file = npz_file(shape);
    ReadBack result;
    REQUIRE(read_npz(file, shape, result));
    std::vector<int> seen(file.size());
    for (const auto& [begin, end] : ranges(result))
        for (std::uint64_t i = begin; i < end; ++i) ++seen[i];
    CHECK(*std::max_element(seen.begin(), seen.end()) == 1);
    const auto array_end = static_cast<std::ptrdiff_t>(formats::npz_array_end(shape));
    CHECK(std::all_of(seen.begin(), seen.begin() + array_end, [](int count) { return count == 1; }));
    CHECK(seen[static_cast<std::size_t>(array_end) + 20000] == 0);
}

TEST_CASE("npz: head and tail may be in flight together; then all that is left", "[npz]") {
    const FileShape shape = shape_of({1000, 1000});
    const Bytes file = npz_file(shape);
    auto reader = formats::npz_format().open(request_for(file, shape));
    REQUIRE(reader);
    REQUIRE((*reader)->begin(0));
    CHECK_FALSE((*reader)->must_consume_first());
    std::vector<formats::Extent> first;
    while (!(*reader)->must_consume_first()) first.push_back(**(*reader)->next(65536));
    REQUIRE(first.size() == 2);
    for (const formats::Extent& e : first) REQUIRE((*reader)->consume(e, std::span(file).subspan(e.offset, e.bytes)));
    CHECK_FALSE((*reader)->must_consume_first());
    std::size_t count = 0;
    for (; *(*reader)->next(65536); ++count) CHECK_FALSE((*reader)->must_consume_first());
    CHECK(count == 16);
}

TEST_CASE("npz: the first sample costs the file, the others nothing", "[npz]") {
    const FileShape shape = shape_of({50, 60}, 4);
    const Bytes file = npz_file(shape);
    ReadBack one, all;
    REQUIRE(read_samples(formats::npz_format(), request_for(file, shape), file, {2}, one));
    REQUIRE(read_samples(formats::npz_format(), request_for(file, shape), file, {2, 0, 1, 3}, all));
    CHECK(ranges(one) == ranges(all));
}

TEST_CASE("npz: deflated files are read; inflated only where somebody looks", "[npz]") {
    FileShape shape = shape_of({300, 500}, 2);
    shape.compression = FileShape::Compression::zip;
    const formats::ContentSource zeros_and_ones = [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>((offset + i) / 100 % 2);
    };
    const Bytes file = make_file(formats::npz_format(), shape, zeros_and_ones);
    CHECK(file.size() < shape.payload_bytes() / 10);
    for (const Check check : {Check::framing, Check::checksum}) {
        ReadBack result;
        REQUIRE(read_npz(file, shape, result, check, {1000, 1}));
        CHECK(result.payload == content_bytes(zeros_and_ones, shape.payload_bytes()));
    }
    ReadBack unseen;
    CHECK(read_npz(file, shape, unseen, Check::framing, {1000, 1, false}));

    Bytes damaged = file;
    damaged[damaged.size() / 3] ^= std::byte{0x10};
    CHECK_FALSE(read_npz(damaged, shape, unseen, Check::checksum, {1000, 1, false}));
    CHECK_FALSE(formats::npz_format().file_bytes(shape)); // known only once it is made
    shape.dims = {20000, 20000};
    CHECK_FALSE(formats::npz_format().encode(shape, zeros_and_ones));
    shape.compression = FileShape::Compression::gzip;
    CHECK_FALSE(formats::npz_format().supports(shape));
}

TEST_CASE("npz: a header of 64 KiB, malformed or evaluated is refused with its place (C7)", "[npz]") {
    const FileShape shape = shape_of({30, 40});
    const Bytes file = npz_file(shape);
    const std::size_t npy_at = 30 + 5 + 20; // after the local header
    const auto message = [&](const Bytes& bytes) {
        ReadBack result;
        const Status status = read_npz(bytes, shape, result);
        const auto found = inspect(formats::npz_format(), request_for(bytes, FileShape{}), bytes);
        CHECK_FALSE(found);
        return status ? std::string("no error") : status.error().describe();
    };
    Bytes long_header = file;
    poke(long_header, npy_at + 8, {0xff, 0xff});
    CHECK_THAT(message(long_header),
               Catch::Contains("offset 63") && Catch::Contains("10000") && Catch::Contains("65545"));

    Bytes version = file;
    poke(version, npy_at + 6, {9});
    CHECK_THAT(message(version), Catch::Contains("offset 61") && Catch::Contains("found 9.0"));

    Bytes object = file; // '|O8' would be unpickled by numpy
    poke(object, npy_at + 22, {'O'});
    CHECK_THAT(message(object), Catch::Contains("'|O1'"));

    Bytes code = file;
    poke(code, npy_at + 10, {'_', '_', 'i', 'm'});
    CHECK_THAT(message(code), Catch::Contains("expected '{'"));

    Bytes huge = file; // (30, 40, 1) -> (99999999999...): overflow, not allocation
    const std::string_view wanted = "(30, 40, 1)";
    const std::string text(reinterpret_cast<const char*>(file.data()), 256);
    poke(huge, text.find(wanted) + 1, {'9', '9', '9', '9', '9', '9', '9', '9', '9', ')'});
    CHECK_THAT(message(huge), Catch::Contains("npy"));
}

TEST_CASE("npz: errors of the archive name place, found and expected", "[npz]") {
    const FileShape shape = shape_of({90, 100});
    const Bytes file = npz_file(shape);
    const auto message = [&](const Bytes& bytes, Check check = Check::framing) {
        ReadBack result;
        const Status status = read_npz(bytes, shape, result, check);
        return status ? std::string("no error") : status.error().describe();
    };
    Bytes local = file;
    poke(local, 0, {'Q'});
    CHECK_THAT(message(local),
               Catch::Contains("offset 0") && Catch::Contains("0x04034b50") && Catch::Contains("0x04034b51"));
    Bytes end = file;
    poke(end, file.size() - 22, {'Q'});
    CHECK_THAT(message(end),
               Catch::Contains("offset " + std::to_string(file.size() - 22)) && Catch::Contains("end of directory"));
    Bytes payload = file;
    payload[5000] ^= std::byte{1};
    CHECK_THAT(message(payload, Check::checksum), Catch::Contains("checksum of x.npy"));
    CHECK(message(payload) == "no error"); // framing alone does not see it
    Bytes disagreeing = file;
    disagreeing[formats::kZipCrcOffset] ^= std::byte{1};
    CHECK_THAT(message(disagreeing), Catch::Contains("do not agree"));
    Bytes renamed = file;
    const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
    poke(renamed, text.rfind("x.npy"), {'z'});
    CHECK_THAT(message(renamed), Catch::Contains("no array 'x'"));
    ReadBack result;
    const Status other = read_npz(file, shape_of({90, 101}), result);
    REQUIRE_FALSE(other);
    CHECK_THAT(other.error().describe(), Catch::Contains("(90, 101, 1) expected, found (90, 100, 1)"));
}

TEST_CASE("npz: sizes beyond 2 GiB use zip64 as CPython does", "[npz]") {
    const std::uint64_t array = (std::uint64_t{5} << 30) + 128;
    formats::ZipMember x{.name = "x.npy", .data_bytes = array, .content_bytes = array, .crc32 = 1};
    formats::ZipMember y{
        .name = "y.npy", .header_offset = array + 55, .data_bytes = 136, .content_bytes = 136, .crc32 = 2};
    const Bytes local = formats::zip_local_header(x);
    REQUIRE(local.size() == formats::zip_local_header_bytes("x.npy"));
    const auto parsed = formats::parse_zip_local_header(local, 0, "t");
    REQUIRE((parsed && *parsed));
    CHECK((*parsed)->member.content_bytes == array);
    CHECK((*parsed)->header_bytes == local.size());

    const std::uint64_t directory_at = array + 55 + 55 + 136;
    const Bytes directory = formats::zip_directory({x, y}, directory_at);
    const auto place = formats::find_zip_directory(directory, directory_at + directory.size(), "t");
    REQUIRE(place);
    CHECK(place->offset == directory_at);
    CHECK(place->member_count == 2);
    const auto members = formats::parse_zip_directory(std::span(directory).first(place->bytes), *place, "t");
    REQUIRE(members);
    CHECK((*members)[0].data_bytes == array);
    CHECK((*members)[1].header_offset == array + 55);

    const FileShape shape = shape_of({1 << 16, 81920}); // 5 GiB: said without being made
    CHECK(*formats::npz_format().file_bytes(shape) == (std::uint64_t{5} << 30) + 183 + 55 + 136 + directory.size());
}
