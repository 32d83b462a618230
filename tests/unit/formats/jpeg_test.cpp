#include "tests/support/format_files.hpp"

#include "formats/jpeg_encode.hpp"
#include "formats/jpeg_pass.hpp"
#include "formats/registry.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::jpeg_format;

namespace {

Status read_jpeg(const Bytes& file, const FileShape& shape, const formats::ContentSource& made_from = {}) {
    ReadBack result;
    formats::ReadRequest request = request_for(file, shape);
    request.content = made_from;
    return read_samples(jpeg_format(), request, file, {0}, result, {100, 1, false});
}

Bytes jpeg_bytes(std::initializer_list<unsigned> values) {
    Bytes out;
    for (const unsigned one : values) out.push_back(static_cast<std::byte>(one));
    return out;
}

// Start, a comment, a frame of 2 x 3 pixels, a scan with a stuffed byte and a restart, a second scan, the end.
const Bytes kSmall =
    jpeg_bytes({0xff, 0xd8, 0xff, 0xfe, 0,    6,    0xff, 0xd9, 1, 2, 0xff, 0xff, 0xc2, 0, 11, 8,    0,    2,
                0,    3,    1,    1,    0x11, 0,    0xff, 0xda, 0, 8, 1,    1,    0,    0, 0,  0,    0x12, 0xff,
                0,    0xff, 0xd3, 0x34, 0xff, 0xff, 0xda, 0,    8, 1, 1,    0,    0,    0, 0,  0x56, 0xff, 0xd9});

} // namespace

TEST_CASE("jpeg: the same pixels give the same bytes, and others do not", "[jpeg]") {
    const FileShape shape = shape_of({60, 83});
    const Bytes file = make_file(jpeg_format(), shape, numbered_content());
    CHECK(file == make_file(jpeg_format(), shape, numbered_content(), 17));
    CHECK(file[0] == std::byte{0xff});
    CHECK(file.back() == std::byte{0xd9});
    REQUIRE(read_jpeg(file, shape, numbered_content()));
    const Status other = read_jpeg(file, shape, numbered_content(2));
    REQUIRE_FALSE(other);
    CHECK(other.error().message == "content differs from what was generated");
    CHECK(other.error().offset > 300); // the tables before the scan are alike
}

TEST_CASE("jpeg: a flipped bit is found where it is, whether or not the image decodes", "[jpeg]") {
    const FileShape shape = shape_of({60, 83});
    const Bytes good = make_file(jpeg_format(), shape, numbered_content());
    for (std::size_t at = 0; at < good.size(); at += 7) {
        Bytes file = good;
        file[at] ^= std::byte{4};
        const Status status = read_jpeg(file, shape, numbered_content());
        REQUIRE_FALSE(status);
        CHECK(status.error().offset == static_cast<std::int64_t>(at));
    }
    Bytes longer = good;
    longer.push_back(std::byte{0});
    check_says(message_of(read_jpeg(longer, shape, numbered_content())), "content differs from what was generated");
    CHECK(read_jpeg(longer, shape)); // decoders stop at the image's end, too
}

TEST_CASE("jpeg: the estimate of a file's size is near", "[jpeg]") {
    for (const FileShape& shape : {shape_of({100, 100}), shape_of({338, 338}), shape_of({700, 500})}) {
        const auto made = static_cast<double>(make_file(jpeg_format(), shape, numbered_content()).size());
        CHECK(static_cast<double>(*jpeg_format().file_bytes(shape)) == Approx(made).epsilon(0.03));
    }
    CHECK_FALSE(jpeg_format().size_is_known(shape_of({100, 100})));
}

TEST_CASE("jpeg: segments and scans of other encoders are followed to the end", "[jpeg]") {
    FileShape found;
    CHECK(read_jpeg(kSmall, found));
    CHECK(read_jpeg(kSmall, shape_of({2, 3})));
    const auto shape = inspect(jpeg_format(), request_for(kSmall, FileShape{}), kSmall);
    REQUIRE(shape);
    CHECK(shape->dims == std::vector<std::uint64_t>{2, 3});
    for (std::size_t size = 4; size < kSmall.size(); ++size) {
        INFO(size);
        const Bytes cut(kSmall.begin(), kSmall.begin() + static_cast<std::ptrdiff_t>(size));
        check_says(message_of(read_jpeg(cut, found)), "truncated");
    }
}

TEST_CASE("jpeg: bad files, each in one sentence", "[jpeg]") {
    const auto damaged = [](std::size_t at, unsigned byte) {
        Bytes file = kSmall;
        file[at] = static_cast<std::byte>(byte);
        return file;
    };
    const FileShape shape = shape_of({2, 3});
    check_says(message_of(read_jpeg(damaged(1, 0xd7), shape)), "the start of a JPEG image (ff d8) expected");
    check_says(message_of(read_jpeg(damaged(2, 0x12), shape)), "a JPEG marker (ff) expected, found byte 18");
    check_says(message_of(read_jpeg(damaged(3, 0), shape)), "a JPEG marker expected, found ff and byte 0");
    check_says(message_of(read_jpeg(damaged(5, 1), shape)), "a JPEG segment of at least 2 bytes expected, found 1");
    check_says(message_of(read_jpeg(damaged(4, 0x7f), shape)), "truncated");
    check_says(message_of(read_jpeg(damaged(12, 0xc4), shape)), "a frame header before the scan expected, found none");
    check_says(message_of(read_jpeg(damaged(17, 4), shape)),
               "a grey image of (2, 3) pixels of 8 bits expected, found (4, 3) of 8 bits in 1 colours");
    check_says(message_of(read_jpeg(damaged(20, 3), shape)), "in 3 colours");
    check_says(message_of(read_jpeg(jpeg_bytes({0xff, 0xd8, 0xff, 0xd9}), shape)), "an image expected, found none");
    check_says(message_of(read_jpeg(Bytes(3), shape)), "a JPEG file has at least 4 bytes, found 3");
    const auto reason = [](const Bytes& file) {
        const auto found = inspect(jpeg_format(), request_for(file, FileShape{}), file);
        REQUIRE_FALSE(found);
        return found.error().describe();
    };
    check_says(reason(damaged(1, 0)), "the start of a JPEG image");
    check_says(reason(damaged(10, 0)), "a JPEG marker expected");
    check_says(reason(damaged(12, 0xc4)), "a JPEG frame header expected before the image's data");
    Bytes cut = kSmall;
    cut.pop_back();
    cut[6] = std::byte{0}; // the comment holds what looks like an end
    check_says(reason(cut), "the end of the image (ff d9) expected near the file's end, found none: truncated");
}

TEST_CASE("jpeg: what the library refuses is said in its words, and the next image is whole", "[jpeg]") {
    for (const formats::JpegImage image : {formats::JpegImage{10, 0}, formats::JpegImage{0, 10},
                                           formats::JpegImage{70000, 10}, formats::JpegImage{10, 70000}}) {
        const auto refused = formats::encode_jpeg(image, numbered_content());
        REQUIRE_FALSE(refused);
        check_says(refused.error().describe(), "libjpeg says");
    }
    // Files that end within, at about and far behind the first 64 KiB that are taken for one.
    for (std::uint32_t height = 280; height < 1200; height += height < 400 ? 4 : 400) {
        const auto file = formats::encode_jpeg({height, 338}, numbered_content());
        REQUIRE(file);
        CHECK(file->size() > height * 338 / 2);
        CHECK((*file)[file->size() - 2] == std::byte{0xff});
        CHECK(file->back() == std::byte{0xd9});
        const FileShape shape = shape_of({height, 338});
        REQUIRE(read_jpeg(*file, shape, numbered_content()));
    }
}
