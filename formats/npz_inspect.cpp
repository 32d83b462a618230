#include "formats/npz_reader.hpp"

#include <algorithm>

#include "formats/npz_pass.hpp"
#include "harness/types/units.hpp"

namespace feedbench::formats {

namespace {

constexpr std::uint64_t kLookBytes = 16 * kKiB; // a local header, and an npy header even when deflated

Expected<NpyHeader> read_array_header(const ReadRequest& request, const ZipMember& member, std::uint64_t data_limit,
                                      const Format::ReadAt& read) {
    std::vector<std::byte> bytes(std::min(kLookBytes, data_limit - member.header_offset));
    if (const Status status = read(member.header_offset, bytes); !status) return status.error();
    const auto local = parse_zip_local_header(bytes, member.header_offset, request.path);
    if (!local) return local.error();
    if (!*local)
        return format_error(request.path, "zip archive: local header is not complete",
                            static_cast<std::int64_t>(member.header_offset));
    const std::uint64_t data_at = member.header_offset + (*local)->header_bytes;
    std::span<const std::byte> data = std::span<const std::byte>(bytes).subspan((*local)->header_bytes);
    data = data.first(static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), member.data_bytes)));
    std::vector<std::byte> content;
    if (member.is_deflated) {
        Inflater inflater;
        const auto keep = [&content](std::span<const std::byte> piece) -> Status {
            const std::size_t room = kMaxNpyHeaderBytes - content.size();
            content.insert(content.end(), piece.begin(),
                           piece.begin() + static_cast<std::ptrdiff_t>(std::min(room, piece.size())));
            return {};
        };
        if (const Status status = inflater.feed(data, keep, request.path, data_at); !status) return status.error();
        data = content;
    }
    const auto header = parse_npy_header(data, {request.path, data_at, member.content_bytes});
    if (!header) return header.error();
    if (!*header) return format_error(request.path, "npy header is not complete", static_cast<std::int64_t>(data_at));
    return **header;
}

} // namespace

Expected<FileShape> inspect_npz(const ReadRequest& request, const Format::ReadAt& read) {
    const std::uint64_t file_bytes = request.file_bytes;
    std::vector<std::byte> tail(kZipTailBytes);
    if (const Status status = read(file_bytes - tail.size(), tail); !status) return status.error();
    const auto place = find_zip_directory(tail, file_bytes, request.path);
    if (!place) return place.error();
    if (place->bytes > kMiB)
        return format_error(request.path,
                            "zip directory of at most 1 MiB expected, found " + std::to_string(place->bytes),
                            static_cast<std::int64_t>(file_bytes - 10));
    std::vector<std::byte> directory(place->bytes);
    if (const Status status = read(place->offset, directory); !status) return status.error();
    const auto members = parse_zip_directory(directory, *place, request.path);
    if (!members) return members.error();
    const ZipMember *array = nullptr, *labels = nullptr;
    for (const ZipMember& member : *members) {
        if (member.name == kArrayMember) array = &member;
        if (member.name == kLabelMember) labels = &member;
    }
    if (array == nullptr)
        return format_error(request.path, "npz archive has no array 'x'", static_cast<std::int64_t>(place->offset));
    const auto array_header = read_array_header(request, *array, place->offset, read);
    if (!array_header) return array_header.error();
    std::uint64_t sample_count = request.shape.sample_count;
    if (labels != nullptr) { // a label a sample
        const auto label_header = read_array_header(request, *labels, place->offset, read);
        if (!label_header) return label_header.error();
        if (label_header->dims.size() == 1) sample_count = label_header->dims[0];
    }
    FileShape shape = split_npy_shape(*array_header, sample_count);
    if (array->is_deflated) shape.compression = FileShape::Compression::zip;
    return shape;
}

} // namespace feedbench::formats
