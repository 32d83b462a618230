// FileWriter: what of a chunk is in memory.
#include <algorithm>
#include <cstring>

#include "storage/feedfs/writer.hpp"

namespace feedbench::feedfs {

void FileWriter::Chunk::note(std::uint64_t from, std::uint64_t to) {
    if (from <= front) {
        front = std::max(front, to);
        auto end = islands.begin();
        for (; end != islands.end() && end->first <= front; ++end) front = std::max(front, end->second);
        islands.erase(islands.begin(), end);
        return;
    }
    auto first = std::ranges::find_if(islands, [&](const auto& piece) { return piece.second >= from; });
    auto last = first;
    for (; last != islands.end() && last->first <= to; ++last) {
        from = std::min(from, last->first);
        to = std::max(to, last->second);
    }
    islands.insert(islands.erase(first, last), {from, to});
}

void FileWriter::Chunk::forget_crcs_from(std::uint64_t at) {
    if (at >= crcs_end) return;
    crcs.resize(at / kCrcBlockBytes);
    crcs_end = crcs.size() * kCrcBlockBytes;
}

void FileWriter::Chunk::copy_in(std::uint64_t from, std::span<const std::byte> bytes) {
    if (from > defined) std::memset(buffer.data() + defined, 0, from - defined);
    forget_crcs_from(from);
    note(from, from + bytes.size());
    is_changed = true;
    while (!bytes.empty()) {
        const std::uint64_t block_end = (from / kCrcBlockBytes + 1) * kCrcBlockBytes;
        const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), block_end - from);
        std::memcpy(buffer.data() + from, bytes.data(), count);
        from += count;
        bytes = bytes.subspan(count);
        defined = std::max(defined, from);
        if (from == block_end && crcs_end + kCrcBlockBytes == block_end) {
            append_block_crcs({buffer.data() + crcs_end, kCrcBlockBytes}, crcs);
            crcs_end = block_end;
        }
    }
}

void FileWriter::Chunk::cut(std::uint64_t bytes) {
    defined = std::min(defined, bytes);
    front = std::min(front, bytes);
    std::erase_if(islands, [&](const auto& piece) { return piece.first >= bytes; });
    if (!islands.empty()) islands.back().second = std::min(islands.back().second, bytes);
    forget_crcs_from(bytes);
    is_changed = true;
}

void FileWriter::Chunk::finish_crcs() {
    if (crcs_end == defined) return;
    forget_crcs_from(crcs_end / kCrcBlockBytes * kCrcBlockBytes); // a block that was not full is taken anew
    append_block_crcs({buffer.data() + crcs_end, defined - crcs_end}, crcs);
    crcs_end = defined;
}

} // namespace feedbench::feedfs
