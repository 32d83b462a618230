#include "storage/s3_writing.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

namespace feedbench::storage {

using engine::IoOp;
using engine::Submit;
using s3::Failure;

namespace {

Submit refuse(IoOp& op, int errno_value, std::string message) {
    op.result = -errno_value;
    op.message = std::move(message);
    return Submit::done;
}

void complete(IoOp& op, const std::optional<Failure>& failure, std::int64_t result) {
    op.result = failure ? -failure->errno_value : result;
    if (failure) op.message = failure->message;
    op.sink->completed(op);
}

} // namespace

// One request at a time that is not about a part.
class S3Writing::Control final : public s3::Transfer {
  public:
    enum class Doing { nothing, beginning, putting, completing, checking, aborting };
    explicit Control(S3Writing& file) : file_(file) { endpoint = file.endpoint_; }
    ~Control() override {
        if (doing != Doing::nothing) file_.place_.engine.abandon(*this);
    }
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    void start(Doing what, s3::Request wanted) {
        assert(doing == Doing::nothing);
        doing = what;
        is_last_wish = what == Doing::aborting;
        request = std::move(wanted);
        file_.place_.engine.start(*this);
    }
    void ended() override {
        switch (std::exchange(doing, Doing::nothing)) {
        case Doing::nothing:
            break;
        case Doing::beginning:
            file_.begin_ended(answer, failure);
            break;
        case Doing::completing:
            // The answer to the first attempt may have been lost on its way: then the object is there, whole. libcurl,
            // too, sends again what a kept connection lost.
            if (failure && failure->errno_value == ESTALE) {
                s3::Request head;
                head.method = s3::Method::head;
                head.key = file_.key_;
                gone_ = failure;
                start(Doing::checking, std::move(head));
            } else
                file_.commit_ended(failure);
            break;
        case Doing::checking:
            if (!failure && (answer.body_bytes != file_.size_bytes || answer.etag != etag)) failure = gone_;
            file_.commit_ended(failure ? gone_ : std::nullopt);
            break;
        case Doing::putting:
            file_.commit_ended(failure);
            break;
        case Doing::aborting:
            if (failure && (failure->errno_value == ENOENT || failure->errno_value == ESTALE)) failure.reset();
            file_.upload_id_.clear();
            complete(*std::exchange(file_.closing_, nullptr), failure, 0);
            break;
        }
    }
    Doing doing = Doing::nothing;
    std::string body, etag; // of completing: what is sent, and the ETag that it leads to

  private:
    S3Writing& file_;
    std::optional<Failure> gone_;
};

S3Writing::S3Writing(S3Place place, s3::Client& client, S3Buffers& buffers, std::string key, unsigned endpoint,
                     std::uint64_t planned_bytes)
    : place_(place), client_(client), buffers_(buffers), key_(std::move(key)), endpoint_(endpoint),
      planned_bytes_(planned_bytes), part_bytes_(s3_part_bytes(place.config.part_bytes, planned_bytes)),
      control_(std::make_unique<Control>(*this)) {}

S3Writing::~S3Writing() {
    const bool was_begun =
        is_multipart_ && !is_committed_ && (!upload_id_.empty() || control_->doing == Control::Doing::beginning);
    control_.reset();
    parts_.clear();
    if (was_begun) (void)client_.abort_uploads(key_, true).has_value(); // nobody is left to be told
}

S3Part& S3Writing::part_at(std::uint64_t index) {
    auto& part = parts_[index];
    if (part) return *part;
    part = std::make_unique<S3Part>(*this, place_.engine, buffers_, endpoint_);
    part->index = index;
    const std::uint64_t begin = index * part_bytes_;
    part->room = planned_bytes_ > begin ? std::min(part_bytes_, planned_bytes_ - begin) : part_bytes_;
    part->buffer = buffers_.take(part->room);
    return *part;
}

unsigned S3Writing::count_on_their_way() const {
    return static_cast<unsigned>(std::count_if(parts_.begin(), parts_.end(), [](const auto& each) {
        return each.second->state == S3Part::State::on_its_way;
    }));
}
unsigned S3Writing::count_full() const {
    return static_cast<unsigned>(std::count_if(parts_.begin(), parts_.end(), [this](const auto& each) {
        return each.second->state == S3Part::State::filling && each.second->whole_bytes() == part_bytes_;
    }));
}

Submit S3Writing::write(IoOp& op) {
    if (failure_) return refuse(op, failure_->errno_value, failure_->message);
    if (is_committed_ || committing_) return refuse(op, EINVAL, "the object is committed");
    if (is_multipart_ && count_on_their_way() + count_full() > place_.config.parts_in_flight) {
        waiting_.push_back(&op);
        return Submit::pending;
    }
    if (take(op)) send(false);
    return Submit::done;
}

bool S3Writing::take(IoOp& op) {
    std::uint64_t done = 0;
    while (done < op.bytes) {
        const std::uint64_t offset = op.offset + done, begin = offset / part_bytes_ * part_bytes_;
        const std::uint64_t from = offset - begin, bytes = std::min(op.bytes - done, part_bytes_ - from);
        S3Part& part = part_at(offset / part_bytes_);
        if (part.state != S3Part::State::filling) {
            refuse(op, EINVAL,
                   "bytes at " + std::to_string(offset) +
                       " have been uploaded already; an object is not written twice");
            return false;
        }
        if (from + bytes > part.room) { // more than was planned
            auto larger = buffers_.take(part_bytes_);
            std::memcpy(larger.get(), part.buffer.get(), part.room);
            part.buffer = std::move(larger);
            part.room = part_bytes_;
        }
        std::memcpy(part.buffer.get() + from, op.data + done, bytes);
        part.cover(from, from + bytes);
        done += bytes;
    }
    size_bytes = std::max(size_bytes, op.offset + op.bytes);
    op.result = static_cast<std::int64_t>(op.bytes);
    return true;
}

// Begins the upload where it has to be, and sends what is full, as many at once as may be.
void S3Writing::send(bool also_the_last) {
    if (failure_ || size_bytes <= part_bytes_) return;
    if (!is_multipart_) {
        if (!also_the_last && count_full() == 0) return;
        is_multipart_ = true;
        control_->start(Control::Doing::beginning, s3::begin_upload_request(key_));
    }
    if (upload_id_.empty()) return;
    unsigned room = place_.config.parts_in_flight - std::min(count_on_their_way(), place_.config.parts_in_flight);
    for (auto& [index, part] : parts_) {
        if (room == 0) return;
        const std::uint64_t bytes = std::min(part_bytes_, size_bytes - index * part_bytes_);
        const bool is_full = part->whole_bytes() == part_bytes_ || (also_the_last && part->whole_bytes() >= bytes);
        if (part->state != S3Part::State::filling || !is_full) continue;
        part->request = s3::part_request(place_.config, key_, upload_id_, static_cast<unsigned>(index + 1),
                                         {part->buffer.get(), bytes});
        part->uploaded.crc32c = part->request.body_crc32c_base64;
        part->state = S3Part::State::on_its_way;
        place_.engine.start(*part);
        --room;
    }
}

void S3Writing::begin_ended(const s3::Answer& answer, std::optional<Failure> failure) {
    if (!failure) upload_id_ = s3::upload_id_of(answer);
    if (!failure && upload_id_.empty()) failure = Failure{std::nullopt, EPROTO, "the server began no multipart upload"};
    if (closing_) {
        if (upload_id_.empty())
            complete(*std::exchange(closing_, nullptr), std::nullopt, 0);
        else
            control_->start(Control::Doing::aborting, s3::abort_upload_request(key_, upload_id_));
        return;
    }
    if (failure)
        fail(*failure);
    else
        go_on();
}

void S3Writing::part_ended(S3Part& part) {
    part.state = S3Part::State::sent;
    part.uploaded.etag = part.answer.etag;
    buffers_.give_back(std::move(part.buffer), part.room);
    part.room = 0;
    if (part.failure)
        fail(*part.failure);
    else
        go_on();
}

// Writes that wait, and the commit, say why.
void S3Writing::fail(const Failure& failure) {
    if (!failure_) failure_ = failure;
    std::vector<IoOp*> waiting;
    waiting.swap(waiting_);
    for (IoOp* op : waiting) complete(*op, failure_, 0);
    if (IoOp* op = std::exchange(committing_, nullptr)) complete(*op, failure_, 0);
}

// A part has gone, or the upload has begun: there is room, or nothing is left to send.
void S3Writing::go_on() {
    send(committing_ != nullptr);
    while (!waiting_.empty() && count_on_their_way() + count_full() <= place_.config.parts_in_flight) {
        IoOp& op = *waiting_.front();
        waiting_.erase(waiting_.begin());
        if (take(op)) send(false);
        op.sink->completed(op);
    }
    if (!committing_ || control_->doing != Control::Doing::nothing) return;
    std::vector<s3::UploadedPart> uploaded;
    for (const auto& [index, part] : parts_) {
        if (part->state != S3Part::State::sent) return;
        uploaded.push_back(part->uploaded);
    }
    control_->etag = s3::whole_etag(uploaded);
    control_->body = s3::complete_upload_body(uploaded);
    control_->start(Control::Doing::completing, s3::complete_upload_request(key_, upload_id_, control_->body));
}

// Cuts to `size`; empty, or why that cannot be.
std::string S3Writing::why_not_whole(std::uint64_t size) {
    if (size > size_bytes)
        return std::to_string(size) + " bytes are to be committed, and only " + std::to_string(size_bytes) +
               " were written";
    for (const auto& [index, part] : parts_)
        if (part->state != S3Part::State::filling && std::min(size_bytes, (index + 1) * part_bytes_) > size)
            return "what lies behind " + std::to_string(size) + " has been uploaded already";
    for (std::uint64_t index = 0; index * part_bytes_ < size; ++index) {
        const auto part = parts_.find(index);
        const std::uint64_t wanted = std::min(part_bytes_, size - index * part_bytes_);
        const bool is_there = part != parts_.end() &&
                              (part->second->state != S3Part::State::filling || part->second->whole_bytes() >= wanted);
        if (!is_there)
            return "between " + std::to_string(index * part_bytes_) + " and " +
                   std::to_string(index * part_bytes_ + wanted) + " there are bytes that were never written";
    }
    size_bytes = size;
    parts_.erase(parts_.lower_bound((size + part_bytes_ - 1) / part_bytes_), parts_.end());
    return {};
}

Submit S3Writing::commit(IoOp& op) {
    if (failure_) return refuse(op, failure_->errno_value, failure_->message);
    if (is_committed_) return refuse(op, EINVAL, "the object is committed already");
    if (std::string why = why_not_whole(op.size_hint); !why.empty()) return refuse(op, EINVAL, std::move(why));
    if (size_bytes > kS3MostParts * part_bytes_)
        return refuse(op, EFBIG,
                      "S3 takes 10000 parts of an object: storage.storage_options.part_size has to be larger");
    committing_ = &op;
    if (!is_multipart_ && size_bytes <= part_bytes_) {
        std::span<const std::byte> content;
        if (size_bytes > 0) content = {part_at(0).buffer.get(), size_bytes};
        control_->start(Control::Doing::putting, s3::put_request(place_.config, key_, content));
    } else
        go_on();
    return Submit::pending;
}

void S3Writing::commit_ended(std::optional<Failure> failure) {
    is_committed_ = !failure;
    if (is_committed_) parts_.clear();
    if (IoOp* op = std::exchange(committing_, nullptr)) complete(*op, failure, 0);
}

Submit S3Writing::close(IoOp& op) {
    op.result = 0;
    assert(!committing_ && waiting_.empty());
    parts_.clear(); // those on their way are abandoned
    if (is_committed_ || !is_multipart_) return Submit::done;
    is_committed_ = true; // the destructor has nothing left to do
    if (control_->doing == Control::Doing::nothing && upload_id_.empty()) return Submit::done;
    closing_ = &op;
    if (control_->doing == Control::Doing::nothing)
        control_->start(Control::Doing::aborting, s3::abort_upload_request(key_, upload_id_));
    return Submit::pending;
}

} // namespace feedbench::storage
