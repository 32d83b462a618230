// Pieces of the object tier's segments as files of the fast tier.
//
// A file holds the piece, zeros up to a block, and a block that says what it is: magic, volume, segment, piece, bytes,
// CRC32C of them, CRC32C of itself. What does not hold, for whatever reason, is no piece.
//
// Thread: any; of one piece one call at a time (ReadThrough sees to it; another process only makes create() fail).
// Owner: ReadThrough. Units: bytes. Errors: none for what is only lost speed: an empty answer.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

struct PieceKey {
    std::uint64_t segment = 0, piece = 0;
    auto operator<=>(const PieceKey&) const = default;
};

class PieceFiles {
  public:
    PieceFiles(std::vector<std::shared_ptr<Target>> fast_targets, std::uint64_t volume_id, std::uint64_t capacity_bytes)
        : targets_(std::move(fast_targets)), volume_id_(volume_id), capacity_bytes_(capacity_bytes) {}

    enum class Found : std::uint8_t { nothing, damaged, whole };
    // The piece's file, every byte of it checked.
    std::shared_ptr<TargetFile> open(const PieceKey& key, std::uint64_t bytes, Found& found);
    // Writes it. `memory`: aligned, of file_bytes(bytes); what lies behind `bytes` is overwritten. `make_room(n)` is
    // called where the fast tier's limit leaves no room, and answers how many bytes it freed. nullptr: it was not kept.
    std::shared_ptr<TargetFile> keep(const PieceKey& key, std::span<std::byte> memory, std::uint64_t bytes,
                                     const std::function<std::uint64_t(std::uint64_t)>& make_room);
    struct Listed {
        PieceKey key;
        std::uint64_t bytes = 0; // of the file
    };
    std::vector<Listed> list() const;
    void remove(const PieceKey& key);

    static std::uint64_t file_bytes(std::uint64_t bytes) {
        return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes + kBlockBytes;
    }

  private:
    Target* target_of(const PieceKey& key) const {
        return targets_.empty() ? nullptr : targets_[(key.segment + key.piece) % targets_.size()].get();
    }
    // Of the whole fast tier: asked for now and then, in between what this process adds.
    std::uint64_t fast_bytes();

    const std::vector<std::shared_ptr<Target>> targets_;
    const std::uint64_t volume_id_, capacity_bytes_;
    std::atomic<std::uint64_t> keeps_{0}, known_fast_bytes_{0};
};

} // namespace feedbench::feedfs
