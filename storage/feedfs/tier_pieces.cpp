#include "storage/feedfs/tier_pieces.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/record.hpp"
#include "storage/feedfs/tier_read.hpp"

namespace feedbench::feedfs {

namespace {

struct Trailer {
    std::uint64_t magic = 0x3130'444c'4f43'4446; // "FDCOLD01" in memory
    std::uint64_t volume_id = 0, segment = 0, piece = 0, bytes = 0;
    std::uint32_t crc = 0, zero = 0;
    std::uint32_t reserved = 0, own_crc = 0; // of all before it
};
static_assert(sizeof(Trailer) == 56);

std::uint32_t crc_of(const Trailer& trailer) {
    return crc32c(std::as_bytes(std::span(&trailer, 1)).first(sizeof trailer - sizeof trailer.own_crc));
}
Trailer trailer_of(const PieceKey& key, std::uint64_t volume_id, std::span<const std::byte> content) {
    Trailer trailer;
    trailer.volume_id = volume_id;
    trailer.segment = key.segment;
    trailer.piece = key.piece;
    trailer.bytes = content.size();
    trailer.crc = crc32c(content);
    trailer.own_crc = crc_of(trailer);
    return trailer;
}

constexpr int kSegmentDigits = 16, kPieceDigits = 8;
constexpr std::string_view kPieceEnding = ".cold";
constexpr std::uint64_t kLookEvery = 32; // pieces between two looks at how full the fast tier is

bool parse_piece_name(const std::string& name, PieceKey& key) {
    unsigned long long segment = 0, piece = 0;
    if (std::sscanf(name.c_str(), "%16llx-%8llx.cold", &segment, &piece) != 2) return false;
    key = {segment, piece};
    return piece_name(segment, piece) == name;
}

} // namespace

std::string piece_name(std::uint64_t segment, std::uint64_t piece) {
    char digits[kSegmentDigits + kPieceDigits + 2];
    std::snprintf(digits, sizeof digits, "%016llx-%08llx", static_cast<unsigned long long>(segment),
                  static_cast<unsigned long long>(piece));
    return digits + std::string(kPieceEnding);
}

bool is_piece_name(const std::string& name) {
    PieceKey key;
    return parse_piece_name(name, key);
}

std::shared_ptr<TargetFile> PieceFiles::open(const PieceKey& key, std::uint64_t bytes, Found& found) {
    found = Found::nothing;
    Target* const target = target_of(key);
    if (!target) return nullptr;
    auto file = target->open(piece_name(key.segment, key.piece));
    if (!file) return nullptr;
    found = Found::damaged;
    const std::uint64_t length = file_bytes(bytes);
    BlockMemory memory;
    BlockBuffer buffer = memory.take(length);
    const std::span<std::byte> all(buffer.data(), length);
    const auto read = (*file)->read(0, all);
    if (!read || *read != length) return nullptr;
    const Trailer expected = trailer_of(key, volume_id_, all.first(bytes));
    if (std::memcmp(all.last(kBlockBytes).data(), &expected, sizeof expected) != 0) return nullptr;
    found = Found::whole;
    return std::move(*file);
}

std::shared_ptr<TargetFile> PieceFiles::keep(const PieceKey& key, std::span<std::byte> memory, std::uint64_t bytes,
                                             const std::function<std::uint64_t(std::uint64_t)>& make_room) {
    Target* const target = target_of(key);
    if (!target) return nullptr;
    const std::uint64_t length = file_bytes(bytes);
    if (capacity_bytes_ != 0) {
        const std::uint64_t used = fast_bytes();
        if (used + length > capacity_bytes_) {
            const std::uint64_t freed = make_room(used + length - capacity_bytes_);
            known_fast_bytes_ -= std::min(freed, known_fast_bytes_.load());
            if (used + length > capacity_bytes_ + freed) return nullptr;
        }
    }
    const std::string name = piece_name(key.segment, key.piece);
    auto file = target->create(name, length);
    if (!file && file.error().errno_value == EEXIST) { // what is there did not hold
        if (!target->remove(name)) return nullptr;
        file = target->create(name, length);
    }
    if (!file) return nullptr;
    std::memset(memory.data() + bytes, 0, length - bytes);
    const Trailer trailer = trailer_of(key, volume_id_, memory.first(bytes));
    std::memcpy(memory.data() + length - kBlockBytes, &trailer, sizeof trailer);
    const std::span<const std::byte> piece(memory.first(length));
    if (!(*file)->write(0, {&piece, 1})) {
        (void)target->remove(name);
        return nullptr;
    }
    known_fast_bytes_ += length;
    return std::move(*file);
}

std::vector<PieceFiles::Listed> PieceFiles::list() const {
    std::vector<Listed> pieces;
    for (const auto& target : targets_)
        (void)target->list([&](const std::string& name, std::uint64_t bytes) {
            PieceKey key;
            if (parse_piece_name(name, key)) pieces.push_back({key, bytes});
            return true;
        });
    return pieces;
}

void PieceFiles::remove(const PieceKey& key) {
    for (const auto& target : targets_) (void)target->remove(piece_name(key.segment, key.piece));
}

std::uint64_t PieceFiles::fast_bytes() {
    if (keeps_.fetch_add(1) % kLookEvery != 0) return known_fast_bytes_.load();
    std::uint64_t sum = 0;
    for (const auto& target : targets_)
        (void)target->list([&](const std::string&, std::uint64_t bytes) {
            sum += bytes;
            return true;
        });
    known_fast_bytes_.store(sum);
    return sum;
}

} // namespace feedbench::feedfs
