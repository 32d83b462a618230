// What every line of the table of formats must do, before it has a test of its own.
#include "tests/support/format_files.hpp"

#include "formats/registry.hpp"
#include "generators/content.hpp"

using namespace feedbench;
using namespace feedbench::test;
using formats::Check;
using formats::Format;

namespace {

const std::vector<FileShape> kShapes{shape_of({1}),         shape_of({3, 5}, 7),    shape_of({61, 67}),
                                     shape_of({64, 64}, 4), shape_of({100, 90}, 3), shape_of({16, 3, 5}, 2, 4),
                                     shape_of({700, 500}),  shape_of({1, 1}),       shape_of({300, 1})};

// With as many samples as a file of this format may have (an image is one).
FileShape fitted(const Format& format, FileShape shape) {
    shape.sample_count = std::min(shape.sample_count, format.most_samples_per_file());
    return shape;
}

std::vector<FileShape> shapes_for(const Format& format) {
    std::vector<FileShape> shapes;
    for (const FileShape& shape : kShapes)
        if (format.supports(fitted(format, shape))) shapes.push_back(fitted(format, shape));
    REQUIRE(shapes.size() >= 5);
    return shapes;
}

formats::ContentSource generated(std::uint64_t file_index) {
    return [file_index](std::uint64_t offset, std::span<std::byte> out) {
        generators::Content({.seed = 7}).fill(file_index, offset, out);
    };
}

// Libraries get the file on disk.
class OnDiskWhereNeeded {
  public:
    OnDiskWhereNeeded(const Format& format, const Bytes& bytes) {
        if (format.open_may_block()) file_.emplace(bytes);
    }
    std::string path() const { return file_ ? file_->path() : std::string(); }

  private:
    std::optional<FileOnDisk> file_;
};

// Reads all samples one by one.
Status read_all(const Format& format, const FileShape& shape, const Bytes& file, Check check, ReadBack& result,
                ReadOptions options = {}, const formats::ContentSource& made_from = {}) {
    const OnDiskWhereNeeded disk(format, file);
    formats::ReadRequest request = request_for(file, shape, check);
    request.local_path = disk.path();
    if (!format.shows_payload()) request.content = made_from;
    return read_samples(format, request, file, all_samples(shape), result, options);
}

Status stream_all(const Format& format, const FileShape& shape, const Bytes& file, Check check, ReadBack& result,
                  ReadOptions options = {}, const formats::ContentSource& made_from = {}) {
    const OnDiskWhereNeeded disk(format, file);
    formats::ReadRequest request = request_for(file, shape, check);
    request.local_path = disk.path();
    if (!format.shows_payload()) request.content = made_from;
    return read_stream(format, request, file, result, options);
}

// Every byte was shown, or the file was made anew and compared.
void check_payload(const Format& format, const FileShape& shape, const ReadBack& result,
                   const formats::ContentSource& made_from) {
    CHECK(result.payload_bytes == (format.shows_payload() ? shape.payload_bytes() : 0));
    if (format.shows_payload()) CHECK(result.payload == content_bytes(made_from, shape.payload_bytes()));
}

#define CHECK_STATUS(expression)                                                                                       \
    do {                                                                                                               \
        const auto checked_status = (expression);                                                                      \
        if (!checked_status) FAIL_CHECK(checked_status.error().describe());                                            \
    } while (false)

} // namespace

TEST_CASE("every format: names are distinct and found", "[formats]") {
    for (const Format* format : formats::all_formats()) {
        const auto found = formats::find_format(format->name());
        REQUIRE(found);
        CHECK(*found == format);
    }
    CHECK_FALSE(formats::find_format("npx"));
}

TEST_CASE("every format: a file does not depend on the pieces it is made in, and has the size that was said",
          "[formats]") {
    for (const Format* format : formats::all_formats())
        for (const FileShape& shape : shapes_for(*format)) {
            INFO(format->name() << " " << shape.payload_bytes());
            REQUIRE(format->supports(shape));
            const Bytes whole = make_file(*format, shape, generated(1));
            const auto said = format->file_bytes(shape);
            REQUIRE(said);
            if (format->size_is_known(shape)) CHECK(*said == whole.size());
            for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{4096}}) {
                if (piece == 1 && whole.size() > 20000) continue;
                CHECK(make_file(*format, shape, generated(1), piece) == whole);
            }
            CHECK(make_file(*format, shape, generated(2)) != whole);
        }
}

TEST_CASE("every format: samples come back whole, in extents that keep to the protocol", "[formats]") {
    for (const Format* format : formats::all_formats())
        for (const FileShape& shape : shapes_for(*format))
            for (const std::uint64_t transfer : {std::uint64_t{1000}, std::uint64_t{4096}, std::uint64_t{262144}}) {
                INFO(format->name() << " payload " << shape.payload_bytes() << " transfer " << transfer);
                const Bytes file = make_file(*format, shape, generated(3));
                for (const std::size_t in_flight : {std::size_t{1}, std::size_t{64}}) {
                    ReadBack result;
                    CHECK_STATUS(
                        read_all(*format, shape, file, Check::checksum, result, {transfer, in_flight}, generated(3)));
                    check_payload(*format, shape, result, generated(3));
                }
                ReadBack streamed, other;
                CHECK_STATUS(stream_all(*format, shape, file, Check::checksum, streamed, {transfer}, generated(3)));
                if (!format->shows_payload())
                    CHECK_FALSE(read_all(*format, shape, file, Check::checksum, other, {}, generated(2)));
                CHECK(std::is_sorted(streamed.counts.begin(), streamed.counts.end()));
                REQUIRE_FALSE(streamed.counts.empty());
                CHECK(streamed.counts.back() == shape.sample_count);
                check_payload(*format, shape, streamed, generated(3)); // verify: content means every byte here, too
            }
}

TEST_CASE("every format: without content the same extents are asked for, and nothing is looked at", "[formats]") {
    for (const Format* format : formats::all_formats())
        for (const FileShape& shape : shapes_for(*format)) {
            INFO(format->name() << " " << shape.payload_bytes());
            const Bytes file = make_file(*format, shape, generated(4));
            ReadBack real, blind;
            CHECK_STATUS(read_all(*format, shape, file, Check::framing, real));
            formats::ReadRequest request = request_for(file, shape, Check::checksum);
            request.has_content = false;
            const Bytes nothing(file.size());
            CHECK_STATUS(read_samples(*format, request, nothing, all_samples(shape), blind));
            const auto total = [](const ReadBack& r) {
                std::uint64_t bytes = 0;
                for (const formats::Extent& e : r.extents) bytes += e.bytes;
                return bytes;
            };
            CHECK(total(real) == total(blind));
            CHECK(blind.payload_bytes == 0);
            ReadBack stream;
            CHECK_STATUS(read_stream(*format, request, nothing, stream));
            CHECK(stream.counts.back() == shape.sample_count);
        }
}

TEST_CASE("every format: a file says what it holds", "[formats]") {
    for (const Format* format : formats::all_formats())
        for (const FileShape& shape : shapes_for(*format)) {
            INFO(format->name() << " " << shape.payload_bytes());
            const Bytes file = make_file(*format, shape, generated(5));
            formats::ReadRequest request = request_for(file, FileShape{});
            request.shape.sample_count = shape.sample_count;
            request.shape.element_bytes = shape.element_bytes;
            request.index = index_for(*format, shape);
            const auto found = inspect(*format, request, file);
            if (!found) FAIL(found.error().describe());
            CHECK(found->sample_count == shape.sample_count);
            CHECK(found->payload_bytes() == shape.payload_bytes());
            ReadBack result; // and is read as it says
            CHECK_STATUS(read_all(*format, *found, file, Check::checksum, result, {}, generated(5)));
            check_payload(*format, shape, result, generated(5));
        }
}

TEST_CASE("every format: a file cut short is refused, wherever it was cut", "[formats]") {
    for (const Format* format : formats::all_formats()) {
        const FileShape shape = fitted(*format, shape_of({30, 40}, 3));
        const Bytes file = make_file(*format, shape, generated(6));
        const std::size_t step = std::max<std::size_t>(1, file.size() / 400);
        for (std::size_t size = 0; size < file.size(); size += size < 300 || size + 300 > file.size() ? 1 : step) {
            INFO(format->name() << " cut to " << size << " of " << file.size());
            const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
            ReadBack result, streamed;
            CHECK_FALSE(read_all(*format, shape, cut, Check::framing, result));
            CHECK_FALSE(stream_all(*format, shape, cut, Check::framing, streamed));
        }
    }
}

TEST_CASE("every format: a flipped byte never does harm, and in a payload with checksums is found", "[formats]") {
    for (const Format* format : formats::all_formats()) {
        if (format->open_may_block()) continue; // its library is not ours to harden; its own tests choose their damage
        const FileShape shape = fitted(*format, shape_of({30, 40}, 3));
        const Bytes content = content_bytes(generated(8), shape.payload_bytes());
        const Bytes file = make_file(*format, shape, generated(8));
        // Where a sample's content begins in the file, and how much of it lies in one piece: all, a row, or none where
        // the format writes it in other words.
        const auto first = std::search(file.begin(), file.end(), content.begin(), content.begin() + 40);
        const auto payload_at = static_cast<std::size_t>(first - file.begin());
        const auto held = static_cast<std::size_t>(
            std::mismatch(first, file.end(), content.begin(), content.begin() + 1200).first - first);
        REQUIRE((held > 0 || !format->has_checksum()));
        for (std::size_t at = 0; at < file.size(); at += at < 400 || at + 400 > file.size() ? 1 : 37)
            for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
                INFO(format->name() << " byte " << at << " mask " << mask);
                Bytes damaged = file;
                damaged[at] ^= static_cast<std::byte>(mask);
                ReadBack framed, summed, streamed;
                (void)read_all(*format, shape, damaged, Check::framing, framed);
                const Status status = read_all(*format, shape, damaged, Check::checksum, summed);
                const Status stream_status = stream_all(*format, shape, damaged, Check::checksum, streamed);
                formats::ReadRequest request = request_for(damaged, FileShape{});
                (void)inspect(*format, request, damaged);
                if (format->has_checksum() && at >= payload_at && at < payload_at + held) {
                    CHECK_FALSE(status);
                    CHECK_FALSE(stream_status);
                }
                if (at >= payload_at && at < payload_at + held && status) // then the visitor sees it: Verify::content
                    CHECK(summed.payload != content);
            }
    }
}

TEST_CASE("every format: another shape than expected is refused", "[formats]") {
    for (const Format* format : formats::all_formats()) {
        const FileShape shape = fitted(*format, shape_of({30, 40}, 4));
        const Bytes file = make_file(*format, shape, generated(9));
        for (const FileShape& other : {fitted(*format, shape_of({30, 41}, 4)), fitted(*format, shape_of({31, 40}, 4)),
                                       shape_of({30, 40}, 5), shape_of({30, 20}, 4, 4)}) {
            INFO(format->name() << " " << other.payload_bytes());
            ReadBack result, streamed;
            CHECK_FALSE(read_all(*format, other, file, Check::framing, result));
            CHECK_FALSE(stream_all(*format, other, file, Check::framing, streamed));
        }
    }
}

TEST_CASE("every format: shapes that cannot be are refused", "[formats]") {
    for (const Format* format : formats::all_formats()) {
        INFO(format->name());
        for (const FileShape& bad : {shape_of({}), shape_of({0}), shape_of({3, 0, 2}), shape_of({4}, 0),
                                     shape_of({4}, 1, 3), shape_of({std::uint64_t{1} << 40, std::uint64_t{1} << 40})}) {
            CHECK_FALSE(format->supports(bad));
            CHECK_FALSE(format->encode(bad, generated(0)));
            CHECK_FALSE(format->file_bytes(bad));
        }
        const FileShape shape = fitted(*format, shape_of({8, 8}, 2));
        const Bytes file = make_file(*format, shape, generated(0));
        const OnDiskWhereNeeded disk(*format, file);
        formats::ReadRequest request = request_for(file, shape);
        request.local_path = disk.path();
        request.index = index_for(*format, shape);
        const auto reader = format->open(request);
        REQUIRE(reader);
        CHECK_FALSE((*reader)->begin(shape.sample_count)); // samples count from 0
    }
}
