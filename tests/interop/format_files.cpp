// Writes files with our encoders and reads files with our readers, for other people's software on the other side.
//
//   interop_format_files write FORMAT FILE D1,D2,... SAMPLES [ELEMENT_BYTES] [zip]   prints the payload's CRC-32
//   interop_format_files table FILE NAME:DTYPE:SIZE,... ROWS ROWS_IN_GROUP           parquet; FILE.payload: its values
//   interop_format_files read FORMAT FILE SAMPLES                                    prints what the file holds, the
//   CRC-32 of its payload. FORMAT_framing: without looking at the payload.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include <zlib.h>

#include "formats/registry.hpp"
#include "generators/content.hpp"

using namespace feedbench;
using Bytes = std::vector<std::byte>;

namespace {

int fail(const Error& error) {
    std::fprintf(stderr, "%s\n", error.describe().c_str());
    return exit_code(error.kind);
}

// zlib's own CRC, so that ours is not checked against itself.
std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

int write(const formats::Format& format, const std::string& path, const FileShape& shape) {
    std::uint32_t crc = 0;
    std::uint64_t expected_offset = 0;
    bool is_in_order = true;
    const generators::Content content({.seed = 5});
    auto encoder = format.encode(shape, [&](std::uint64_t offset, std::span<std::byte> out) {
        content.fill(0, offset, out);
        is_in_order = is_in_order && offset == expected_offset;
        expected_offset += out.size();
        crc = crc_of(crc, out);
    });
    if (!encoder) return fail(encoder.error());
    std::ofstream file(path, std::ios::binary);
    Bytes piece(100'000);
    for (std::size_t size = piece.size(); size == piece.size();) {
        size = (*encoder)->fill(piece);
        file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(size));
    }
    for (const formats::Patch& patch : (*encoder)->patches()) {
        file.seekp(static_cast<std::streamoff>(patch.offset));
        file.write(reinterpret_cast<const char*>(patch.bytes.data()), static_cast<std::streamsize>(patch.bytes.size()));
    }
    file.close();
    for (std::size_t i = 0; i < format.side_files().size(); ++i) // beside the file, whatever folder they belong into
        std::ofstream(path + std::string(format.side_files()[i].ending), std::ios::binary)
            << format.side_bytes(shape, i);
    if (!file || !is_in_order) return 1;
    std::printf("%u\n", crc);
    return 0;
}

std::string bytes_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int read(const formats::Format& format, const std::string& path, std::uint32_t samples, bool looks_at_payload) {
    const std::string text = bytes_of_file(path);
    const std::span<const std::byte> file = std::as_bytes(std::span(text));
    formats::ReadRequest request;
    request.path = request.local_path = path;
    request.file_bytes = file.size();
    request.shape.sample_count = samples;
    request.check = formats::Check::checksum;
    auto index = std::make_shared<formats::IndexBytes>();
    for (const formats::SideFile& side : format.side_files()) {
        const std::string bytes = bytes_of_file(path + std::string(side.ending));
        const auto view = std::as_bytes(std::span(bytes));
        if (side.index_bytes_per_sample != 0) index->emplace_back(view.begin(), view.end());
    }
    request.index = index;
    const auto shape = format.inspect(request, [&](std::uint64_t offset, std::span<std::byte> out) -> Status {
        if (offset > file.size() || out.size() > file.size() - offset)
            return internal_error("read beyond the file's end");
        std::memcpy(out.data(), file.data() + offset, out.size());
        return {};
    });
    if (!shape) return fail(shape.error());
    request.shape = *shape;

    std::uint64_t sum_bytes = 0;
    Bytes payload(shape->dims.empty() ? file.size() : shape->payload_bytes());
    const auto look = [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Status {
        if (offset > payload.size() || bytes.size() > payload.size() - offset)
            return internal_error("payload beyond its end");
        std::memcpy(payload.data() + offset, bytes.data(), bytes.size());
        sum_bytes += bytes.size();
        return {};
    };
    if (looks_at_payload) request.on_payload = look;
    auto reader = format.open(request);
    if (!reader) return fail(reader.error());
    for (std::uint32_t sample = 0; sample < shape->sample_count; ++sample) {
        if (const Status status = (*reader)->begin(sample); !status) return fail(status.error());
        for (;;) {
            const auto extent = (*reader)->next(262144);
            if (!extent) return fail(extent.error());
            if (!*extent) break;
            if (const Status status = (*reader)->consume(**extent, file.subspan((*extent)->offset, (*extent)->bytes));
                !status)
                return fail(status.error());
        }
    }
    payload.resize(sum_bytes);
    const std::uint32_t crc = crc_of(0, payload);

    sum_bytes = 0;
    payload.assign(shape->dims.empty() ? file.size() : shape->payload_bytes(), std::byte{0});
    auto stream = format.open_stream(request);
    if (!stream) return fail(stream.error());
    std::uint32_t count = 0;
    for (std::uint64_t position = 0;;) {
        const auto extent = (*stream)->next(position, file.size(), 50'000);
        if (!extent) return fail(extent.error());
        if (!*extent) break;
        position = (*extent)->offset + (*extent)->bytes;
        const auto completed = (*stream)->consume(file.subspan((*extent)->offset, (*extent)->bytes));
        if (!completed) return fail(completed.error());
        count = *completed;
    }
    payload.resize(sum_bytes);
    std::printf("dims");
    for (const std::uint64_t d : shape->dims) std::printf(" %llu", static_cast<unsigned long long>(d));
    std::printf("\nsamples %u\nelement_bytes %u\ncrc %u\nstream_samples %u\nstream_crc %u\n", shape->sample_count,
                shape->element_bytes, crc, count, crc_of(0, payload));
    return 0;
}

int table(char** argv) {
    FileShape shape;
    std::vector<TableColumn> columns;
    std::istringstream list(argv[3]);
    std::uint64_t bytes = 0;
    for (std::string one; std::getline(list, one, ',');) {
        TableColumn& column = columns.emplace_back();
        const std::size_t a = one.find(':'), b = one.find(':', a + 1);
        column.name = one.substr(0, a);
        column.dtype = one.substr(a + 1, b - a - 1);
        column.size = static_cast<std::uint32_t>(std::stoul(one.substr(b + 1)));
        bytes += row_bytes(column);
    }
    shape.dims = {bytes};
    shape.columns = std::make_shared<const std::vector<TableColumn>>(columns);
    shape.sample_count = static_cast<std::uint32_t>(std::stoul(argv[4]));
    shape.row_group_rows = static_cast<std::uint32_t>(std::stoul(argv[5]));
    Bytes payload(shape.payload_bytes());
    generators::Content({.seed = 5}).fill(0, 0, payload);
    std::ofstream(std::string(argv[2]) + ".payload", std::ios::binary)
        .write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
    return write(formats::parquet_format(), argv[2], shape);
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "table" && argc == 6) return table(argv);
    if (!(mode == "write" && argc >= 6) && !(mode == "read" && argc == 5)) {
        std::fprintf(stderr, "usage: see the first lines of tests/interop/format_files.cpp\n");
        return 2;
    }
    std::string name = argv[2];
    const std::size_t framing = name.rfind("_framing");
    const bool looks_at_payload = framing == std::string::npos;
    const auto format = formats::find_format(name.substr(0, framing));
    if (!format) return fail(format.error());
    if (mode == "read")
        return read(**format, argv[3], static_cast<std::uint32_t>(std::stoul(argv[4])), looks_at_payload);
    FileShape shape;
    std::istringstream dims(argv[4]);
    for (std::string d; std::getline(dims, d, ',');) shape.dims.push_back(std::stoull(d));
    shape.sample_count = static_cast<std::uint32_t>(std::stoul(argv[5]));
    for (int i = 6; i < argc; ++i)
        if (std::string_view(argv[i]) == "zip")
            shape.compression = FileShape::Compression::zip;
        else
            shape.element_bytes = static_cast<std::uint32_t>(std::stoul(argv[i]));
    return write(**format, argv[3], shape);
}
