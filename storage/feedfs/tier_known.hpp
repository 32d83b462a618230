// Pieces of the object tier's segments that this process has at hand: open files of the fast tier, and memory.
//
// Thread: one at a time (ReadThrough's mutex). Owner: ReadThrough; pieces live as long as somebody holds them.
// Units: bytes. Errors: none. Source: issue 7, "Tiering".
#pragma once

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/tier_pieces.hpp"

namespace feedbench::feedfs {

// A piece that can be read: from its file in the fast tier, or from memory.
struct Piece {
    std::shared_ptr<TargetFile> file;
    BlockBuffer memory;
    std::uint64_t bytes = 0;

    Status copy(std::uint64_t offset, std::span<std::byte> into) const {
        if (memory) {
            std::memcpy(into.data(), memory.data() + offset, into.size());
            return {};
        }
        const auto read = file->read(offset, into);
        if (!read) return read.error();
        if (*read != into.size()) return storage_error("read", "a piece of the fast tier", EIO, "it is too short");
        return {};
    }
};
using PiecePointer = std::shared_ptr<const Piece>;

class KnownPieces {
  public:
    explicit KnownPieces(std::uint64_t memory_bytes) : memory_limit_(memory_bytes) {}

    PiecePointer find(const PieceKey& key) { // nullptr: not at hand
        const auto found = pieces_.find(key);
        if (found == pieces_.end()) return nullptr;
        found->second.used = ++uses_;
        return found->second.piece;
    }
    std::uint64_t last_use(const PieceKey& key) const { // 0: never
        const auto found = pieces_.find(key);
        return found == pieces_.end() ? 0 : found->second.used;
    }
    void remember(const PieceKey& key, PiecePointer piece) {
        forget(key);
        if (piece->memory) {
            while (memory_used_ > 0 && memory_used_ + piece->bytes > memory_limit_) drop_least_used(true);
            memory_used_ += piece->bytes;
        } else {
            while (files_open_ >= kOpenMost) drop_least_used(false);
            ++files_open_;
        }
        pieces_[key] = {std::move(piece), ++uses_};
    }
    void forget(const PieceKey& key) {
        if (const auto found = pieces_.find(key); found != pieces_.end()) drop(found);
    }

  private:
    static constexpr std::size_t kOpenMost = 256;
    struct Known {
        PiecePointer piece;
        std::uint64_t used = 0;
    };
    using Pieces = std::map<PieceKey, Known>;

    void drop(Pieces::iterator one) {
        if (one->second.piece->memory)
            memory_used_ -= one->second.piece->bytes;
        else
            --files_open_;
        pieces_.erase(one);
    }
    void drop_least_used(bool in_memory) {
        auto least = pieces_.end();
        for (auto one = pieces_.begin(); one != pieces_.end(); ++one)
            if (static_cast<bool>(one->second.piece->memory) == in_memory &&
                (least == pieces_.end() || one->second.used < least->second.used))
                least = one;
        drop(least);
    }

    const std::uint64_t memory_limit_;
    std::uint64_t uses_ = 0, memory_used_ = 0;
    std::size_t files_open_ = 0;
    Pieces pieces_;
};

} // namespace feedbench::feedfs
