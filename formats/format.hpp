// What a file looks like: encoding and reading side by side, no I/O. A format is one file and one line in registry.cpp.
//
// Thread: any; an Encoder or SampleReader belongs to one user at a time. Owner: the caller. Units: bytes.
// Errors: format_error with the offset; nothing is executed, nothing over-read (case C7).
// Source: reference.md section 1. The shortest format is raw.cpp: copy that one.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/dataset_plan.hpp"
#include "harness/types/error.hpp"

namespace feedbench::formats {

// Fills `out` with the payload bytes [offset, offset + out.size()) of one file (payloads of its samples one after another).
using ContentSource = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

struct Patch {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
};

// Produces one file front to back; constant memory whatever the file's size.
class Encoder {
  public:
    virtual ~Encoder() = default;
    virtual std::uint64_t file_bytes() const = 0; // known before the first byte
    // Writes the next bytes of the file into `out` (all of it, unless the file ends); returns how many.
    virtual std::size_t fill(std::span<std::byte> out) = 0;
    // After the last fill: bytes near the head that were not known before (a checksum). All lie below patch_limit().
    virtual std::vector<Patch> patches() const { return {}; }
    virtual std::uint64_t patch_limit() const { return 0; } // the writer holds back this much of the head until the end
};

// An extent that a reader wants. `payload_offset` says where its first payload byte lies in the file's content, so that the
// content can be checked; head and tail bytes that are no payload are skipped by payload_skip.
struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool is_payload = false;
    std::uint64_t payload_offset = 0; // of extent byte `payload_skip`
    std::uint64_t payload_skip = 0, payload_bytes = 0;
};

enum class Check : std::uint8_t { framing, checksum };

// Reads the samples of one file in order of request. Protocol, for each sample: begin(sample); then while next() gives an
// extent, read it and consume() it. A reader whose extents do not depend on bytes not yet consumed says so, so that a loader may
// keep several in flight; consume() is always called in the order of next().
class SampleReader {
  public:
    virtual ~SampleReader() = default;
    virtual Status begin(std::uint32_t sample_index) = 0;
    // Nothing = the sample is complete. transfer_bytes bounds each extent.
    virtual Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) = 0;
    // True when next() must not be called before what it gave so far has been consumed (for instance a header decides the rest).
    virtual bool must_consume_first() const = 0;
    virtual Status consume(const Extent& extent, std::span<const std::byte> data) = 0;
};

struct ReadRequest {
    std::string path;             // for messages
    std::uint64_t file_bytes = 0; // from open
    FileShape shape;              // what the plan expects; dims may be empty (adopted: only the file knows)
    bool has_content = true;      // false: null and model backends, nothing can be checked; take extents from the shape
    Check check = Check::framing;
    std::string local_path;       // for formats that need their library; empty = none
};

class Format {
  public:
    virtual ~Format() = default;
    virtual std::string_view name() const = 0;   // "npz"; also the file name's ending
    virtual bool is_blocking(const FileShape&) const { return false; } // reading goes through a library: thread pool
    virtual bool has_checksum() const = 0;       // Check::checksum means something
    // Refuses a shape that this format cannot hold.
    virtual Status supports(const FileShape& shape) const = 0;
    virtual Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const = 0;
    virtual Expected<std::uint64_t> file_bytes(const FileShape& shape) const = 0;
    // May block where is_blocking(shape) or where metadata needs the library (hdf5): then call it on the thread pool.
    virtual Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const = 0;
    virtual bool open_may_block() const { return false; }
    // Whole sample through the library (blocking formats only); content lands in `out`, returns its bytes.
    virtual Expected<std::uint64_t> read_blocking(const ReadRequest& request, std::uint32_t sample_index,
                                                  std::vector<std::byte>& out) const;
    // Looks at a file's bytes and says what it holds (adopt, spot check). `read` fetches any extent.
    using ReadAt = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;
    virtual Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const = 0;
    // A side file that the generator writes next to the data (tfrecord index); empty = none.
    virtual std::string side_file(const FileShape&) const { return {}; }
    virtual bool has_side_file() const { return false; }
};

} // namespace feedbench::formats
