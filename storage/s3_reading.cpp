#include "storage/s3_reading.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <optional>

namespace feedbench::storage {

using engine::IoOp;
using engine::Submit;

namespace {
constexpr std::size_t kMostStreams = 8; // of a file, resting ones included; more only where reads wait for them
}

S3Reading::S3Reading(S3Place where, S3Buffers& heads, std::string of, unsigned to)
    : S3StreamOwner(where, std::move(of), to), head_(*this, heads) {}
S3Reading::~S3Reading() = default;

Submit S3Reading::open(std::unique_ptr<S3Reading> file, IoOp& op) {
    S3Reading& self = *file;
    if (op.size_hint > 0) { // the first read learns whether that is its size
        self.size_bytes = op.size_hint;
        self.knows_size_ = true;
        op.result = 0;
        op.opened = std::move(file);
        return Submit::done;
    }
    self.opening_ = &op;
    self.self_ = std::move(file);
    self.head_.start();
    return Submit::pending;
}

void S3Reading::headers_came() {
    if (opening_) open_ended(std::nullopt);
}

bool S3Reading::open_ended(const std::optional<s3::Failure>& failure) {
    IoOp* op = std::exchange(opening_, nullptr);
    if (op == nullptr) return false;
    std::unique_ptr<S3Reading> file = std::move(self_); // of a failed open it goes with the end of this call
    op->result = failure ? -failure->errno_value : 0;
    if (failure)
        op->message = failure->message;
    else
        op->opened = std::move(file);
    op->sink->completed(*op);
    return true;
}

std::optional<s3::Failure> S3Reading::learn(const s3::Answer& answer) {
    if (knows_size_ && answer.total_bytes != size_bytes)
        return s3::Failure{std::nullopt, etag.empty() ? EIO : ESTALE,
                           "the object has " + std::to_string(answer.total_bytes) + " bytes, expected were " +
                               std::to_string(size_bytes)};
    size_bytes = answer.total_bytes;
    knows_size_ = true;
    if (etag.empty()) etag = answer.etag;
    if (etag != answer.etag && !answer.etag.empty())
        return s3::Failure{std::nullopt, ESTALE,
                           "the object was replaced while it was being read: its ETag was " + etag + " and is " +
                               answer.etag};
    return std::nullopt;
}

// 416: nothing lies at `offset`. Of an empty object that is its first answer.
std::optional<s3::Failure> S3Reading::learn_of_end(const s3::Answer& answer, std::uint64_t offset) {
    if (offset == 0 && (!answer.has_total || answer.total_bytes == 0) && (!knows_size_ || size_bytes == 0)) {
        knows_size_ = true;
        return std::nullopt;
    }
    return s3::Failure{std::nullopt, EIO,
                       "the object ends before " + std::to_string(offset) + ", its size was " +
                           std::to_string(size_bytes)};
}

S3Stream& S3Reading::free_stream() {
    const auto find = [this](auto is_right) {
        return std::find_if(streams_.begin(), streams_.end(), [&](const auto& stream) { return is_right(*stream); });
    };
    auto found = find([](const S3Stream& stream) { return stream.is_free(); });
    if (found == streams_.end() && streams_.size() >= kMostStreams) {
        found = find([](const S3Stream& stream) { return stream.is_unwanted(); });
        if (found != streams_.end()) (*found)->stop();
    }
    if (found == streams_.end()) found = streams_.insert(found, std::make_unique<S3Stream>(*this));
    (*found)->is_part = false;
    return **found;
}

Submit S3Reading::read(IoOp& op) {
    op.result = 0;
    if (op.offset >= size_bytes || op.bytes == 0) return Submit::done;
    auto asked = std::make_unique<S3Asked>();
    asked->op = &op;
    asked->bytes = std::min(op.bytes, size_bytes - op.offset);
    asked->next_offset = op.offset;
    asked->end = op.offset + asked->bytes;
    const auto place_at = [&op](std::uint64_t offset) { return op.data + (offset - op.offset); };
    if (op.offset < head_.bytes()) {
        const std::uint64_t share = std::min(asked->bytes, head_.bytes() - op.offset);
        head_.add(*asked, op.data, op.offset, share);
        asked->next_offset += share;
    }
    // What a GET that is under way brings anyway.
    S3Stream* stream = nullptr;
    for (const auto& each : streams_)
        if (each->tail() == asked->next_offset && !each->is_part) stream = each.get();
    if (stream && asked->next_offset < asked->end) {
        const std::uint64_t offset = asked->next_offset;
        if (const std::uint64_t share = std::min(asked->end - offset, stream->left_at(offset)); share > 0) {
            asked->next_offset += share;
            stream->add(*asked, place_at(offset), share);
        }
    }
    const std::uint64_t left = asked->end - asked->next_offset;
    if (left > place.config.part_bytes) {
        in_parts_.push_back(asked.get());
        issue_parts();
    } else if (left > 0) {
        if (!stream) {
            stream = &free_stream();
            stream->begin_at(asked->next_offset, asked->next_offset == head_.end());
        }
        const std::uint64_t offset = std::exchange(asked->next_offset, asked->end);
        stream->add(*asked, place_at(offset), left);
    }
    asked->is_submitting = false;
    if (asked->piece_count == 0) { // all of it had come already
        finish_now(*asked);
        return Submit::done;
    }
    op.backend_state = asked.release();
    return Submit::pending;
}

void S3Reading::issue_parts() {
    const auto active = [this] {
        return static_cast<unsigned>(std::count_if(streams_.begin(), streams_.end(), [](const auto& stream) {
            return stream->is_part && stream->is_active();
        }));
    };
    while (!in_parts_.empty() && active() < place.config.parts_in_flight) {
        S3Asked& asked = *in_parts_.front();
        const std::uint64_t offset = asked.next_offset;
        const std::uint64_t bytes = std::min(place.config.part_bytes, asked.end - offset);
        asked.next_offset += bytes;
        if (asked.next_offset == asked.end) in_parts_.pop_front();
        S3Stream& stream = free_stream();
        stream.begin_at(offset, false);
        stream.is_part = true;
        stream.add(asked, asked.op->data + (offset - asked.op->offset), bytes);
    }
}

void S3Reading::finish_now(S3Asked& asked) {
    asked.op->result = asked.failure ? -asked.failure->errno_value : static_cast<std::int64_t>(asked.bytes);
    if (asked.failure) asked.op->message = asked.failure->message;
}

void S3Reading::piece_ended(S3Asked& asked, const s3::Failure* failure) {
    --asked.piece_count;
    if (failure && !asked.failure) {
        asked.failure = *failure;
        std::erase(in_parts_, &asked); // the rest of it is of no use
        asked.next_offset = asked.end;
    }
    if (asked.is_submitting || asked.piece_count > 0 || asked.next_offset < asked.end) return;
    const std::unique_ptr<S3Asked> over(&asked);
    finish_now(asked);
    asked.op->sink->completed(*asked.op);
}

} // namespace feedbench::storage
