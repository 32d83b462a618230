// Damaged, cut short or different files end in one clear sentence, never in a crash or a read behind the end (case C7).
#include <random>

#include "formats/hdf5_layout.hpp"
#include "tests/unit/formats/hdf5_files.hpp"

using namespace feedbench;
using namespace feedbench::formats;
using namespace feedbench::formats::hdf5_test;

namespace {

FileShape small_shape() {
    FileShape shape;
    shape.dims = {20, 30};
    shape.sample_count = 4;
    return shape;
}

FileShape chunked_shape() {
    FileShape shape = small_shape();
    shape.chunk_dims = {8, 8};
    return shape;
}

FileShape gzip_shape() {
    FileShape shape = chunked_shape();
    shape.compression = FileShape::Compression::gzip;
    return shape;
}

// Opens and reads every sample from `bytes`; returns the first error, or nothing.
std::optional<Error> read_all(const ReadRequest& request, std::span<const std::byte> bytes) {
    auto reader = hdf5_format().open(request);
    if (!reader) return reader.error();
    for (std::uint32_t sample = 0; sample < request.shape.sample_count; ++sample) {
        if (const Status begun = (*reader)->begin(sample); !begun) return begun.error();
        while (true) {
            const auto extent = (*reader)->next(256);
            if (!extent) return extent.error();
            if (!*extent) break;
            REQUIRE((*extent)->offset + (*extent)->bytes <= bytes.size());
            const Status consumed = (*reader)->consume(**extent, bytes.subspan((*extent)->offset, (*extent)->bytes));
            if (!consumed) return consumed.error();
        }
    }
    return std::nullopt;
}

Error open_error(const std::string& path, const FileShape& shape, std::span<const std::byte> bytes) {
    write_file(path, bytes);
    const auto opened = hdf5_format().open(request_for(path, shape, bytes.size()));
    REQUIRE_FALSE(opened.has_value());
    return opened.error();
}

} // namespace

TEST_CASE("hdf5: a file cut at any place is refused") {
    const Folder folder;
    const std::string path = folder.file("cut.hdf5");
    for (const FileShape& shape : {small_shape(), chunked_shape(), gzip_shape()}) {
        const std::vector<std::byte> bytes = encode_all(shape);
        for (std::size_t keep = 0; keep < bytes.size(); keep += keep < 200 ? 1 : 97) {
            INFO("cut to " << keep << " of " << bytes.size());
            const Error error = open_error(path, shape, std::span(bytes).first(keep));
            REQUIRE(error.kind == ErrorKind::format);
            REQUIRE(error.path == path);
            REQUIRE_FALSE(error.message.empty());
        }
    }
}

TEST_CASE("hdf5: a size that is not the one told at open is refused") {
    const Folder folder;
    const std::string path = folder.file("a.hdf5");
    const std::vector<std::byte> bytes = encode_all(small_shape());
    write_file(path, bytes);
    REQUIRE_FALSE(hdf5_format().open(request_for(path, small_shape(), bytes.size() + 1)).has_value());
}

TEST_CASE("hdf5: what is not the expected data is named") {
    const Folder folder;
    const std::string path = folder.file("a.hdf5");
    const std::vector<std::byte> bytes = encode_all(small_shape());
    const auto message_for = [&](auto change) {
        FileShape other = small_shape();
        change(other);
        return open_error(path, other, bytes).message;
    };
    REQUIRE(message_for([](FileShape& s) {
                s.dims = {20, 31};
            }) == "holds samples of shape 4 x 20 x 30, expected 4 x 20 x 31");
    REQUIRE(message_for([](FileShape& s) { s.sample_count = 5; }) ==
            "holds samples of shape 4 x 20 x 30, expected 5 x 20 x 30");
    REQUIRE(message_for([](FileShape& s) { s.element_bytes = 2; }) == "holds elements of 1 bytes, expected 2");
    REQUIRE(message_for([](FileShape& s) { s.record_dataset_count = 2; }) ==
            "holds no dataset records_1; expected 2 of them");
    FileShape any;
    REQUIRE(hdf5_format().open(request_for(path, any, bytes.size())).has_value());
}

TEST_CASE("hdf5: other files, folders and missing files") {
    const Folder folder;
    const std::string path = folder.file("a.hdf5");
    const std::vector<std::byte> zeros(5000), text(5000, std::byte{'x'});
    REQUIRE(open_error(path, small_shape(), zeros).kind == ErrorKind::format);
    REQUIRE(open_error(path, small_shape(), text).kind == ErrorKind::format);
    REQUIRE(open_error(path, small_shape(), {}).kind == ErrorKind::format);
    const auto missing = hdf5_format().open(request_for(folder.file("none"), small_shape(), 10));
    REQUIRE_FALSE(missing.has_value());
    REQUIRE(missing.error().kind == ErrorKind::storage);
    REQUIRE(missing.error().errno_value == ENOENT);
    REQUIRE_FALSE(hdf5_format().open(request_for(folder.file("."), small_shape(), 10)).has_value());
    ReadRequest object = request_for(path, small_shape(), 10);
    object.local_path.clear();
    const auto without_path = hdf5_format().open(object);
    REQUIRE_FALSE(without_path.has_value());
    REQUIRE(without_path.error().message.find("needs a path") != std::string::npos);
}

TEST_CASE("hdf5: data that comes short, or a chunk that does not decompress") {
    const Folder folder;
    const std::string path = folder.file("a.hdf5");
    std::vector<std::byte> bytes = encode_all(small_shape());
    write_file(path, bytes);
    auto reader = hdf5_format().open(request_for(path, small_shape(), bytes.size()));
    REQUIRE((*reader)->begin(0).has_value());
    const auto extent = (*reader)->next(100);
    REQUIRE(extent->has_value());
    REQUIRE((*reader)->consume(**extent, std::span(bytes).first(99)).error().offset ==
            static_cast<std::int64_t>((*extent)->offset));

    bytes = encode_all(gzip_shape());
    write_file(path, bytes);
    ReadRequest request = request_for(path, gzip_shape(), bytes.size());
    request.on_payload = [](std::uint64_t, std::span<const std::byte>) { return Status{}; };
    REQUIRE_FALSE(read_all(request, bytes));
    reader = hdf5_format().open(request);
    REQUIRE((*reader)->begin(0).has_value());
    const auto first = (*reader)->next(1000);
    bytes[(*first)->offset + (*first)->bytes / 2] ^= std::byte{0x10};
    const std::optional<Error> error = read_all(request, bytes);
    REQUIRE(error);
    REQUIRE(error->message.find("does not decompress") != std::string::npos);
    REQUIRE(error->offset == static_cast<std::int64_t>((*first)->offset));
    request.on_payload = nullptr; // nobody looks: nothing is decoded
    REQUIRE_FALSE(read_all(request, bytes));
}

TEST_CASE("hdf5: random damage to metadata never crashes and never leads behind the end") {
    const Folder folder;
    const std::string path = folder.file("damaged.hdf5");
    std::mt19937 random(7);
    std::size_t refused = 0;
    for (const FileShape& shape : {small_shape(), chunked_shape(), gzip_shape()}) {
        const std::vector<std::byte> good = encode_all(shape);
        const std::size_t head = std::min<std::size_t>(good.size(), 1200);
        for (int round = 0; round < 1500; ++round) {
            std::vector<std::byte> bytes = good;
            for (int flips = 1 + round % 4; flips > 0; --flips)
                bytes[random() % (round % 2 ? head : bytes.size())] = static_cast<std::byte>(random());
            write_file(path, bytes);
            refused += read_all(request_for(path, shape, bytes.size()), bytes).has_value();
        }
    }
    REQUIRE(refused > 100);
}

TEST_CASE("hdf5: shapes that cannot be are refused with the reason") {
    const auto reason = [](auto change) {
        FileShape shape = small_shape();
        change(shape);
        const Status status = hdf5_format().supports(shape);
        if (status) return std::string();
        REQUIRE(status.error().kind == ErrorKind::config);
        REQUIRE_FALSE(hdf5_format().file_bytes(shape).has_value());
        REQUIRE_FALSE(hdf5_format().encode(shape, content()).has_value());
        return status.error().message;
    };
    REQUIRE(reason([](FileShape&) {}).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.dims = {}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.dims = {0, 3}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.dims = {UINT64_MAX, UINT64_MAX}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.dims.assign(32, 1); }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.sample_count = 0; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.element_bytes = 3; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.record_dataset_count = 0; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.chunk_dims = {1, 2, 3, 4}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.chunk_dims = {0, 8}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.chunk_dims = {21, 30}; }).empty());
    REQUIRE(reason([](FileShape& s) { s.chunk_dims = {20, 30}; }).empty());
    REQUIRE(reason([](FileShape& s) {
                s.chunk_dims = {21, 30};
                s.max_shape = {40, 30};
            }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.max_shape = {19, 30}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.max_shape = {30}; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) {
                      s.dims = {1 << 20, 1 << 20};
                      s.chunk_dims = {1 << 17, 1 << 16};
                  }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) {
                      s.dims = {1 << 20, 1 << 20};
                      s.chunk_dims = {16, 16};
                  }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.compression = FileShape::Compression::zip; }).empty());
    REQUIRE_FALSE(reason([](FileShape& s) { s.compression_level = 10; }).empty());
}

TEST_CASE("hdf5: a large file costs its metadata, not its size") {
    FileShape shape;
    shape.dims = {12000, 12000};
    shape.sample_count = 1000; // 144 GB
    const auto made = hdf5::make_template(shape, nullptr);
    REQUIRE(made.has_value());
    std::size_t literal_bytes = 0;
    for (const auto& [offset, bytes] : made->literals) literal_bytes += bytes.size();
    REQUIRE(literal_bytes < 64 * 1024);
    REQUIRE(made->layout.file_bytes > shape.payload_bytes());
    REQUIRE(made->layout.file_bytes < shape.payload_bytes() + 64 * 1024);
}
