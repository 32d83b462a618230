// An object that is being written: parts are filled in any order, uploaded when full, and become visible at commit.
// Internal to storage/s3*.cpp.
//
// What fits one part is one PUT at commit. Anything larger is a multipart upload, begun when its first part is full;
// commit completes it, close without commit aborts it. At most parts_in_flight parts are on their way; one more that is
// full makes further writes wait.
//
// Thread: reactor thread. Owner: the engine::File's holder; the backend outlives it. Units: bytes. Errors: op.result =
// -errno and op.message; after a failed part every later write and the commit fail with its reason.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/engine/io_op.hpp"
#include "storage/s3/client.hpp"
#include "storage/s3_part.hpp"
#include "storage/s3_reading.hpp"

namespace feedbench::storage {

class S3Writing final : public engine::File, public S3PartOwner {
  public:
    S3Writing(S3Place place, s3::Client& client, S3Buffers& buffers, std::string key, unsigned endpoint,
              std::uint64_t planned_bytes);
    ~S3Writing() override; // aborts what was begun; may block

    // What IoOp's write, commit and close answer (engine/io_op.hpp).
    engine::Submit write(engine::IoOp& op);
    engine::Submit commit(engine::IoOp& op);
    engine::Submit close(engine::IoOp& op);

  private:
    class Control; // begins, completes or aborts the upload, or puts the whole object

    S3Part& part_at(std::uint64_t index);
    bool take(engine::IoOp& op); // false: refused
    std::string why_not_whole(std::uint64_t size);
    unsigned count_on_their_way() const;
    unsigned count_full() const;
    void send(bool also_the_last);
    void go_on();
    void part_ended(S3Part& part) override;
    void begin_ended(const s3::Answer& answer, std::optional<s3::Failure> failure);
    void commit_ended(std::optional<s3::Failure> failure);
    void fail(const s3::Failure& failure);

    const S3Place place_;
    s3::Client& client_;
    S3Buffers& buffers_;
    const std::string key_;
    const unsigned endpoint_;
    const std::uint64_t planned_bytes_, part_bytes_;
    std::map<std::uint64_t, std::unique_ptr<S3Part>> parts_; // by index; of those that were sent the ETag alone is left
    std::unique_ptr<Control> control_;
    std::string upload_id_;
    std::optional<s3::Failure> failure_;
    std::vector<engine::IoOp*> waiting_; // writes
    engine::IoOp* committing_ = nullptr;
    engine::IoOp* closing_ = nullptr;
    bool is_multipart_ = false, is_committed_ = false;
};

} // namespace feedbench::storage
