// The tensorflow model: files are sharded over accelerators; read_threads files are read side by side, each from front
// to back in transfer_size pieces whatever the record borders; then batch, then prefetch.
//
// Source: DESIGN section 5; tf.data's TFRecordDataset(num_parallel_reads) interleaves one record of each file in turn
// (block_length 1), shuffle(shuffle_size) fills its buffer before the first record comes out, prefetch(n) keeps n
// batches ready, and n = 0 means none.
#include <algorithm>
#include <cassert>

#include "harness/loader/file_reading.hpp"
#include "harness/loader/models.hpp"
#include "harness/loader/ring.hpp"
#include "harness/loader/signalled_loader.hpp"

namespace feedbench::loader {

using engine::Task;

namespace {

class TensorflowLoader final : public SignalledLoader {
  public:
    explicit TensorflowLoader(const LoaderContext& context) : SignalledLoader(context) {}

    void start(const EpochPlan& plan, std::uint32_t accelerator_index) override {
        plan_ = dynamic_cast<const FileShardPlan*>(&plan);
        assert(plan_ && "LoaderEntry::shards_files says that this loader needs a FileShardPlan");
        accelerator_ = context_.accelerator_index = accelerator_index;
        file_count_ = plan_->file_count(accelerator_);
        samples_per_file_ = plan_->samples_per_file();
        cycle_ = plan_->cycle_length();
        batch_size_ = plan_->batch_size();
        total_ = plan_->step_count() * batch_size_;
        shuffle_fill_ = context_.reader->sample_shuffle == Shuffle::off ? 0 : context_.reader->shuffle_size;
        asked_ = taken_ = 0;
        restart();
        accounts_.clear();
        const auto readers = static_cast<std::uint32_t>(std::min<std::uint64_t>(cycle_, file_count_));
        next_missing_.assign(readers, 0);
        for (std::uint32_t r = 0; r < readers; ++r) next_missing_[r] = index_of(r, 0);
        for (std::uint32_t r = 0; r < readers; ++r) group_.spawn(read_files(r));
    }

    Task<Batch> next() override {
        ++asked_;
        changed_.notify();
        const bool must_wait = !batch_is_complete() && !error_;
        // Whatever stands before the end of its batch and of the shuffle buffer is waited for, of whichever batch it
        // is.
        if (must_wait) wait_.begin(context_.reactor->now_ns(), needed_for(taken_));
        while (!batch_is_complete() && !error_) co_await changed_.wait();
        Batch batch;
        if (batch_is_complete()) {
            batch = std::move(account(taken_));
            accounts_.pop_front();
            ++taken_;
            batch.sample_count = batch_size_;
            if (batch.ready_ns == 0) batch.ready_ns = context_.reactor->now_ns();
            if (must_wait) batch.storage_wait_ns = wait_.end(batch.ready_ns);
        } else
            batch.error = error_;
        co_return batch;
    }

  private:
    // Place of a record in this accelerator's order: within a group of cycle_length files one record of each in turn.
    std::uint64_t index_of(std::uint64_t file_position, std::uint32_t record) const {
        const Place first = place_of(file_position);
        return first.index + std::uint64_t{record} * first.distance;
    }
    struct Place {
        std::uint64_t index, distance; // of a file's first record; from each record to the file's next
    };
    Place place_of(std::uint64_t file_position) const {
        const std::uint64_t group = file_position / cycle_;
        return {group * cycle_ * samples_per_file_ + file_position % cycle_,
                std::min(cycle_, file_count_ - group * cycle_)};
    }

    // Records in front of the first that is still missing.
    std::uint64_t complete_prefix() const {
        std::uint64_t prefix = total_;
        for (const std::uint64_t index : next_missing_) prefix = std::min(prefix, index);
        return prefix;
    }
    // Records that must be there before this step's batch can be handed over.
    std::uint64_t needed_for(std::uint64_t step) const {
        return std::min(total_, (step + 1) * batch_size_ + shuffle_fill_);
    }
    bool batch_is_complete() const { return complete_prefix() >= needed_for(taken_); }
    // Records that may be read now: those of the batches asked for, of the prefetched ones, and the shuffle buffer.
    std::uint64_t limit() const {
        const std::uint64_t batches = asked_ + context_.reader->prefetch_size;
        return std::min(total_, batches * batch_size_ + (batches > 0 ? shuffle_fill_ : 0));
    }
    Batch& account(std::uint64_t step) {
        while (accounts_.size() <= step - taken_) accounts_.emplace_back();
        return accounts_[step - taken_];
    }
    std::uint64_t step_of(std::uint64_t index) const {
        return std::max(taken_, std::min(index, total_ - 1) / batch_size_);
    }

    Task<void> read_files(std::uint32_t reader) {
        for (std::uint64_t position = reader; position < file_count_; position += cycle_) {
            next_missing_[reader] = index_of(position, 0);
            if (next_missing_[reader] >= total_ || !co_await wait_for_turn(reader)) break;
            auto status = co_await read_one_file(reader, position);
            if (!status) {
                if (!error_) error_ = status.error();
                stopping_ = true;
            }
            if (stopping_) break;
        }
        if (!error_) next_missing_[reader] = total_;
        changed_.notify();
    }

    // False when the loader stops.
    Task<bool> wait_for_turn(std::uint32_t reader) {
        while (next_missing_[reader] >= limit() && !stopping_) co_await changed_.wait();
        co_return !stopping_;
    }

    Task<Status> read_one_file(std::uint32_t reader, std::uint64_t position) {
        FileReading file(context_, plan_->file(accelerator_, position), next_missing_[reader]);
        auto opened = co_await file.open();
        if (!opened) co_return opened;
        auto status = co_await stream(reader, position, file);
        co_await file.close();
        co_return status;
    }

    Task<Status> stream(std::uint32_t reader, std::uint64_t position, FileReading& file) {
        auto stream = co_await file.open_reader<formats::StreamReader>(&formats::Format::open_stream);
        if (!stream) co_return stream.error();
        const std::uint64_t file_index = plan_->file(accelerator_, position);
        const std::uint64_t bytes = file.file_bytes();
        const Place place = place_of(position);
        if (bytes == 0)
            co_return format_error(file.display_path(),
                                   "is empty, expected " + std::to_string(samples_per_file_) + " records");
        std::uint32_t records = 0;
        std::uint64_t record_start_ns = 0; // submit time of the piece in which the next record began; 0 = not begun
        for (std::uint64_t read_to = 0; records < samples_per_file_;) {
            if (next_missing_[reader] >= total_) break;
            if (next_missing_[reader] >= limit() || stopping_) // else it need not even be asked
                if (!co_await wait_for_turn(reader)) break;
            const auto extent = (*stream)->next(read_to, bytes, context_.reader->transfer_size);
            if (!extent) co_return extent.error();
            if (!*extent)
                co_return format_error(file.display_path(), "holds " + std::to_string(records) + " records, expected " +
                                                                std::to_string(samples_per_file_));
            const std::uint64_t offset = (*extent)->offset;
            auto piece = co_await file.read(offset, (*extent)->bytes);
            if (piece.error) co_return *piece.error;
            auto complete =
                file.consume(offset, piece.data, piece.resume_ns, [&] { return (*stream)->consume(piece.data); });
            if (!complete) co_return complete.error();
            file.discount((*stream)->take_unneeded_bytes());
            read_to = offset + (*extent)->bytes;
            file.take_totals().add_to(account(step_of(next_missing_[reader])));
            if (record_start_ns == 0) record_start_ns = piece.submit_ns;
            const std::uint64_t now = file.consumed_ns();
            if (*complete > records) {
                count_latency(now - record_start_ns, now - piece.submit_ns, *complete - records);
                record_start_ns = piece.submit_ns;
            }
            // The records of one step together: there may be many in a piece, and many pieces a microsecond.
            while (records < *complete) {
                const std::uint64_t index = place.index + std::uint64_t{records} * place.distance;
                if (index >= total_) { // the rest of a file that this epoch needs only a part of
                    records = static_cast<std::uint32_t>(*complete);
                    break;
                }
                const std::uint64_t step = step_of(index), step_end = (step + 1) * batch_size_;
                Batch& batch = account(step);
                const std::uint32_t first = records;
                for (std::uint64_t i = index; records < *complete && i < std::min(step_end, total_);
                     i += place.distance, ++records)
                    batch.id_checksum += sample_id_fingerprint({file_index, records});
                context_.counters->samples += records - first;
            }
            next_missing_[reader] = records < samples_per_file_ ? index_of(position, records) : total_;
            if (records == samples_per_file_ && position + cycle_ < file_count_)
                next_missing_[reader] = index_of(position + cycle_, 0);
            file.set_order(next_missing_[reader]);
            mark_ready(now);
        }
        co_return Status{};
    }

    // Of records that one piece completed: the first began with an earlier piece, maybe; the others with this one.
    void count_latency(std::uint64_t first_ns, std::uint64_t others_ns, std::uint64_t count) {
        if (!context_.counters->is_detailed) return;
        Histogram& latency = context_.counters->epoch.sample_read_latency;
        latency.add(first_ns);
        if (count > 1) latency.add(others_ns, count - 1);
    }

    // Stamps the batches that have just become complete, and wakes whoever waits for them.
    void mark_ready(std::uint64_t now) {
        const std::uint64_t prefix = complete_prefix();
        for (std::uint64_t i = 0; i < accounts_.size(); ++i) {
            if (prefix < needed_for(taken_ + i)) break;
            if (accounts_[i].ready_ns == 0) accounts_[i].ready_ns = now;
        }
        if (batch_is_complete()) changed_.notify();
    }

    const FileShardPlan* plan_ = nullptr;
    std::uint32_t accelerator_ = 0, samples_per_file_ = 1, batch_size_ = 1;
    std::uint64_t cycle_ = 1; // files read side by side
    std::uint64_t file_count_ = 0, total_ = 0, shuffle_fill_ = 0, asked_ = 0, taken_ = 0;
    std::vector<std::uint64_t> next_missing_; // one a reader: order index of the record it will complete next
    Ring<Batch> accounts_;                    // front: the batch that will be handed over next
};

} // namespace

std::unique_ptr<Loader> make_tensorflow_loader(const LoaderContext& context) {
    return std::make_unique<TensorflowLoader>(context);
}

std::uint32_t tensorflow_buffers(const ReaderSection& reader) { return std::max(1u, reader.read_threads); }

} // namespace feedbench::loader
