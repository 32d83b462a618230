#include "tests/support/format_files.hpp"

#include <zlib.h>

#include "formats/png_chunks.hpp"
#include "formats/registry.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;
using formats::png_format;

namespace {

Status read_png(const Bytes& file, const FileShape& shape, Check check, bool wants_payload = false) {
    ReadBack result;
    return read_samples(png_format(), request_for(file, shape, check), file, {0}, result, {1000, 1, wants_payload});
}

void add_bytes(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes deflated(const Bytes& rows) {
    Bytes out(compressBound(rows.size()));
    uLongf size = out.size();
    REQUIRE(compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                     rows.size()) == Z_OK);
    out.resize(size);
    return out;
}

// As an encoder that compresses would leave it, the pixels in two chunks and a chunk that nobody knows before them.
Bytes foreign_png(const formats::PngHeader& header, const Bytes& rows) {
    const Bytes data = deflated(rows);
    Bytes file = formats::make_png_head(header);
    add_bytes(file, formats::make_png_chunk("tEXt", std::as_bytes(std::span("Comment\0made elsewhere", 22))));
    add_bytes(file, formats::make_png_chunk("IDAT", std::span(data).first(data.size() / 2)));
    add_bytes(file, formats::make_png_chunk("IDAT", std::span(data).subspan(data.size() / 2)));
    add_bytes(file, formats::make_png_end());
    return file;
}

} // namespace

TEST_CASE("png: the bytes of a small image", "[png]") {
    const Bytes file = make_file(png_format(), shape_of({2, 3}), [](std::uint64_t offset, std::span<std::byte> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(offset + i + 1);
    });
    // Signature; IHDR: 3 wide, 2 high, 8 bits, grey; IDAT: zlib's head, one stored block of 8 bytes, Adler-32; IEND.
    const std::string_view expected("\x89PNG\r\n\x1a\n"
                                    "\0\0\0\x0dIHDR\0\0\0\3\0\0\0\2\x08\0\0\0\0\xa9\x80\xc3\x3f"
                                    "\0\0\0\x13IDAT\x78\x01\1\x08\0\xf7\xff\0\1\2\3\0\4\5\6\0\x46\0\x16",
                                    8 + 25 + 8 + 2 + 5 + 8 + 4);
    REQUIRE(file.size() == expected.size() + 4 + 12);
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    CHECK(text.substr(0, 29) == expected.substr(0, 29));
    CHECK(text.substr(33, expected.size() - 33) == expected.substr(33));
    CHECK(text.substr(file.size() - 12) == std::string_view("\0\0\0\0IEND\xae\x42\x60\x82", 12));
    // Checksums, by zlib.
    const auto crc = [&](std::size_t at, std::size_t size) {
        return static_cast<std::uint32_t>(
            crc32(0, reinterpret_cast<const Bytef*>(file.data() + at), static_cast<uInt>(size)));
    };
    CHECK(formats::load_be32(file, 29) == crc(12, 17));
    CHECK(formats::load_be32(file, expected.size()) == crc(37, 4 + 19));
}

TEST_CASE("png: an image costs its file, and a larger one is several chunks", "[png]") {
    const FileShape shape = shape_of({300, 500});
    const Bytes file = make_file(png_format(), shape, numbered_content());
    CHECK(file.size() == 33 + 3 * 17 + 300 * 501 + 6 + 12);
    ReadBack result;
    REQUIRE(read_samples(png_format(), request_for(file, shape, Check::checksum), file, {0}, result, {65536}));
    REQUIRE(result.extents.size() == 3);
    CHECK(result.extents.back().offset == 131072);
    CHECK(result.payload == content_bytes(numbered_content(), 150000));
}

TEST_CASE("png: images of other encoders are followed, and their pixels shown where they can be", "[png]") {
    const FileShape shape = shape_of({30, 40});
    formats::PngHeader header;
    header.height = 30;
    header.width = 40;
    Bytes rows;
    const Bytes content = content_bytes(numbered_content(), 1200);
    for (std::size_t row = 0; row < 30; ++row) {
        rows.push_back(std::byte{0});
        rows.insert(rows.end(), content.begin() + static_cast<std::ptrdiff_t>(row * 40),
                    content.begin() + static_cast<std::ptrdiff_t>(row * 40 + 40));
    }
    const Bytes file = foreign_png(header, rows);
    ReadBack result;
    REQUIRE(read_samples(png_format(), request_for(file, shape, Check::checksum), file, {0}, result, {100}));
    CHECK(result.payload == content);
    Bytes filtered = rows;
    filtered[41] = std::byte{2};
    CHECK(read_png(foreign_png(header, filtered), shape, Check::checksum));
    check_says(message_of(read_png(foreign_png(header, filtered), shape, Check::checksum, true)), "found filter 2");
    Bytes few(rows.begin(), rows.end() - 41);
    check_says(message_of(read_png(foreign_png(header, few), shape, Check::checksum, true)),
               "1200 pixels expected, found 1160");
    Bytes many = rows;
    add_bytes(many, Bytes(41));
    check_says(message_of(read_png(foreign_png(header, many), shape, Check::checksum, true)), "more pixels than");

    formats::PngHeader coloured = header;
    coloured.colour = 2;
    const Bytes colours = foreign_png(coloured, Bytes(30 * 121));
    const auto found = inspect(png_format(), request_for(colours, FileShape{}), colours);
    REQUIRE(found);
    CHECK(found->sample_count == 1);
    CHECK(found->dims.empty());
    CHECK(read_png(colours, FileShape{}, Check::checksum));
    check_says(message_of(read_png(colours, shape, Check::framing)),
               "a grey image of (30, 40) pixels of 8 bits expected, found (30, 40) of 8 bits, colour type 2");
}

TEST_CASE("png: bad files, each in one sentence", "[png]") {
    const FileShape shape = shape_of({30, 40});
    const Bytes good = make_file(png_format(), shape, numbered_content());
    const auto damaged = [&](std::size_t at, unsigned char byte) {
        Bytes file = good;
        file[at] = static_cast<std::byte>(byte);
        return file;
    };
    check_says(message_of(read_png(damaged(1, 'p'), shape, Check::framing)), "the signature of a PNG file expected");
    check_says(message_of(read_png(damaged(12, 'X'), shape, Check::framing)), "chunk IHDR of 13 bytes expected");
    check_says(message_of(read_png(damaged(20, 9), shape, Check::framing)), "checksum of chunk IHDR");
    check_says(message_of(read_png(damaged(33, 1), shape, Check::framing)), "up to the file's end: truncated");
    check_says(message_of(read_png(damaged(38, '1'), shape, Check::framing)), "the type of a PNG chunk expected");
    check_says(message_of(read_png(damaged(100, good[100] == std::byte{1} ? 2 : 1), shape, Check::checksum)),
               "checksum of chunk IDAT");
    CHECK(read_png(damaged(100, 1), shape, Check::framing));
    Bytes cut(good.begin(), good.end() - 12);
    check_says(message_of(read_png(cut, shape, Check::framing)),
               "chunk IEND expected, found the file's end: truncated");
    const auto found = inspect(png_format(), request_for(cut, FileShape{}), cut);
    REQUIRE_FALSE(found);
    check_says(found.error().describe(), "chunk IEND expected at the file's end");
    Bytes longer = good;
    add_bytes(longer, Bytes(3));
    check_says(message_of(read_png(longer, shape, Check::framing)), "bytes after the image's end");
    Bytes without = formats::make_png_head({.width = 40, .height = 30});
    add_bytes(without, formats::make_png_chunk("tEXt", std::as_bytes(std::span("a\0b", 3))));
    add_bytes(without, formats::make_png_end());
    check_says(message_of(read_png(without, shape, Check::framing)), "chunk IDAT expected, found none");
}

TEST_CASE("images: what is no grey image is refused with the numbers", "[png]") {
    check_says(message_of(png_format().supports(shape_of({30, 40}, 2))), "1 sample a file (it is an image), found 2");
    check_says(message_of(png_format().supports(shape_of({30}))), "2 dimensions (rows and pixels), found (30,)");
    check_says(message_of(png_format().supports(shape_of({30, 40}, 1, 2))),
               "elements of 1 byte (a grey pixel), found 2");
    check_says(message_of(formats::jpeg_format().supports(shape_of({30, 70000}))), "at most 65500 pixels each way");
    check_says(message_of(formats::jpeg_format().supports(shape_of({20000, 20000}))), "at most 256 MiB of pixels");
    CHECK(png_format().supports(shape_of({20000, 20000})));
}
