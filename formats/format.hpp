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

// Fills `out` with the payload bytes [offset, offset + out.size()) of one file (payloads of its samples one after
// another).
using ContentSource = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

// A file beside each data file: at <folder><name of the data file><ending>, below the data folder.
struct SideFile {
    std::string_view folder, ending; // "index/", ".idx"
    // > 0: an index of so many bytes a sample that readers need before they can find one; 0: nobody here reads it.
    std::uint32_t index_bytes_per_sample = 0;
};
std::string side_path(const SideFile& side, std::string_view data_path);

// The bytes of a file's indexes, in the order of Format::side_files().
using IndexBytes = std::vector<std::vector<std::byte>>;
// Of one file: they lie in memory while it is read.
inline constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{64} << 20;

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

// A stretch of the file that a reader wants next.
struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

// Stretches are read in pieces that end on multiples of transfer_bytes: all but a stretch's first start aligned.
// position < end.
constexpr Extent piece_at(std::uint64_t position, std::uint64_t end, std::uint64_t transfer_bytes) {
    const std::uint64_t to_multiple = transfer_bytes - position % transfer_bytes;
    return {position, to_multiple < end - position ? to_multiple : end - position};
}

enum class Check : std::uint8_t { framing, checksum };

// Called with the payload bytes of what was just consumed (decoded, where the format compresses): where they lie in the
// file's content (as ContentSource counts) and the bytes. The span ends with the call. An error goes out through
// consume().
using PayloadVisitor = std::function<Status(std::uint64_t payload_offset, std::span<const std::byte> payload)>;

struct ReadRequest {
    std::string path;             // for messages
    std::uint64_t file_bytes = 0; // from open
    FileShape shape;              // what the plan expects; dims may be empty (adopted: only the file knows)
    bool has_content = true;      // false: null and model backends, nothing can be checked; take extents from the shape
    Check check = Check::framing;
    std::string local_path;    // for formats that need their library; empty = none
    PayloadVisitor on_payload; // for Verify::content; empty = nobody looks (and nothing is decoded for it)
    std::shared_ptr<const IndexBytes> index; // of formats with an index, where has_content
    ContentSource content; // beside on_payload, for formats that cannot show a payload: what the file was made from
};

// Reads single samples of one file (pytorch, native). Protocol, for each sample: begin(sample); then while next() gives
// an extent, read it and consume() it. A reader whose extents do not depend on bytes not yet consumed says so, so that
// a loader may keep several in flight; consume() is always called in the order of next(). The sample is complete and
// checked when next() gives nothing and everything given has been consumed. Where a format makes the reference load a
// whole file to reach one sample (npz, npy), the first sample asked for costs the whole file and the others no extent
// at all: a loader that wants to pay again opens again. Without content (has_content == false) consume() looks at sizes
// only, never at the bytes.
class SampleReader {
  public:
    virtual ~SampleReader() = default;
    virtual Status begin(std::uint32_t sample_index) = 0;
    // Nothing = no further extent for this sample. transfer_bytes (> 0) bounds each extent.
    virtual Expected<std::optional<Extent>> next(std::uint64_t transfer_bytes) = 0;
    // True when next() must not be called before what it gave so far has been consumed (for instance a header decides
    // the rest).
    virtual bool must_consume_first() const = 0;
    virtual Status consume(const Extent& extent, std::span<const std::byte> data) = 0;
    // True: begin() of this sample would cost no extent, for it came with others that are complete. May be left out.
    virtual bool is_at_hand(std::uint32_t) const { return false; }
    // Bytes consumed since this was last asked that no sample wanted: gaps that were read over, a tail in which the
    // place of the rest was looked for. Negative: some that were counted so are wanted after all. May be left out.
    virtual std::int64_t take_unneeded_bytes() { return 0; }
};

// Reads one file front to back whatever its record borders (tensorflow): the caller asks next(), reads the piece and
// hands it on, until nothing follows. Constant memory. Framing is checked as it passes by, checksums where
// Check::checksum.
class StreamReader {
  public:
    virtual ~StreamReader() = default;
    // Returns how many samples of the file are complete so far. The piece with the file's last byte also checks that
    // the file ends where it should; after it the count equals shape.sample_count. Without content only data.size() is
    // looked at.
    virtual Expected<std::uint32_t> consume(std::span<const std::byte> data) = 0;
    // The piece to read after the one that ended at `position` (0 at first); nothing = all samples are complete. May be
    // left out: then it is the whole file, in order. A format that leaves parts of a file unread says which.
    virtual Expected<std::optional<Extent>> next(std::uint64_t position, std::uint64_t file_bytes,
                                                 std::uint64_t transfer_bytes);
    virtual std::int64_t take_unneeded_bytes() { return 0; } // as of a SampleReader
};

// Samples that are complete after `seen_bytes` of a file whose samples lie evenly in it. Example: 5 of 10 bytes, 3
// samples: 1.
std::uint32_t samples_by_position(std::uint64_t seen_bytes, std::uint64_t file_bytes, std::uint32_t sample_count);
// The error of a piece that is not as long as asked.
Status check_piece(const ReadRequest& request, const Extent& extent, std::span<const std::byte> data);

class Format {
  public:
    virtual ~Format() = default;
    virtual std::string_view name() const = 0;                         // "npz"; also the file name's ending
    virtual bool is_blocking(const FileShape&) const { return false; } // reading goes through a library: thread pool
    virtual bool has_checksum() const = 0;                             // Check::checksum means something
    virtual std::uint32_t most_samples_per_file() const { return 0xffffffffU; } // images: 1
    // Refuses a shape that this format cannot hold.
    virtual Status supports(const FileShape& shape) const = 0;
    virtual Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const = 0;
    virtual Expected<std::uint64_t> file_bytes(const FileShape& shape) const = 0;
    // False: file_bytes() is an error or an estimate, for the size depends on the content.
    virtual bool size_is_known(const FileShape& shape) const {
        return shape.compression == FileShape::Compression::none;
    }
    // False: what is in a file is not what it was made from (lossy). Readers hand nothing to on_payload; they make the
    // file anew from ReadRequest::content and compare its bytes.
    virtual bool shows_payload() const { return true; }
    // May block where is_blocking(shape) or where metadata needs the library (hdf5): then call it on the thread pool.
    virtual Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const = 0;
    virtual bool open_may_block() const { return false; }
    // May be left out: the bytes pass by unchecked (but for their count) and samples complete evenly by position.
    virtual Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const;
    // Whole sample through the library (blocking formats only); content lands in `out`, returns its bytes.
    virtual Expected<std::uint64_t> read_blocking(const ReadRequest& request, std::uint32_t sample_index,
                                                  std::vector<std::byte>& out) const;
    // Looks at a file's bytes and says what it holds (adopt, spot check). `read` fetches any extent. request.shape may
    // be empty; where only it can tell samples from dimensions, its sample_count is believed. Empty dims in the answer:
    // samples vary in size.
    using ReadAt = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;
    virtual Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const = 0;
    // Samples [n * k, n * (k + 1)) of a file, n the answer, come together: who has read one of them has them all at
    // hand (is_at_hand) while the file stays open.
    virtual std::uint32_t samples_together(const FileShape&) const { return 1; }
    virtual bool is_kept_open() const { return false; } // by a loader's worker, for the next sample
    // Memory that one reader of a file of this shape may hold beside its landing buffer.
    virtual std::uint64_t reader_bytes(const FileShape&) const { return 0; }
    // What the generator writes beside each data file, and what is in it.
    virtual std::span<const SideFile> side_files() const { return {}; }
    virtual std::string side_bytes(const FileShape&, std::size_t /*which*/) const { return {}; }
    std::uint64_t index_bytes_per_sample() const; // of all of them; 0: readers need the data file alone
};

} // namespace feedbench::formats
