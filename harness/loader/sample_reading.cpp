// One sample by a format's SampleReader: in order, as pytorch's worker reads, or with several reads in flight (native).
#include "harness/loader/file_reading.hpp"
#include "harness/types/units.hpp"

namespace feedbench::loader {

using engine::Task;

namespace {

// Reads what the reader wants, one extent after another.
Task<Status> read_in_order(const LoaderContext& context, FileReading& file, formats::SampleReader& reader) {
    std::uint64_t now_ns = 0; // of the look at the clock that ended the piece before: the next read begins with it
    for (;;) {
        auto extent = reader.next(context.reader->transfer_size);
        if (!extent) co_return extent.error();
        if (!*extent) break;
        auto piece = co_await file.read((*extent)->offset, (*extent)->bytes, now_ns);
        if (piece.error) co_return *piece.error;
        auto status = file.consume((*extent)->offset, piece.data, piece.resume_ns,
                                   [&] { return reader.consume(**extent, piece.data); });
        if (!status) co_return status;
        file.discount(reader.take_unneeded_bytes());
        now_ns = file.just_now_ns();
    }
    co_return Status{};
}

void count_arrival(const LoaderContext& context, SampleRef sample, Batch& batch) {
    ++batch.sample_count;
    batch.id_checksum += sample_id_fingerprint(sample);
    ++context.counters->samples;
}

void count_sample(const LoaderContext& context, FileReading& file, SampleRef sample, Batch& batch) {
    file.take_totals().add_to(batch);
    count_arrival(context, sample, batch);
    if (!context.counters->is_detailed) return;
    // A sample ends with its last check; where a library read it, now.
    const std::uint64_t end_ns = file.consumed_ns() != 0 ? file.consumed_ns() : context.reactor->now_ns();
    context.counters->epoch.sample_read_latency.add(end_ns - file.open_submit_ns());
}

// Lanes of one sample: each takes the next extent, reads it, and consumes it when its turn has come.
struct Lanes {
    FileReading& file;
    formats::SampleReader& reader;
    ReadPermits& depth;
    const LoaderContext& context;
    std::uint64_t step;
    engine::Signal turn_changed;
    std::uint64_t given = 0, turn = 0;
    std::optional<Error> error;
};

Task<void> run_lane(Lanes& lanes) {
    // The reader cannot tell more before all that it gave has been consumed.
    const auto must_wait = [&lanes] {
        return lanes.reader.must_consume_first() && lanes.turn != lanes.given && !lanes.error;
    };
    for (;;) {
        while (must_wait()) co_await lanes.turn_changed.wait();
        if (!lanes.depth.permits.try_acquire()) {
            // Other reads of this accelerator are at the storage, as many as it may have there.
            const std::uint64_t start = lanes.context.reactor->now_ns();
            co_await lanes.depth.permits.acquire();
            lanes.context.wait->count(lanes.step, start, lanes.depth.freed_ns);
        }
        if (must_wait()) { // another lane asked meanwhile
            lanes.depth.permits.release();
            continue;
        }
        if (lanes.error) {
            lanes.depth.permits.release();
            break;
        }
        auto extent = lanes.reader.next(lanes.context.reader->transfer_size);
        if (!extent || !*extent) {
            lanes.depth.permits.release();
            if (!extent && !lanes.error) lanes.error = extent.error();
            break;
        }
        const std::uint64_t my_turn = lanes.given++;
        auto piece = co_await lanes.file.read((*extent)->offset, (*extent)->bytes);
        if (piece.complete_ns != 0) lanes.depth.freed_ns = piece.complete_ns;
        lanes.depth.permits.release();
        bool at_once = true;
        while (lanes.turn != my_turn && !lanes.error) {
            co_await lanes.turn_changed.wait();
            at_once = false;
        }
        const std::uint64_t start_ns = at_once ? piece.resume_ns : lanes.context.reactor->now_ns();
        if (!lanes.error) {
            if (piece.error)
                lanes.error = *piece.error;
            else if (auto status = lanes.file.consume((*extent)->offset, piece.data, start_ns,
                                                      [&] { return lanes.reader.consume(**extent, piece.data); });
                     !status)
                lanes.error = status.error();
            lanes.file.discount(lanes.reader.take_unneeded_bytes());
        }
        ++lanes.turn;
        lanes.turn_changed.notify();
    }
    lanes.turn_changed.notify();
}

Task<Status> run_lanes(const LoaderContext& context, FileReading& file, formats::SampleReader& reader,
                       ReadPermits& depth, std::uint64_t step, std::uint32_t lane_count) {
    Lanes lanes{file, reader, depth, context, step, engine::Signal(*context.reactor), 0, 0, {}};
    engine::TaskGroup group(*context.reactor);
    for (std::uint32_t i = 0; i < lane_count; ++i) group.spawn(run_lane(lanes));
    co_await group.join();
    if (lanes.error) co_return *lanes.error;
    co_return Status{};
}

Task<Status> read_with(const LoaderContext& context, FileReading& file, formats::SampleReader& reader, SampleRef sample,
                       std::uint64_t step, ReadPermits* depth, std::uint32_t lanes) {
    if (auto status = reader.begin(sample.sample_index); !status) co_return status;
    file.discount(reader.take_unneeded_bytes());
    if (depth == nullptr) co_return co_await read_in_order(context, file, reader);
    const std::uint64_t pieces = file.file_bytes() / context.reader->transfer_size + 1;
    co_return co_await run_lanes(context, file, reader, *depth, step,
                                 static_cast<std::uint32_t>(std::min<std::uint64_t>(lanes, pieces)));
}

Task<Status> read_open_file(const LoaderContext& context, FileReading& file, SampleRef sample, std::uint64_t step,
                            ReadPermits* depth, std::uint32_t lanes) {
    if (context.backend->capabilities().has_content &&
        context.format->is_blocking(context.plan->shape(sample.file_index)))
        co_return co_await file.read_through_library(sample.sample_index);
    auto reader = co_await file.open_reader<formats::SampleReader>(&formats::Format::open);
    if (!reader) co_return reader.error();
    co_return co_await read_with(context, file, **reader, sample, step, depth, lanes);
}

// What fails here leaves the file to its worker's close().
Task<Status> read_kept(const LoaderContext& context, SampleRef sample, std::uint64_t step, ReadPermits* depth,
                       std::uint32_t lanes, Batch& batch, KeptFile& kept) {
    if (kept.reader && kept.file->file_index() == sample.file_index) {
        kept.file->begin_again(step);
    } else {
        co_await kept.close();
        auto file = std::make_unique<FileReading>(context, sample.file_index, step);
        auto opened = co_await file->open();
        if (!opened) co_return opened;
        kept.file = std::move(file);
        auto reader = co_await kept.file->open_reader<formats::SampleReader>(&formats::Format::open);
        if (!reader) co_return reader.error();
        kept.reader = std::move(*reader);
    }
    auto status = co_await read_with(context, *kept.file, *kept.reader, sample, step, depth, lanes);
    if (status) count_sample(context, *kept.file, sample, batch);
    co_return status;
}

Task<Status> read_sample(const LoaderContext& context, SampleRef sample, std::uint64_t step, ReadPermits* depth,
                         std::uint32_t lanes, Batch& batch, KeptFile* kept) {
    if (kept && context.keeps_files_open && !context.format->is_blocking(context.plan->shape(sample.file_index)))
        co_return co_await read_kept(context, sample, step, depth, lanes, batch, *kept);
    FileReading file(context, sample.file_index, step);
    auto opened = co_await file.open();
    if (!opened) co_return opened;
    auto status = co_await read_open_file(context, file, sample, step, depth, lanes);
    if (status) count_sample(context, file, sample, batch);
    co_await file.close();
    co_return status;
}

} // namespace

Task<void> KeptFile::close() {
    reader.reset(); // it refers to the file
    if (!file) co_return;
    co_await file->close();
    file.reset();
}

bool take_at_hand(const LoaderContext& context, SampleRef sample, const KeptFile& kept, Batch& batch) {
    if (!kept.reader || kept.file->file_index() != sample.file_index || !kept.reader->is_at_hand(sample.sample_index))
        return false;
    // The reader is told all the same: what is asked for stays at hand longest.
    if (!kept.reader->begin(sample.sample_index)) return false;
    count_arrival(context, sample, batch);
    return true;
}

Task<Status> read_sample_in_order(const LoaderContext& context, SampleRef sample, std::uint64_t step, Batch& batch,
                                  KeptFile* kept) {
    return read_sample(context, sample, step, nullptr, 1, batch, kept);
}

Task<Status> read_sample_in_parallel(const LoaderContext& context, SampleRef sample, std::uint64_t step,
                                     ReadPermits& depth, std::uint32_t lanes, Batch& batch, KeptFile* kept) {
    return read_sample(context, sample, step, &depth, lanes, batch, kept);
}

} // namespace feedbench::loader
