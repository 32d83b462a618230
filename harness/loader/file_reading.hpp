// Opening, reading and closing one file for a loader: what pytorch, tensorflow and native have in common.
//
// Thread: reactor thread. Owner: the worker's frame. Units: bytes, ns. Errors: filled in with operation, path and
// offset. Source: DESIGN sections 5 and 6.
#pragma once

#include <string>

#include "harness/engine/sync.hpp"
#include "harness/loader/loader.hpp"

namespace feedbench::loader {

// What reading cost and delivered; added up into a Batch by the caller.
struct ReadTotals {
    std::uint64_t bytes = 0, reads = 0;
    std::uint64_t last_complete_ns = 0; // the storage's last answer
    std::uint64_t client_ns = 0;        // answered but not yet resumed, and time in checks
    void add_to(Batch& batch) const {
        batch.bytes_delivered += bytes;
        batch.read_count += reads;
        batch.complete_ns = std::max(batch.complete_ns, last_complete_ns);
        batch.client_wait_ns += client_ns;
    }
};

// A leased buffer and its permit.
class LandingBuffer {
  public:
    LandingBuffer() = default;
    LandingBuffer(engine::BufferLease lease, engine::Semaphore& permits)
        : lease_(std::move(lease)), permits_(&permits) {}
    LandingBuffer(LandingBuffer&& other) noexcept
        : lease_(std::move(other.lease_)), permits_(std::exchange(other.permits_, nullptr)) {}
    LandingBuffer& operator=(LandingBuffer&& other) noexcept {
        release();
        lease_ = std::move(other.lease_);
        permits_ = std::exchange(other.permits_, nullptr);
        return *this;
    }
    ~LandingBuffer() { release(); }
    void release() {
        if (!permits_) return;
        lease_.release();
        std::exchange(permits_, nullptr)->release();
    }
    const engine::BufferLease& lease() const { return lease_; }

  private:
    engine::BufferLease lease_;
    engine::Semaphore* permits_ = nullptr;
};

// One open file. close() must be awaited when open() succeeded.
class FileReading {
  public:
    FileReading(const LoaderContext& context, std::uint64_t file_index);
    FileReading(const FileReading&) = delete;
    FileReading& operator=(const FileReading&) = delete;

    engine::Task<Status> open();
    engine::Task<void> close();

    // Reads `bytes` at `offset` into a leased buffer, widened to what the file's alignment asks; the data span is
    // exactly what was asked for. Fewer bytes (end of file, earlier than it said) are an error.
    struct Piece {
        LandingBuffer buffer;
        std::span<const std::byte> data;
        std::uint64_t submit_ns = 0;
        std::optional<Error> error;
    };
    engine::Task<Piece> read(std::uint64_t offset, std::uint64_t bytes);

    // For Format::open and open_stream.
    formats::ReadRequest format_request() const;
    // Hands data, read at `offset`, to a format's consume(), and charges the time to the client.
    template <class Consume>
    auto consume(std::uint64_t offset, std::span<const std::byte> data, Consume&& body) {
        consumed_ = data;
        consumed_offset_ = offset;
        const std::uint64_t start = context_.reactor->now_ns();
        auto result = body();
        const std::uint64_t spent = context_.reactor->now_ns() - start;
        totals_.client_ns += spent;
        return result;
    }
    std::uint64_t file_bytes() const { return file_->size_bytes; }
    const std::string& path() const { return path_; }
    std::string display_path() const { return context_.backend->display_path(path_); }
    std::uint64_t open_submit_ns() const { return open_submit_ns_; }
    std::uint64_t first_byte_ns() const { return first_byte_ns_; } // completion of the first read; 0 = none yet
    ReadTotals take_totals() { return std::exchange(totals_, {}); }
    // A whole sample through the format's library, on a pool thread.
    engine::Task<Status> read_through_library(std::uint32_t sample_index);

  private:
    // Content is another than was generated: at which byte of the file, where the format did not decode it elsewhere.
    Error content_differs(std::uint64_t payload_offset, const std::byte* where) const;

    const LoaderContext& context_;
    std::span<const std::byte> consumed_; // by the format, just now
    std::uint64_t consumed_offset_ = 0;
    std::uint64_t file_index_;
    std::string path_;
    std::unique_ptr<engine::File> file_;
    FileShape shape_;
    std::uint64_t open_submit_ns_ = 0, first_byte_ns_ = 0;
    ReadTotals totals_;
};

// The whole of one sample by a SampleReader, one read after another (pytorch's worker).
engine::Task<Status> read_sample_in_order(const LoaderContext& context, SampleRef sample, Batch& batch);
// The same with up to `lanes` reads in flight; each holds a permit of `depth`.
engine::Task<Status> read_sample_in_parallel(const LoaderContext& context, SampleRef sample, engine::Semaphore& depth,
                                             std::uint32_t lanes, Batch& batch);

// Length of the buffers that a pool needs for these settings: a transfer, widened by a block at each end.
std::uint64_t landing_buffer_bytes(const ReaderSection& reader);

} // namespace feedbench::loader
