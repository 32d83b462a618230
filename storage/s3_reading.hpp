// An object that is open for reading: which GETs are made for which reads. Internal to storage/s3*.cpp.
//
// The open itself is a GET of the first bytes, which tells size and ETag (none where the caller knows the size), and
// keeps them. Reads that follow each other share one GET, whose body is copied into their buffers as it comes: to the
// object's end where they go on from its start, else of twice the length each time. A read larger than a part is cut
// into GETs side by side.
//
// Thread: reactor thread. Owner: the engine::File's holder; the backend outlives it. Units: bytes. Errors: op.result =
// -errno and op.message, after the engine's retries; a body is never shorter than its read unless the object ends.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/io_op.hpp"
#include "storage/s3_head.hpp"

namespace feedbench::storage {

class S3Reading final : public engine::File, public S3StreamOwner {
  public:
    S3Reading(S3Place where, S3Buffers& heads, std::string of, unsigned to);
    ~S3Reading() override;

    // What IoOp's open and read answer (engine/io_op.hpp). The file goes into op.opened when it is open.
    static engine::Submit open(std::unique_ptr<S3Reading> file, engine::IoOp& op);
    engine::Submit read(engine::IoOp& op);

  private:
    S3Stream& free_stream();
    static void finish_now(S3Asked& asked);

    std::uint64_t object_bytes() const override { return size_bytes; }
    std::optional<s3::Failure> learn(const s3::Answer& answer) override;
    std::optional<s3::Failure> learn_of_end(const s3::Answer& answer, std::uint64_t offset) override;
    void headers_came() override;
    bool open_ended(const std::optional<s3::Failure>& failure) override;
    void piece_ended(S3Asked& asked, const s3::Failure* failure) override;
    void issue_parts() override;

    bool knows_size_ = false;
    engine::IoOp* opening_ = nullptr;
    std::unique_ptr<S3Reading> self_; // while the open is under way
    S3Head head_;
    std::vector<std::unique_ptr<S3Stream>> streams_;
    std::deque<S3Asked*> in_parts_; // reads of which parts are not asked for yet
};

} // namespace feedbench::storage
