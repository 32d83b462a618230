#include "generators/dataset_writer.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "formats/registry.hpp"
#include "generators/content.hpp"
#include "generators/dataset_folder.hpp"
#include "generators/file_writer.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/types/units.hpp"

namespace feedbench::generators {

using engine::Task;

namespace {

constexpr std::uint64_t kBufferBytes = kMiB;
constexpr std::uint32_t kWritesInFlight = 4; // of one file
constexpr std::uint64_t kFilesMost = 32, kFilesLeast = 4;
constexpr std::uint32_t kBuffers = 2 * kFilesMost;
constexpr std::size_t kNamesMost = 10; // of a rank's files that were not written
// Enough files side by side to hide each one's fsync and rename; few where each fills the queue by itself.
constexpr std::uint64_t kBytesSideBySide = 32 * kMiB;

// One split of one rank: which files, and what has become of them.
class SplitWriter {
  public:
    SplitWriter(const DatasetRequest& request, const dataset::DatasetPlan& plan, const formats::Format& format,
                const Content& content, engine::BufferPool& pool, engine::Semaphore& buffers, bool look_for_finished)
        : request_(request), plan_(plan), format_(format), content_(content),
          writer_(*request.reactor, *request.backend, pool, buffers, kWritesInFlight), cursor_(plan),
          look_for_finished_(look_for_finished), next_(static_cast<std::uint64_t>(request.communicator->rank())) {}

    Task<void> run() {
        if (plan_.file_count() == 0) co_return;
        const std::uint64_t bytes = std::max<std::uint64_t>(plan_.shape(0).payload_bytes(), 1);
        const std::uint64_t workers = std::clamp(kBytesSideBySide / bytes, kFilesLeast, kFilesMost);
        engine::TaskGroup group(*request_.reactor);
        for (std::uint64_t i = 0; i < workers; ++i) group.spawn(work());
        co_await group.join();
    }

    std::uint64_t written = 0, kept = 0, payload_bytes = 0, file_bytes = 0;
    WriteTotals totals;
    std::optional<Error> error;
    std::vector<std::string> failed; // the first names that the storage would not take
    bool stop = false;

  private:
    Task<void> work() {
        while (!stop && next_ < plan_.file_count()) {
            const std::uint64_t index = next_;
            next_ += static_cast<std::uint64_t>(request_.communicator->size());
            const FileShape shape = cursor_.shape(index);
            auto status = co_await write_one(index, shape);
            if (!status) {
                if (!error && status.error().kind != ErrorKind::interrupted) error = status.error();
                if (status.error().kind != ErrorKind::interrupted && failed.size() < kNamesMost)
                    failed.push_back(plan_.name(index));
                stop = true;
            }
        }
    }

    Task<Status> write_one(std::uint64_t index, const FileShape& shape) {
        auto encoder = format_.encode(shape, [this, index](std::uint64_t offset, std::span<std::byte> out) {
            content_.fill(plan_.content_index(index), offset, out);
        });
        if (!encoder) co_return encoder.error();
        FileToWrite file;
        file.path = plan_.name(index);
        file.file_bytes = (*encoder)->file_bytes();
        payload_bytes += shape.payload_bytes();
        file_bytes += file.file_bytes;
        if (look_for_finished_) {
            auto found = request_.backend->stat(file.path);
            if (found && found->size_bytes == file.file_bytes) {
                ++kept;
                request_.reactor->beat_if_due(); // millions of them may come without a wait in between
                co_return Status{};
            }
        }
        // The index first: a data file that is there is finished, its index too.
        const std::span<const formats::SideFile> sides = format_.side_files();
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const std::string bytes = format_.side_bytes(shape, i);
            auto side =
                request_.backend->write_file(formats::side_path(sides[i], file.path), std::as_bytes(std::span(bytes)));
            if (!side) co_return side;
        }
        formats::Encoder& source = **encoder;
        file.fill = [&source](std::span<std::byte> out) { return source.fill(out); };
        file.patches = [&source] { return source.patches(); };
        file.patch_limit = source.patch_limit();
        file.flush = request_.flush;
        auto status = co_await writer_.write(file, totals, &stop);
        if (status) ++written;
        co_return status;
    }

    const DatasetRequest& request_;
    const dataset::DatasetPlan& plan_;
    const formats::Format& format_;
    const Content& content_;
    FileWriter writer_;
    dataset::SizeCursor cursor_;
    bool look_for_finished_;
    std::uint64_t next_;
};

// Signals, other ranks' failures and progress, while the files are written.
class Watch {
  public:
    Watch(const DatasetRequest& request, std::vector<std::unique_ptr<SplitWriter>>& splits, std::uint64_t total_bytes)
        : request_(request), splits_(splits), total_bytes_(total_bytes), start_ns_(request.reactor->now_ns()) {
        request.reactor->set_heartbeat(100 * kNsPerMs, [this] { beat(); });
        request.reactor->set_rescue([this] { return rescue(); });
    }
    ~Watch() {
        request_.reactor->set_heartbeat(0, nullptr);
        request_.reactor->set_rescue(nullptr);
    }
    bool interrupted() const { return interrupted_; }

  private:
    void stop() {
        for (auto& split : splits_) split->stop = true;
        request_.backend->cancel_pending();
    }
    // Virtual time: what stalls is cancelled, and its error is the one that is told.
    bool rescue() {
        const std::uint64_t completions = request_.reactor->completion_count();
        if (request_.reactor->in_flight() == 0 || completions == rescued_at_) return false;
        rescued_at_ = completions;
        stop();
        return true;
    }
    void beat() {
        bool failed = false;
        std::uint64_t bytes = 0;
        for (const auto& split : splits_) {
            failed |= split->error.has_value();
            bytes += split->totals.bytes;
        }
        if (request_.signal && *request_.signal != 0) interrupted_ = true;
        if (failed || interrupted_) request_.communicator->announce_stop(1);
        if (request_.communicator->announced_stop() != 0) stop();
        const std::uint64_t now = request_.reactor->now_ns();
        if (!request_.observer || now - shown_ns_ < 500 * kNsPerMs) return;
        Progress progress;
        progress.phase = "datagen";
        progress.unit = "bytes";
        // Rank 0 has every size-th file: its part stands for the whole.
        progress.done = std::min(bytes * static_cast<std::uint64_t>(request_.communicator->size()), total_bytes_);
        progress.total = total_bytes_;
        progress.elapsed_s = seconds(now - start_ns_);
        progress.MB_per_second_now =
            to_MB(static_cast<double>(progress.done - shown_bytes_)) / seconds(now - shown_ns_);
        if (progress.done > 0)
            progress.eta_s = progress.elapsed_s * static_cast<double>(total_bytes_ - progress.done) /
                             static_cast<double>(progress.done);
        shown_ns_ = now;
        shown_bytes_ = progress.done;
        request_.observer->on_progress(progress);
    }

    const DatasetRequest& request_;
    std::vector<std::unique_ptr<SplitWriter>>& splits_;
    std::uint64_t total_bytes_, start_ns_, shown_ns_ = 0, shown_bytes_ = 0;
    std::uint64_t rescued_at_ = ~std::uint64_t{0};
    bool interrupted_ = false;
};

// What a failed run leaves to be written: how many files, and the first that were refused. Collective.
// `late`: this rank's storage took files and lost them afterwards, so that more are missing than it refused.
std::string missing_words(const DatasetRequest& request, const std::vector<std::unique_ptr<SplitWriter>>& splits,
                          std::uint64_t file_count, bool late) {
    std::string mine;
    std::uint64_t sums[] = {0, late ? 1U : 0U};
    std::uint64_t& there = sums[0];
    for (const auto& split : splits) {
        there += split->written + split->kept;
        for (const std::string& name : split->failed) mine += (mine.empty() ? "" : ", ") + name;
    }
    request.communicator->sum(sums);
    std::string names;
    for (const std::string& one : request.communicator->gather(mine))
        if (!one.empty()) names += (names.empty() ? "" : ", ") + one;
    names = request.communicator->broadcast(names); // every rank tells the same error
    if (there >= file_count) return {};
    return fmt::format("{}{} of {} files are missing{}", sums[1] > 0 ? "at least " : "", file_count - there, file_count,
                       names.empty() ? "" : ", refused were " + names);
}

Task<void> write_splits(std::vector<std::unique_ptr<SplitWriter>>& splits) {
    for (auto& split : splits) co_await split->run();
}

} // namespace

std::uint64_t memory_bound_bytes() {
    constexpr std::uint64_t kFixed = 64 * kMiB; // code, MPI's shared segments, ring
    return kFixed + kBuffers * kBufferBytes;
}

Expected<DatasetReport> generate_dataset(const DatasetRequest& request) {
    cluster::Communicator& communicator = *request.communicator;
    const DatasetSection& section = request.workload->dataset;
    auto format = formats::find_format(section.format);
    if (!format) return format.error();
    std::vector<dataset::DatasetPlan> plans;
    std::uint64_t payload = 0;
    for (const Split split : {Split::train, Split::valid}) {
        auto plan = dataset::DatasetPlan::make(section, split);
        if (!plan) return plan.error();
        if (plan->file_count() > 0)
            if (auto status = (*format)->supports(plan->shape(0)); !status) return status.error();
        payload += plan->total_payload_bytes();
        plans.push_back(std::move(*plan));
    }
    auto prepared = prepare_folder(request, **format, plans, payload);
    if (!prepared) return prepared.error();

    const std::uint64_t start_ns = request.reactor->now_ns(), start_cpu_ns = engine::process_cpu_ns();
    // At least two buffers a file: its head may be held back while the rest is written.
    auto pool = engine::BufferPool::make({.buffer_bytes = kBufferBytes, .buffer_count = kBuffers});
    if (auto status = cluster::agree(communicator, pool ? Status{} : Status(pool.error())); !status)
        return status.error();
    engine::Semaphore buffers(*request.reactor, (*pool)->layout().buffer_count);
    const Content content({section.seed, section.compress_percent, section.dedupe_percent});
    std::vector<std::unique_ptr<SplitWriter>> splits;
    for (const dataset::DatasetPlan& plan : plans)
        splits.push_back(
            std::make_unique<SplitWriter>(request, plan, **format, content, **pool, buffers, prepared->resume));
    Status status;
    bool interrupted = false;
    {
        Watch watch(request, splits, payload);
        status = request.reactor->run(write_splits(splits));
        interrupted = watch.interrupted();
    }
    for (const auto& split : splits)
        if (status && split->error) status = *split->error;
    const Status settled = request.backend->settle();
    if (status && !settled) status = settled;
    if (!status)
        communicator.announce_stop(1);
    else if (interrupted)
        status = Error{.kind = ErrorKind::interrupted,
                       .message = "interrupted; start it again and it goes on where it stopped",
                       .operation = "datagen",
                       .path = request.backend->display_path(""),
                       .host = {}};
    if (status = cluster::agree(communicator, status); !status) {
        Error failed = status.error();
        const std::string missing =
            missing_words(request, splits, plans[0].file_count() + plans[1].file_count(), !settled);
        if (failed.kind == ErrorKind::storage && !missing.empty())
            failed.message += (failed.message.empty() ? "" : "; ") + missing;
        return failed;
    }

    std::uint64_t sums[] = {splits[0]->written + splits[1]->written,
                            splits[0]->kept + splits[1]->kept,
                            splits[0]->totals.bytes + splits[1]->totals.bytes,
                            splits[0]->payload_bytes,
                            splits[0]->file_bytes,
                            splits[1]->payload_bytes,
                            splits[1]->file_bytes,
                            engine::process_cpu_ns() - start_cpu_ns};
    communicator.sum(sums);
    DatasetReport report;
    report.files_written = sums[0];
    report.files_kept = sums[1];
    report.bytes_written = sums[2];
    report.cpu_s = seconds(sums[7]);
    report.duration_s = seconds(request.reactor->now_ns() - start_ns);
    report.manifest = std::move(prepared->manifest);
    report.manifest.state = dataset::Manifest::State::complete;
    report.manifest.train = {sums[3], sums[4]};
    report.manifest.valid = {sums[5], sums[6]};
    Status finished;
    if (communicator.rank() == 0) finished = dataset::write_manifest(*request.backend, report.manifest);
    if (finished = cluster::agree(communicator, finished); !finished) return finished.error();
    return report;
}

} // namespace feedbench::generators
