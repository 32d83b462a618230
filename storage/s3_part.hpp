// A part of an object that is being written: its bytes while it is filled, its upload, what is left of it then.
// Internal to storage/s3*.cpp.
//
// Thread: reactor thread. Owner: S3Writing. Units: bytes from the part's begin. Errors: Transfer::failure, told by
// part_ended.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "storage/s3/engine.hpp"
#include "storage/s3/multipart.hpp"

namespace feedbench::storage {

inline constexpr std::uint64_t kS3MostParts = 10'000; // S3's limit
// The configured size, or what an object of the planned size needs to stay within the limit.
inline std::uint64_t s3_part_bytes(std::uint64_t configured, std::uint64_t planned) {
    constexpr std::uint64_t kMiB = 1 << 20;
    const std::uint64_t least = (planned + kS3MostParts - 1) / kS3MostParts;
    return std::max(configured, (least + kMiB - 1) / kMiB * kMiB);
}

// Memory of parts, kept for the next part: fresh memory costs a page fault every 4 KiB.
class S3Buffers {
  public:
    using Buffer = std::unique_ptr<std::byte[]>;
    explicit S3Buffers(std::uint64_t part_bytes) : part_bytes_(part_bytes) {}
    Buffer take(std::uint64_t bytes);
    void give_back(Buffer buffer, std::uint64_t bytes);

  private:
    static constexpr std::size_t kMostKept = 16;
    const std::uint64_t part_bytes_;
    std::vector<Buffer> kept_;
};

inline S3Buffers::Buffer S3Buffers::take(std::uint64_t bytes) {
    if (bytes != part_bytes_ || kept_.empty()) return Buffer(new std::byte[bytes]); // not cleared
    Buffer buffer = std::move(kept_.back());
    kept_.pop_back();
    return buffer;
}

inline void S3Buffers::give_back(Buffer buffer, std::uint64_t bytes) {
    if (bytes == part_bytes_ && buffer && kept_.size() < kMostKept) kept_.push_back(std::move(buffer));
}

class S3Part;
class S3PartOwner {
  public:
    virtual void part_ended(S3Part& part) = 0; // sent, or failed

  protected:
    ~S3PartOwner() = default;
};

class S3Part final : public s3::Transfer {
  public:
    enum class State { filling, on_its_way, sent };
    S3Part(S3PartOwner& of, s3::Engine& sender, S3Buffers& memory, unsigned to)
        : owner(of), engine(sender), buffers(memory) {
        endpoint = to;
    }
    ~S3Part() override {
        if (state == State::on_its_way) engine.abandon(*this);
        buffers.give_back(std::move(buffer), room);
    }
    S3Part(const S3Part&) = delete;
    S3Part& operator=(const S3Part&) = delete;
    void ended() override { owner.part_ended(*this); }

    // Remembers that [from, to) of this part was written, and how many bytes of it were not there before.
    void cover(std::uint64_t from, std::uint64_t to) {
        auto next = covered.upper_bound(from);
        if (next != covered.begin() && std::prev(next)->second >= from) --next;
        while (next != covered.end() && next->first <= to) {
            from = std::min(from, next->first);
            to = std::max(to, next->second);
            next = covered.erase(next);
        }
        covered[from] = to;
    }
    // Bytes from the part's begin that are there without a gap.
    std::uint64_t whole_bytes() const {
        return covered.empty() || covered.begin()->first > 0 ? 0 : covered.begin()->second;
    }

    S3PartOwner& owner;
    s3::Engine& engine;
    S3Buffers& buffers;
    S3Buffers::Buffer buffer;
    std::uint64_t index = 0, room = 0;
    std::map<std::uint64_t, std::uint64_t> covered; // from -> to, apart from each other
    State state = State::filling;
    s3::UploadedPart uploaded;
};

} // namespace feedbench::storage
