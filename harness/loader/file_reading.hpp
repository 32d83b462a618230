// Opening, reading and closing one file for a loader: what pytorch, tensorflow and native have in common.
//
// Thread: reactor thread. Owner: the worker's frame. Units: bytes, ns. Errors: filled in with operation, path and
// offset. Source: DESIGN sections 5 and 6.
#pragma once

#include <functional>
#include <string>

#include "harness/engine/sync.hpp"
#include "harness/loader/loader.hpp"

namespace feedbench::loader {

// What reading cost and delivered; added up into a Batch by the caller.
struct ReadTotals {
    std::uint64_t bytes = 0, reads = 0;
    void add_to(Batch& batch) const {
        batch.bytes_delivered += bytes;
        batch.read_count += reads;
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
    // order: of what is read, as WaitAccount compares it: the step, or the record.
    FileReading(const LoaderContext& context, std::uint64_t file_index, std::uint64_t order);
    FileReading(const FileReading&) = delete;
    FileReading& operator=(const FileReading&) = delete;

    // A file beside a data file (an index), below the data folder.
    FileReading(const LoaderContext& context, std::uint64_t file_index, std::uint64_t order,
                const formats::SideFile& side);

    void set_order(std::uint64_t order) { order_ = order; }
    std::uint64_t file_index() const { return file_index_; }
    // Another sample of the file that is still open: its time begins now.
    void begin_again(std::uint64_t order);
    engine::Task<Status> open();
    engine::Task<void> close();

    // Reads `bytes` at `offset` into a leased buffer, widened to what the file's alignment asks; the data span is
    // exactly what was asked for. Fewer bytes (end of file, earlier than it said) are an error.
    struct Piece {
        LandingBuffer buffer;
        std::span<const std::byte> data;
        std::uint64_t submit_ns = 0, complete_ns = 0, resume_ns = 0; // complete 0: answered at once
        std::unique_ptr<Error> error; // not in place: there are millions of pieces a second, and it is large
    };
    // now_ns: just_now_ns() of a caller that has done nothing that takes time since.
    engine::Task<Piece> read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t now_ns = 0);

    // For Format::open and open_stream.
    formats::ReadRequest format_request();
    // Hands data, read at `offset`, to a format's consume(), and counts the time since start_ns (the piece's resume_ns
    // where nothing was done in between: it spares a look at the clock) as decoding or verifying.
    template <class Consume>
    auto consume(std::uint64_t offset, std::span<const std::byte> data, std::uint64_t start_ns, Consume&& body) {
        consumed_ = data;
        consumed_offset_ = offset;
        auto result = body();
        if (!context_.counters->is_detailed) return result;
        if (!has_content_) { // there was nothing to look at, and a look at the clock would cost more than that
            consumed_ns_ = start_ns;
            return result;
        }
        consumed_ns_ = context_.reactor->now_ns();
        count_check(consumed_ns_ - start_ns);
        return result;
    }
    std::uint64_t consumed_ns() const { return consumed_ns_; } // when the last consume() ended; 0: not known
    std::uint64_t file_bytes() const { return file_->size_bytes; }
    const std::string& path() const { return path_; }
    std::string display_path() const { return context_.backend->display_path(path_); }
    std::uint64_t open_submit_ns() const { return open_submit_ns_; }
    std::uint64_t first_byte_ns() const { return first_byte_ns_; } // completion of the first read; 0 = none yet
    // When consume() ended, where it looked at the clock; else 0. For a read that follows at once.
    std::uint64_t just_now_ns() const { return has_content_ ? consumed_ns_ : 0; }
    ReadTotals take_totals() { return std::exchange(totals_, {}); }
    // Of what was read, so much is no part of any sample (SampleReader::take_unneeded_bytes).
    void discount(std::int64_t bytes) {
        totals_.bytes -= static_cast<std::uint64_t>(bytes);
        context_.counters->bytes -= static_cast<std::uint64_t>(bytes);
    }
    // Opens the format's reader: on a pool thread where that may block.
    template <class Reader>
    using Open = Expected<std::unique_ptr<Reader>> (formats::Format::*)(const formats::ReadRequest&) const;
    template <class Reader>
    engine::Task<Expected<std::unique_ptr<Reader>>> open_reader(Open<Reader> how);
    // A whole sample through the format's library, on a pool thread.
    engine::Task<Status> read_through_library(std::uint32_t sample_index);

  private:
    engine::Task<Status> open_path(std::uint64_t bytes_without_content);
    // The format's index of this file, into index_. index_reading.cpp
    engine::Task<Status> load_index();
    engine::Task<Status> load_side(const formats::SideFile& side, std::vector<std::byte>& bytes);
    // Runs `work`, which reads through the format's library, on a pool thread.
    engine::Task<void> run_library(std::function<void()> work, std::string_view operation);
    void count(const engine::IoOp& op);
    void count_check(std::uint64_t spent_ns);
    // Content is another than was generated: at which byte of the file, where the format did not decode it elsewhere.
    Error content_differs(std::uint64_t payload_offset, const std::byte* where) const;

    const LoaderContext& context_;
    bool has_content_;                    // of the storage
    bool is_side_ = false;                // a file beside a data file: no sample's first byte
    std::span<const std::byte> consumed_; // by the format, just now
    std::uint64_t consumed_offset_ = 0;
    std::uint64_t file_index_, order_;
    std::string path_;
    std::unique_ptr<engine::File> file_;
    FileShape shape_;
    IndexCache::Index index_;
    std::uint64_t open_submit_ns_ = 0, first_byte_ns_ = 0, consumed_ns_ = 0;
    std::uint64_t compared_ns_ = 0; // in on_payload, since it was last counted
    ReadTotals totals_;
};

template <class Reader>
engine::Task<Expected<std::unique_ptr<Reader>>> FileReading::open_reader(Open<Reader> how) {
    const formats::ReadRequest request = format_request();
    const formats::Format* format = context_.format;
    if (!format->open_may_block() || !request.has_content) co_return (format->*how)(request);
    std::optional<Expected<std::unique_ptr<Reader>>> answer;
    // A named function object: GCC 12 frees a capturing lambda in a co_await expression twice.
    std::function<void()> work = [format, how, &request, &answer] { answer.emplace((format->*how)(request)); };
    co_await run_library(std::move(work), "open");
    co_return std::move(*answer);
}

// Permits to have a read in flight, and when the storage had answered the read that last gave one back: who waited for
// it waited for the storage until then, and for the client from then on.
struct ReadPermits {
    ReadPermits(engine::Reactor& reactor, std::uint32_t count) : permits(reactor, count) {}
    engine::Semaphore permits;
    std::uint64_t freed_ns = 0;
};

// The file that a worker read last, still open where LoaderContext::keeps_files_open: a shared file is opened once by
// each worker, as data loaders over h5py do it. close() must be awaited.
struct KeptFile {
    std::unique_ptr<FileReading> file;
    std::unique_ptr<formats::SampleReader> reader;
    engine::Task<void> close();
};

// Counts the sample as delivered where it came with others before it (SampleReader::is_at_hand), without a read. It has
// no read latency: nothing was read for it.
bool take_at_hand(const LoaderContext& context, SampleRef sample, const KeptFile& kept, Batch& batch);

// The whole of one sample by a SampleReader, one read after another (pytorch's worker). `kept`: the worker's; nullptr:
// nothing is kept.
engine::Task<Status> read_sample_in_order(const LoaderContext& context, SampleRef sample, std::uint64_t step,
                                          Batch& batch, KeptFile* kept = nullptr);
// The same with up to `lanes` reads in flight; each holds a permit of `depth`.
engine::Task<Status> read_sample_in_parallel(const LoaderContext& context, SampleRef sample, std::uint64_t step,
                                             ReadPermits& depth, std::uint32_t lanes, Batch& batch,
                                             KeptFile* kept = nullptr);

// Length of the buffers that a pool needs for these settings: a transfer, widened by a block at each end.
std::uint64_t landing_buffer_bytes(const ReaderSection& reader);

} // namespace feedbench::loader
