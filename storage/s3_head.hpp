// The first bytes of an object, fetched by the GET that opens it: small objects whole. Internal to storage/s3*.cpp.
//
// Formats look at heads and tails before they read in order; from here such reads cost no request of their own. A read
// of all that is still to come is received where it belongs, and not kept.
//
// Thread: reactor thread. Owner: S3Reading. Units: bytes from the object's begin. Errors: those of the GET go to the
// open, or, after it, to the reads that wait; later reads ask the store again.
#pragma once

#include "storage/s3_part.hpp"
#include "storage/s3_stream.hpp"

namespace feedbench::storage {

class S3Head final : public s3::Transfer {
  public:
    S3Head(S3StreamOwner& file, S3Buffers& buffers) : file_(file), buffers_(buffers) {}
    ~S3Head() override {
        if (is_active_) file_.place.engine.abandon(*this);
        buffers_.give_back(std::move(buffer_), room_);
    }
    S3Head(const S3Head&) = delete;
    S3Head& operator=(const S3Head&) = delete;

    void start() {
        request.key = file_.key;
        request.has_range = true;
        request.bytes = file_.place.config.open_bytes;
        endpoint = file_.endpoint;
        takes_in_place = true;
        is_active_ = true;
        file_.place.engine.start(*this);
    }
    // Reads below this are served from here.
    std::uint64_t bytes() const { return held_; }
    std::uint64_t end() const { return end_; } // of what the GET that opened brings
    void add(S3Asked& asked, std::byte* data, std::uint64_t offset, std::uint64_t bytes) {
        const std::uint64_t here = std::min(offset + bytes, arrived_);
        if (offset + bytes == here) {
            std::memcpy(data, buffer_.get() + offset, bytes);
            return;
        }
        ++asked.piece_count;
        if (waiting_.empty() && offset <= arrived_ && offset + bytes == end_) {
            std::memcpy(data, buffer_.get() + offset, here - offset);
            last_ = {&asked, data + (here - offset), here, end_ - here};
            held_ = here;
        } else
            waiting_.push_back({&asked, data, offset, bytes});
    }

    std::optional<s3::Failure> headers_arrived() override {
        if (auto wrong = file_.learn(answer)) return wrong;
        const std::uint64_t bytes = std::min(file_.place.config.open_bytes, answer.total_bytes);
        if (answer.status == 200 && answer.total_bytes > bytes)
            return s3::Failure{std::nullopt, EOPNOTSUPP, "the server ignores ranges: it answered 200"};
        if (!buffer_) {
            room_ = bytes;
            buffer_ = buffers_.take(bytes);
        }
        if (arrived_ == 0) held_ = bytes; // else a retry, which goes on
        end_ = bytes;
        file_.headers_came();
        return std::nullopt;
    }
    std::span<std::byte> room() override {
        if (last_.asked) return {last_.data + (arrived_ - last_.offset), end_ - arrived_};
        return {buffer_.get() + arrived_, end_ - arrived_};
    }
    void placed(std::size_t bytes) override {
        arrived_ += bytes;
        if (last_.asked && arrived_ == end_) file_.piece_ended(*std::exchange(last_, Waiting{}).asked, nullptr);
        for (std::size_t i = 0; i < waiting_.size();) {
            const Waiting piece = waiting_[i];
            if (piece.offset + piece.bytes > arrived_) {
                ++i;
                continue;
            }
            std::memcpy(piece.data, buffer_.get() + piece.offset, piece.bytes);
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
            file_.piece_ended(*piece.asked, nullptr);
        }
    }
    bool data_arrived(std::span<const std::byte> data) override {
        data = data.first(std::min<std::uint64_t>(data.size(), end_ - arrived_));
        std::memcpy(room().data(), data.data(), data.size());
        placed(data.size());
        return true;
    }
    void ended() override {
        is_active_ = false;
        if (!failure && answer.status == 416)
            failure = file_.learn_of_end(answer, 0);
        else if (!failure && arrived_ != end_)
            failure = s3::Failure{std::nullopt, EIO, "the object ended before its size"};
        if (file_.open_ended(failure)) return; // may have destroyed this
        if (!failure) return;
        held_ = std::min(held_, arrived_);
        std::vector<Waiting> failed;
        failed.swap(waiting_);
        if (last_.asked) failed.push_back(std::exchange(last_, Waiting{}));
        const s3::Failure why = *failure;
        for (const Waiting& piece : failed) file_.piece_ended(*piece.asked, &why);
    }

  private:
    struct Waiting {
        S3Asked* asked = nullptr;
        std::byte* data = nullptr;
        std::uint64_t offset = 0, bytes = 0;
    };
    S3StreamOwner& file_;
    S3Buffers& buffers_;
    S3Buffers::Buffer buffer_;
    std::vector<Waiting> waiting_;
    Waiting last_; // the read that gets all that is still to come, where it belongs
    std::uint64_t room_ = 0, end_ = 0, held_ = 0, arrived_ = 0;
    bool is_active_ = false;
};

} // namespace feedbench::storage
