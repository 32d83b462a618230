#include "formats/index_table.hpp"

#include "formats/little_endian.hpp"

namespace feedbench::formats {

namespace {

constexpr std::size_t kEntryBytes = 8;

std::string entries(std::uint32_t count, std::uint64_t first, std::uint64_t step) {
    std::string out(kEntryBytes * count, '\0');
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t value = first + i * step;
        std::memcpy(out.data() + kEntryBytes * i, &value, sizeof value);
    }
    return out;
}

} // namespace

Expected<IndexTable> IndexTable::make(const ReadRequest& request, std::span<const SideFile> names) {
    if (!request.index || request.index->size() != names.size())
        return internal_error("the index of " + request.path + " was not read");
    const std::uint64_t expected = request.shape.sample_count;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::uint64_t bytes = (*request.index)[i].size(), other = request.index->front().size();
        if (bytes == 0 || bytes % kEntryBytes != 0)
            return format_error(side_path(names[i], request.path),
                                "an index of 8 bytes a sample expected, found " + std::to_string(bytes) + " bytes");
        if (expected != 0 && bytes != expected * kEntryBytes)
            return format_error(side_path(names[i], request.path), "an index of " + std::to_string(expected) +
                                                                       " samples expected, found " +
                                                                       std::to_string(bytes / kEntryBytes));
        if (bytes != other)
            return format_error(side_path(names[i], request.path),
                                "an index of " + std::to_string(bytes / kEntryBytes) + " samples, but " +
                                    std::string(names.front().ending) + " has " + std::to_string(other / kEntryBytes));
    }
    IndexTable table;
    table.bytes_ = request.index;
    table.path_ = request.path;
    table.names_ = names;
    table.file_bytes_ = request.file_bytes;
    table.planned_bytes_ = request.shape.dims.empty() ? 0 : request.shape.sample_bytes();
    table.sample_count_ = static_cast<std::uint32_t>(request.index->front().size() / kEntryBytes);
    return table;
}

Expected<Extent> IndexTable::at(std::uint32_t sample_index) const {
    const std::size_t place = kEntryBytes * sample_index;
    const Extent sample{load_le<std::uint64_t>((*bytes_)[0], place), load_le<std::uint64_t>((*bytes_)[1], place)};
    const auto wrong = [&](std::size_t which, const std::string& words) {
        return format_error(side_path(names_[which], path_), "sample " + std::to_string(sample_index) + ": " + words,
                            static_cast<std::int64_t>(place));
    };
    if (planned_bytes_ != 0 && sample.bytes != planned_bytes_)
        return wrong(1, std::to_string(planned_bytes_) + " bytes expected, found " + std::to_string(sample.bytes));
    if (planned_bytes_ != 0 && sample.offset != planned_bytes_ * sample_index)
        return wrong(0, "offset " + std::to_string(planned_bytes_ * sample_index) + " expected, found " +
                            std::to_string(sample.offset));
    if (sample.bytes == 0) return wrong(1, "at least 1 byte expected, found 0");
    if (sample.offset > file_bytes_ || sample.bytes > file_bytes_ - sample.offset)
        return wrong(0, std::to_string(sample.bytes) + " bytes at offset " + std::to_string(sample.offset) +
                            " do not lie within the file's " + std::to_string(file_bytes_));
    return sample;
}

std::string index_of_offsets(const FileShape& shape) { return entries(shape.sample_count, 0, shape.sample_bytes()); }
std::string index_of_sizes(const FileShape& shape) { return entries(shape.sample_count, shape.sample_bytes(), 0); }

} // namespace feedbench::formats
