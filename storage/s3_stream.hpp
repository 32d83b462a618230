// GETs one behind the other, and the reads that wait for their bytes. Internal to storage/s3*.cpp.
//
// Bytes go from libcurl's buffer into the reads' own; what comes while nobody waits lies in a stash of at most two
// receive buffers, and the transfer rests.
//
// Thread: reactor thread. Owner: S3Reading. Units: bytes. Errors: a failed GET fails every piece that waits.
#pragma once

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/engine/io_op.hpp"
#include "storage/s3/engine.hpp"

namespace feedbench::storage {

struct S3Place {
    const s3::Config& config;
    s3::Engine& engine;
};

struct S3Asked;
class S3StreamOwner {
  public:
    S3StreamOwner(S3Place where, std::string of, unsigned to) : place(where), key(std::move(of)), endpoint(to) {}
    virtual std::uint64_t object_bytes() const = 0;
    // Checks size and ETag against what is known, or learns them.
    virtual std::optional<s3::Failure> learn(const s3::Answer& answer) = 0;
    virtual std::optional<s3::Failure> learn_of_end(const s3::Answer& answer, std::uint64_t offset) = 0;
    // Of the GET that opens: its headers are there and good; its end (true: it was told now; the owner may be gone).
    virtual void headers_came() = 0;
    virtual bool open_ended(const std::optional<s3::Failure>& failure) = 0;
    virtual void piece_ended(S3Asked& asked, const s3::Failure* failure) = 0;
    virtual void issue_parts() = 0; // a stream has become free

    const S3Place place;
    const std::string key;
    const unsigned endpoint;
    std::string etag;

  protected:
    ~S3StreamOwner() = default;
};

// A read under way.
struct S3Asked {
    engine::IoOp* op = nullptr;
    std::uint64_t bytes = 0;                // what it will have read
    std::uint64_t next_offset = 0, end = 0; // what no stream was asked for yet
    unsigned piece_count = 0;               // under way
    bool is_submitting = true;
    std::optional<s3::Failure> failure;
};

// A share of a read, that one stream brings.
struct S3Piece {
    S3Asked* asked = nullptr;
    std::byte* data = nullptr;
    std::uint64_t left = 0;
};

class S3Stream final : public s3::Transfer {
  public:
    explicit S3Stream(S3StreamOwner& file) : file_(file) {
        request.key = file.key;
        request.has_range = true;
        endpoint = file.endpoint;
        takes_in_place = true;
    }
    ~S3Stream() override { stop(); }
    S3Stream(const S3Stream&) = delete;
    S3Stream& operator=(const S3Stream&) = delete;

    void stop() {
        if (is_active_) file_.place.engine.abandon(*this);
        is_active_ = false;
        stash_.clear();
        stash_at_ = 0;
        end_ = 0;
    }
    // Nothing is under way, and nothing lies here that a later read may want.
    bool is_free() const { return !is_active_ && pieces_.empty() && stash_.empty(); }
    bool is_unwanted() const { return pieces_.empty(); }
    bool is_active() const { return is_active_; }
    bool is_part = false;

    std::uint64_t tail() const { return tail_; } // where the next read in order begins
    std::uint64_t left_at(std::uint64_t offset) const { return end_ > offset ? end_ - offset : 0; }

    // length 0: to the object's end.
    void start(std::uint64_t offset, std::uint64_t length) {
        assert(!is_active_);
        request.offset = given_ = offset;
        request.bytes = length;
        request.if_match = file_.etag;
        last_length_ = length;
        end_ = length == 0 ? ~std::uint64_t{0} : offset + length;
        arrived_ = offset;
        is_active_ = true;
        file_.place.engine.start(*this);
    }
    // in_order: the object is read from its start, so the rest of it is wanted.
    void begin_at(std::uint64_t offset, bool in_order) {
        tail_ = offset;
        given_ = arrived_ = end_ = offset;
        is_in_order_ = in_order;
        last_length_ = 0;
    }
    // `bytes` of `asked` at tail(), into `data`.
    void add(S3Asked& asked, std::byte* data, std::uint64_t bytes) {
        tail_ += bytes;
        ++asked.piece_count;
        pieces_.push_back({&asked, data, bytes});
        if (!stash_.empty() && pieces_.size() == 1) take_from_stash();
        if (pieces_.empty()) return;
        if (!is_active_)
            go_on();
        else if (stash_.empty())
            file_.place.engine.resume(*this);
    }

    std::optional<s3::Failure> headers_arrived() override {
        if (auto wrong = file_.learn(answer)) return wrong;
        end_ = answer.status == 200 ? answer.total_bytes : std::min(end_, answer.total_bytes);
        return std::nullopt;
    }
    bool data_arrived(std::span<const std::byte> data) override {
        arrived_ += data.size();
        data = data.subspan(give(data));
        if (data.empty()) return true;
        // The reader's next read is mostly there before the next bytes are; only where it is not, the transfer rests.
        const bool nobody_came = !stash_.empty();
        stash_.insert(stash_.end(), data.begin(), data.end());
        return !nobody_came;
    }
    std::span<std::byte> room() override {
        if (pieces_.empty() || !stash_.empty()) return {};
        return {pieces_.front().data, pieces_.front().left};
    }
    void placed(std::size_t bytes) override {
        arrived_ += bytes;
        took(bytes);
    }
    void ended() override {
        is_active_ = false;
        if (!failure && answer.status == 416)
            failure = file_.learn_of_end(answer, request.offset);
        else if (!failure && arrived_ != end_)
            failure = s3::Failure{std::nullopt, EIO, "the object ended before its size"};
        if (failure) fail_pieces();
        if (!pieces_.empty())
            go_on();
        else
            file_.issue_parts();
    }

  private:
    void fail_pieces() {
        stash_.clear();
        stash_at_ = 0;
        end_ = 0;
        tail_ = ~std::uint64_t{0};
        std::deque<S3Piece> failed;
        failed.swap(pieces_);
        const s3::Failure why = *failure;
        for (const S3Piece& piece : failed) file_.piece_ended(*piece.asked, &why);
    }
    // Copies into the pieces that wait; answers how much.
    std::size_t give(std::span<const std::byte> data) {
        std::size_t taken = 0;
        while (taken < data.size() && !pieces_.empty()) {
            S3Piece& piece = pieces_.front();
            const std::size_t bytes = std::min<std::uint64_t>(piece.left, data.size() - taken);
            std::memcpy(piece.data, data.data() + taken, bytes);
            taken += bytes;
            took(bytes);
        }
        return taken;
    }
    // The first piece has so many bytes more.
    void took(std::size_t bytes) {
        S3Piece& piece = pieces_.front();
        piece.data += bytes;
        piece.left -= bytes;
        given_ += bytes;
        if (piece.left > 0) return;
        S3Asked& asked = *piece.asked;
        pieces_.pop_front();
        file_.piece_ended(asked, nullptr);
    }
    void take_from_stash() {
        stash_at_ += give(std::span<const std::byte>(stash_).subspan(stash_at_));
        if (stash_at_ < stash_.size()) return;
        stash_.clear();
        stash_at_ = 0;
        if (is_active_) file_.place.engine.resume(*this);
    }
    // The next GET, for pieces that the one before does not reach.
    void go_on() {
        const std::uint64_t left = file_.object_bytes() - given_, wanted = tail_ - given_;
        const std::uint64_t grown = last_length_ == 0 ? wanted : std::max(wanted, 2 * last_length_);
        start(given_, is_in_order_ ? left : std::min(left, is_part ? wanted : grown));
    }

    S3StreamOwner& file_;
    std::deque<S3Piece> pieces_;   // in order, without gaps, from given_ to tail_
    std::vector<std::byte> stash_; // what came and nobody waited for: from given_ to arrived_
    std::size_t stash_at_ = 0;
    std::uint64_t given_ = 0, arrived_ = 0, end_ = 0, tail_ = 0, last_length_ = 0;
    bool is_active_ = false, is_in_order_ = false;
};

} // namespace feedbench::storage
