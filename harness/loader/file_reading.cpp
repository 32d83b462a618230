#include "harness/loader/file_reading.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>

#include "harness/types/units.hpp"

namespace feedbench::loader {

using engine::IoKind;
using engine::IoOp;
using engine::Task;

namespace {

// The widest alignment that a landing buffer must allow for at each end.
constexpr std::uint64_t kBlockBytes = 4096;

Error read_failed(const IoOp& op, const std::string& path) {
    return storage_error(std::string(io_kind_name(op.kind)), path, static_cast<int>(-op.result), op.message,
                         op.kind == IoKind::read ? static_cast<std::int64_t>(op.offset) : -1);
}

} // namespace

std::uint64_t landing_buffer_bytes(const ReaderSection& reader) {
    return round_up(std::max<std::uint64_t>(reader.transfer_size, kBlockBytes), kBlockBytes) + 2 * kBlockBytes;
}

FileReading::FileReading(const LoaderContext& context, std::uint64_t file_index, std::uint64_t order)
    : context_(context), has_content_(context.backend->capabilities().has_content), file_index_(file_index),
      order_(order) {
    context.plan->name(file_index, path_);
}

FileReading::FileReading(const LoaderContext& context, std::uint64_t file_index, std::uint64_t order,
                         const formats::SideFile& side)
    : FileReading(context, file_index, order) {
    is_side_ = true;
    path_ = formats::side_path(side, path_);
}

// What was answered within the call was never in flight: its time is the client's.
void FileReading::count(const IoOp& op) {
    if (op.complete_ns == 0 || !context_.counters->is_detailed) return;
    metrics::EpochCounts& counts = context_.counters->epoch;
    counts.in_flight_ns += op.complete_ns - op.submit_ns;
    counts.client_queue_ns += op.resume_ns - op.complete_ns;
    if (context_.wait) context_.wait->count(order_, op.submit_ns, op.complete_ns);
}

// Only where content is both decoded and compared must a clock tell the two apart (compared_ns_); a checksum costs so
// much more than the framing around it that one figure is the truth.
void FileReading::count_check(std::uint64_t spent_ns) {
    metrics::EpochCounts& counts = context_.counters->epoch;
    const Verify verify = context_.reader->verify;
    std::uint64_t verified = 0;
    if (verify == Verify::content)
        verified = shape_.compression == FileShape::Compression::none ? spent_ns : std::min(compared_ns_, spent_ns);
    else if (verify == Verify::checksum && context_.format->has_checksum())
        verified = spent_ns;
    compared_ns_ = 0;
    counts.verify_ns += verified;
    counts.decode_ns += spent_ns - verified;
}

Task<Status> FileReading::open() {
    // The planned shape of a file whose size varies is not free to compute: only where somebody looks at it.
    if (!has_content_ || context_.reader->verify != Verify::off || !context_.plan->sizes_vary() ||
        !context_.plan->sizes_known())
        shape_ = context_.plan->shape(file_index_);
    else
        shape_.sample_count = context_.plan->samples_per_file();
    std::uint64_t bytes_without_content = 0;
    if (!has_content_) {
        auto bytes = context_.format->file_bytes(shape_);
        if (!bytes) co_return bytes.error();
        bytes_without_content = *bytes;
    }
    if (context_.format->index_bytes_per_sample() != 0) {
        auto loaded = co_await load_index();
        if (!loaded) co_return loaded;
    }
    co_return co_await open_path(bytes_without_content);
}

Task<Status> FileReading::open_path(std::uint64_t bytes_without_content) {
    IoOp op;
    op.kind = IoKind::open;
    op.path = path_;
    op.client = context_.accelerator_index;
    if (!has_content_) op.size_hint = bytes_without_content;
    co_await context_.reactor->perform(*context_.backend, op);
    open_submit_ns_ = op.submit_ns;
    count(op);
    if (op.result < 0) co_return read_failed(op, display_path());
    file_ = std::move(op.opened);
    co_return Status{};
}

void FileReading::begin_again(std::uint64_t order) {
    order_ = order;
    open_submit_ns_ = context_.counters->is_detailed ? context_.reactor->now_ns() : 0;
    first_byte_ns_ = consumed_ns_ = 0;
}

Task<void> FileReading::close() {
    IoOp op;
    op.kind = IoKind::close;
    op.file = file_.get();
    op.path = path_;
    co_await context_.reactor->perform(*context_.backend, op); // nothing was written: a failing close loses nothing
    count(op);
    file_.reset();
}

Task<FileReading::Piece> FileReading::read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t now_ns) {
    Piece piece;
    const bool is_detailed = context_.counters->is_detailed;
    if (!context_.buffers->try_acquire()) {
        const std::uint64_t start = is_detailed ? context_.reactor->now_ns() : 0;
        co_await context_.buffers->acquire();
        now_ns = 0;
        if (is_detailed) context_.counters->epoch.buffer_wait_ns += context_.reactor->now_ns() - start;
    }
    piece.buffer = LandingBuffer(context_.pool->try_lease(), *context_.buffers);
    if (context_.stopping && *context_.stopping) {
        piece.error = std::make_unique<Error>(Error{.kind = ErrorKind::interrupted,
                                                    .message = "the run stops",
                                                    .operation = "read",
                                                    .path = display_path(),
                                                    .host = {}});
        co_return piece;
    }
    const std::uint64_t align = file_->alignment_bytes;
    const std::uint64_t from = round_down(offset, align), skip = offset - from;
    IoOp op;
    op.kind = IoKind::read;
    op.file = file_.get();
    op.path = path_; // for the watchdog's message
    op.client = context_.accelerator_index;
    op.offset = from;
    op.data = piece.buffer.lease().data();
    op.bytes = round_up(offset + bytes, align) - from;
    op.buffer_index = piece.buffer.lease().index();
    if (op.bytes > piece.buffer.lease().size()) {
        piece.error = std::make_unique<Error>(
            internal_error("a read of " + std::to_string(op.bytes) + " bytes does not fit its landing buffer"));
        co_return piece;
    }
    ++context_.counters->in_flight;
    co_await context_.reactor->perform(*context_.backend, op, now_ns);
    --context_.counters->in_flight;
    count(op);
    piece.submit_ns = op.submit_ns;
    piece.complete_ns = op.complete_ns;
    piece.resume_ns = op.resume_ns;
    if (op.complete_ns == 0 && is_detailed && has_content_)
        piece.resume_ns = context_.reactor->now_ns(); // it has copied
    if (op.result < 0)
        piece.error = std::make_unique<Error>(read_failed(op, display_path()));
    else if (static_cast<std::uint64_t>(op.result) < skip + bytes)
        piece.error = std::make_unique<Error>(
            storage_error("read", display_path(), 0,
                          "the file ends after " + std::to_string(from + static_cast<std::uint64_t>(op.result)) +
                              " bytes, its size said " + std::to_string(file_->size_bytes),
                          static_cast<std::int64_t>(offset)));
    if (piece.error) co_return piece;
    if (first_byte_ns_ == 0) {
        first_byte_ns_ = op.complete_ns != 0 ? op.complete_ns : op.resume_ns;
        if (is_detailed && !is_side_) context_.counters->epoch.time_to_first_byte.add(first_byte_ns_ - open_submit_ns_);
    }
    piece.data = std::span<const std::byte>(op.data + skip, bytes);
    totals_.bytes += bytes;
    ++totals_.reads;
    context_.counters->bytes += bytes;
    ++context_.counters->reads;
    co_return piece;
}

formats::ReadRequest FileReading::format_request() {
    formats::ReadRequest request;
    request.has_content = has_content_;
    if (request.has_content) request.path = display_path(); // for messages: without content no byte can be wrong
    request.file_bytes = file_->size_bytes;
    request.shape = shape_;
    request.index = index_;
    const Verify verify = context_.reader->verify;
    request.check =
        verify == Verify::checksum || verify == Verify::content ? formats::Check::checksum : formats::Check::framing;
    if (context_.format->open_may_block()) request.local_path = context_.backend->local_path(path_);
    if (verify == Verify::content && request.has_content)
        request.on_payload = [this](std::uint64_t offset, std::span<const std::byte> payload) -> Status {
            const bool is_timed = context_.counters->is_detailed &&
                                  (shape_.compression != FileShape::Compression::none ||
                                   context_.format->is_blocking(shape_)); // see count_check(), run_library()
            const std::uint64_t start = is_timed ? context_.reactor->now_ns() : 0;
            const std::uint64_t file = context_.plan->content_index(file_index_);
            const std::size_t at = context_.content->first_difference(file, offset, payload);
            if (is_timed) compared_ns_ += context_.reactor->now_ns() - start;
            if (at == payload.size()) return {};
            return content_differs(offset + at, payload.data() + at);
        };
    if (request.on_payload && !context_.format->shows_payload())
        request.content = [this](std::uint64_t offset, std::span<std::byte> out) {
            context_.content->fill(context_.plan->content_index(file_index_), offset, out);
        };
    return request;
}

Error FileReading::content_differs(std::uint64_t payload_offset, const std::byte* where) const {
    const std::less<> before; // of pointers into different objects, too
    const std::byte* const first = consumed_.data();
    const bool in_file = !before(where, first) && before(where, first + consumed_.size());
    return format_error(
        display_path(), "content differs from what was generated, payload byte " + std::to_string(payload_offset),
        in_file ? static_cast<std::int64_t>(consumed_offset_ + static_cast<std::uint64_t>(where - first)) : -1);
}

// What a library reads and what it decodes cannot be told apart from outside: both count as in flight.
Task<void> FileReading::run_library(std::function<void()> work, std::string_view operation) {
    const engine::Reactor& reactor = *context_.reactor;
    IoOp times;
    const std::uint64_t asked_ns = reactor.now_ns();
    std::function<void()> timed = [&work, &times, &reactor] {
        times.submit_ns = reactor.now_ns();
        work();
        times.complete_ns = reactor.now_ns();
    };
    co_await context_.reactor->run_in_pool(std::move(timed), {operation, path_});
    times.resume_ns = reactor.now_ns();
    if (!context_.counters->is_detailed) co_return;
    metrics::EpochCounts& counts = context_.counters->epoch;
    const std::uint64_t compared = std::min(std::exchange(compared_ns_, 0), times.complete_ns - times.submit_ns);
    counts.verify_ns += compared;
    counts.client_queue_ns += times.submit_ns - asked_ns; // for a thread
    times.complete_ns -= compared;                        // as if all comparing had been at the end
    times.resume_ns -= compared;
    count(times);
}

Task<Status> FileReading::read_through_library(std::uint32_t sample_index) {
    const formats::ReadRequest request = format_request();
    std::vector<std::byte> content;
    std::optional<Error> error;
    std::uint64_t bytes = 0;
    const std::uint64_t start = context_.reactor->now_ns();
    const formats::Format* format = context_.format;
    // A named function object: GCC 12 frees a capturing lambda in a co_await expression twice.
    std::function<void()> work = [format, &request, &content, &error, &bytes, sample_index] {
        auto read = format->read_blocking(request, sample_index, content);
        if (read)
            bytes = *read;
        else
            error = read.error();
    };
    co_await run_library(std::move(work), "read");
    if (error) co_return *error;
    if (first_byte_ns_ == 0) first_byte_ns_ = context_.reactor->now_ns();
    if (context_.counters->is_detailed) context_.counters->epoch.time_to_first_byte.add(first_byte_ns_ - start);
    totals_.bytes += bytes;
    ++totals_.reads;
    context_.counters->bytes += bytes;
    ++context_.counters->reads;
    co_return Status{};
}

} // namespace feedbench::loader
