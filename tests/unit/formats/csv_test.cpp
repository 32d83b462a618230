#include "tests/support/format_files.hpp"

#include "formats/registry.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::csv_format;

namespace {

Bytes csv_bytes(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

FileShape rows_of_unknown_size(std::uint32_t rows) {
    FileShape shape;
    shape.sample_count = rows;
    return shape;
}

Status read_csv(const Bytes& file, const FileShape& shape, ReadBack& result, bool wants_payload = true) {
    return read_samples(csv_format(), request_for(file, shape), file, all_samples(shape), result,
                        {7, 1, wants_payload});
}

} // namespace

TEST_CASE("csv: a line of names, then a line a sample that begins with its number", "[csv]") {
    const Bytes file = make_file(csv_format(), shape_of({2, 6}, 2), [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>((offset + i) * 11);
    });
    CHECK(text_of(file) == ",0,1,2,3,4,5,6,7,8,9,10,11\n"
                           "0,000,011,022,033,044,055,066,077,088,099,110,121\n"
                           "1,132,143,154,165,176,187,198,209,220,231,242,253\n");
}

TEST_CASE("csv: sizes are known before, whatever the number of digits", "[csv]") {
    for (const std::uint64_t values : {1, 9, 10, 11, 99, 100, 101, 9999, 10000, 12345})
        for (const std::uint32_t rows : {1U, 10U, 11U, 101U}) {
            const FileShape shape = shape_of({values}, rows);
            CHECK(*csv_format().file_bytes(shape) == make_file(csv_format(), shape, numbered_content()).size());
        }
}

TEST_CASE("csv: the first row costs the whole table, the others nothing", "[csv]") {
    const FileShape shape = shape_of({50, 30}, 4);
    const Bytes file = make_file(csv_format(), shape, numbered_content());
    ReadBack first, others;
    REQUIRE(read_samples(csv_format(), request_for(file, shape), file, {2}, first, {4096}));
    std::uint64_t bytes = 0;
    for (const formats::Extent& extent : first.extents) bytes += extent.bytes;
    CHECK(bytes == file.size());
    CHECK(first.payload == content_bytes(numbered_content(), 6000));
    REQUIRE(read_samples(csv_format(), request_for(file, shape), file, {2, 0, 1, 3}, others, {4096}));
    CHECK(others.extents.size() == first.extents.size());
}

TEST_CASE("csv: tables of other tools are read; dims are told of those that lie as ours do", "[csv]") {
    const Bytes pandas = csv_bytes(",0,1,2\n0,7,12,255\n1,0,1,2\n");
    const auto shape = inspect(csv_format(), request_for(pandas, FileShape{}), pandas);
    REQUIRE(shape);
    CHECK(shape->sample_count == 2);
    CHECK(shape->dims.empty());
    ReadBack result;
    REQUIRE(read_csv(pandas, *shape, result));
    result.payload.resize(result.payload_bytes);
    CHECK(result.payload == csv_bytes(std::string_view("\7\14\377\0\1\2", 6)));

    // Text, lines with carriage returns, a last line that does not end.
    const Bytes text = csv_bytes("name,x\r\nabc,-1.5e3\r\nd e,nan");
    const auto words = inspect(csv_format(), request_for(text, FileShape{}), text);
    REQUIRE(words);
    CHECK(words->sample_count == 2);
    CHECK(read_csv(text, *words, result, false));

    const FileShape ours = shape_of({3}, 2);
    const Bytes file = make_file(csv_format(), ours, numbered_content());
    const auto found = inspect(csv_format(), request_for(file, FileShape{}), file);
    REQUIRE(found);
    CHECK(found->dims == std::vector<std::uint64_t>{3});
}

TEST_CASE("csv: bad files, each in one sentence", "[csv]") {
    ReadBack result;
    const auto reason = [&](std::string_view text, std::uint32_t rows, bool wants_payload = true) {
        return message_of(read_csv(csv_bytes(text), rows_of_unknown_size(rows), result, wants_payload));
    };
    check_says(reason("ZZZZZZZ", 1), "a line of column names expected, found no comma");
    check_says(reason(",0,1\n", 1), "a line of column names and 1 rows expected, found 0 rows");
    check_says(reason(",0,1\n0,1,2\n1,1,2\n", 1), "1 rows expected, found 2 rows");
    check_says(reason(",0,1\n0,1,2\n1,1\n", 2), "row 1: 3 fields expected, found 2");
    check_says(reason(",0,1\n0,1,2\n1,1\n", 2), "at offset 11");
    check_says(reason(",0,1\n0,1,x\n", 1), "row 0: a number expected, found byte 120");
    CHECK(reason(",0,1\n0,1,x\n", 1, false).empty()); // nobody looks at the numbers
    check_says(reason(",0,1\n0,1,256\n", 1), "row 0, field 2: a number of 0 to 255 expected, found 256");
    check_says(reason(",0,1\n0,,2\n", 1), "row 0, field 1: a number of 0 to 255 expected, found nothing");
    check_says(reason(",0,1\n5,1,2\n", 1), "row 0, field 0: the row's number expected, found 5");
    check_says(reason(",0,1\n0,99999999999999999999999,2\n", 1), "a number expected");
    check_says(reason("a,", 1), "a csv file has at least 4 bytes, found 2");

    const FileShape shape = shape_of({3}, 2);
    Bytes file = make_file(csv_format(), shape, numbered_content());
    file.pop_back();
    check_says(message_of(read_csv(file, shape, result)), "2 samples of 3x1 bytes need");
    file.push_back(std::byte{'\n'});
    file[0] = std::byte{'Z'};
    const auto found = inspect(csv_format(), request_for(file, shape), file);
    REQUIRE_FALSE(found);
    check_says(found.error().describe(), "column names that begin with \",0\" expected");
    check_says(message_of(csv_format().supports(shape_of({3}, 2, 4))),
               "elements of 1 byte (a number of 0 to 255), found 4");
}

TEST_CASE("csv: rows are counted whatever the file's size, unless a large one's number is known", "[csv]") {
    // 70 MB of one line of 4 KiB, over and over.
    constexpr std::uint64_t kLine = 4096, kRows = 17000;
    const std::string line = ",1," + std::string(kLine - 4, '7') + "\n";
    std::uint64_t bytes_read = 0;
    const auto read = [&](std::uint64_t offset, std::span<std::byte> out) -> Status {
        REQUIRE(offset + out.size() <= kLine * (kRows + 1));
        bytes_read += out.size();
        for (std::size_t done = 0; done < out.size();) {
            const std::uint64_t at = (offset + done) % kLine;
            const std::size_t size = std::min<std::size_t>(kLine - at, out.size() - done);
            std::memcpy(out.data() + done, line.data() + at, size);
            done += size;
        }
        return {};
    };
    formats::ReadRequest request;
    request.path = "test_file";
    request.file_bytes = kLine * (kRows + 1);
    request.shape = rows_of_unknown_size(1); // as adopt asks where nobody says how many
    const auto counted = csv_format().inspect(request, read);
    REQUIRE(counted);
    CHECK(counted->sample_count == kRows);
    CHECK(counted->dims.empty());
    CHECK(bytes_read == request.file_bytes);
    request.shape = rows_of_unknown_size(16999);
    const auto believed = csv_format().inspect(request, read);
    REQUIRE(believed);
    CHECK(believed->sample_count == 16999);
    CHECK(bytes_read == request.file_bytes); // nothing more
}
