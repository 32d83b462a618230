// The index that some formats need before they can find a sample: read whole, from files beside the data file.
#include "harness/loader/file_reading.hpp"

namespace feedbench::loader {

using engine::Task;

Task<Status> FileReading::load_index() {
    if (context_.indexes)
        if (const IndexCache::Index* kept = context_.indexes->find(file_index_)) {
            index_ = *kept;
            co_return Status{};
        }
    formats::IndexBytes index;
    for (const formats::SideFile& side : context_.format->side_files()) {
        if (side.index_bytes_per_sample == 0) continue;
        auto loaded = co_await load_side(side, index.emplace_back());
        if (!loaded) co_return loaded;
    }
    if (has_content_) index_ = std::make_shared<const formats::IndexBytes>(std::move(index));
    if (context_.indexes) context_.indexes->keep(file_index_, index_);
    co_return Status{};
}

Task<Status> FileReading::load_side(const formats::SideFile& side, std::vector<std::byte>& bytes) {
    const std::uint64_t expected = std::uint64_t{side.index_bytes_per_sample} * shape_.sample_count;
    FileReading file(context_, file_index_, order_, side);
    auto status = co_await file.open_path(expected);
    if (!status) co_return status;
    if (file.file_bytes() != expected || expected > formats::kMaxIndexBytes)
        status = format_error(file.display_path(),
                              "an index of " + std::to_string(shape_.sample_count) + " samples has " +
                                  std::to_string(expected) + " bytes" +
                                  (file.file_bytes() != expected ? ", found " + std::to_string(file.file_bytes())
                                                                 : std::string(": too many to be kept in memory")));
    if (has_content_ && status) bytes.reserve(expected);
    const std::uint64_t transfer = context_.reader->transfer_size;
    for (std::uint64_t at = 0; status && at < expected;) {
        const formats::Extent extent = formats::piece_at(at, expected, transfer);
        auto piece = co_await file.read(extent.offset, extent.bytes);
        if (piece.error)
            status = *piece.error;
        else if (has_content_)
            bytes.insert(bytes.end(), piece.data.begin(), piece.data.end());
        at += extent.bytes;
    }
    const ReadTotals read = file.take_totals();
    totals_.bytes += read.bytes;
    totals_.reads += read.reads;
    co_await file.close();
    co_return status;
}

} // namespace feedbench::loader
