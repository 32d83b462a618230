// What checkpoints inside training leave behind: which of them are listed, what is removed, what all ranks measured.
#include <algorithm>
#include <cstring>

#include "harness/metrics/checkpoint_metrics.hpp"
#include "harness/types/units.hpp"
#include "workloads/training_checkpoint.hpp"

namespace feedbench::workloads {

namespace {

// One rank's contribution; plain memory, for both ends are the same binary.
struct RankHead {
    metrics::StepSums alone, beside;
    std::uint64_t standstill_ns, flight_count, part_count;
    std::int64_t clock_offset_ns;
};
struct FlightHead {
    std::uint64_t start_ns, wait_ns;
};

template <class T>
void append(std::string& bytes, const T& item) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&item), sizeof item);
}
template <class T>
T next_item(const std::string& bytes, std::size_t& position) {
    T item;
    std::memcpy(&item, bytes.data() + position, sizeof item);
    position += sizeof item;
    return item;
}

const cluster::HostLayout& host_of(const cluster::Communicator& communicator, int process) {
    for (const cluster::HostLayout& host : communicator.hosts())
        for (const int rank : host.ranks)
            if (rank == process) return host;
    return communicator.hosts().front(); // every process lies on a host
}

double since(double from_s, double until_s) { return until_s > from_s ? until_s - from_s : 0; }

// A rank's part in the whole. time_s: a time of its clock, from the start of the run.
template <class TimeOf>
void add_part(CheckpointResult& whole, const PartReport& part, const std::string& host, const TimeOf& time_s) {
    if (part.start_ns == 0) return; // it has no files
    CheckpointRankResult rank;
    rank.rank = part.rank;
    rank.host = host;
    rank.bytes = part.bytes;
    rank.file_count = part.file_count;
    rank.duration_s = seconds(part.end_ns - part.start_ns);
    rank.first_byte_s = since(whole.start_s, time_s(part.first_byte_ns));
    rank.transfer_s = seconds(part.transfer_ns);
    rank.fsync_s = seconds(part.fsync_ns);
    rank.commit_s = seconds(part.commit_ns);
    rank.content_s = seconds(part.content_ns);
    whole.bytes += part.bytes;
    whole.file_count += part.file_count;
    whole.fsync_asked_count += part.fsync_asked;
    whole.fsync_done_count += part.fsync_done;
    whole.duration_s = std::max(whole.duration_s, since(whole.start_s, time_s(part.end_ns)));
    whole.fsync_s = std::max(whole.fsync_s, rank.fsync_s);
    whole.first_byte_s = std::max(whole.first_byte_s, rank.first_byte_s);
    whole.data_s = std::max(whole.data_s, since(whole.start_s, time_s(part.data_ns)));
    whole.synced_s = std::max(whole.synced_s, since(whole.start_s, time_s(part.synced_ns)));
    whole.ranks.push_back(std::move(rank));
}

} // namespace

// One for all ranks, or one a rank.
std::vector<std::string> TrainingCheckpoints::hosts() const {
    const cluster::Communicator& communicator = *request_.communicator;
    if (communicator.hosts().size() == 1) return {communicator.hosts().front().name};
    std::vector<std::string> of_rank;
    for (int process = 0; process < communicator.size(); ++process) {
        const cluster::HostLayout& host = host_of(communicator, process);
        const std::size_t per_host = placement_.total / communicator.hosts().size();
        of_rank.insert(of_rank.end(), per_host / host.ranks.size(), host.name);
    }
    return of_rank;
}

TrainingCheckpoints::Gathered TrainingCheckpoints::gather(std::int64_t clock_offset_ns, std::uint64_t run_start_ns) {
    std::string bytes;
    append(bytes, RankHead{overlap_.alone(), overlap_.beside(), standstill_ns_, taken_.size(), placement_.count,
                           clock_offset_ns});
    for (const auto& flight : taken_) {
        append(bytes, FlightHead{flight->start_ns, flight->wait_ns});
        for (const PartReport& report : flight->reports) append(bytes, report);
    }
    const std::vector<std::string> all = request_.communicator->gather(bytes);
    Gathered gathered;
    if (request_.communicator->rank() != 0) return gathered;
    std::vector<CheckpointResult> results(taken_.size());
    gathered.cost.accelerator_count = placement_.total;
    for (std::size_t process = 0; process < all.size(); ++process) {
        std::size_t position = 0;
        const auto head = next_item<RankHead>(all[process], position);
        gathered.cost.alone.merge(head.alone);
        gathered.cost.beside.merge(head.beside);
        gathered.cost.standstill_ns += head.standstill_ns;
        const auto time_s = [&](std::uint64_t ns) { // from the start of the run
            const auto moved = static_cast<std::int64_t>(ns) + head.clock_offset_ns;
            return static_cast<double>(moved - static_cast<std::int64_t>(run_start_ns)) / 1e9;
        };
        for (std::size_t i = 0; i < head.flight_count; ++i) {
            const auto flight = next_item<FlightHead>(all[process], position);
            CheckpointResult unwanted, &result = i < results.size() ? results[i] : unwanted;
            if (process == 0) result.start_s = time_s(flight.start_ns);
            result.training_wait_s += seconds(flight.wait_ns) * static_cast<double>(head.part_count);
            const std::string& host = host_of(*request_.communicator, static_cast<int>(process)).name;
            for (std::uint64_t part = 0; part < head.part_count; ++part)
                add_part(result, next_item<PartReport>(all[process], position), host, time_s);
        }
    }
    for (std::size_t i = first_measured_; i < taken_.size(); ++i) {
        const Flight& flight = *taken_[i];
        if (!flight.committed) continue;
        CheckpointResult& result = results[i];
        result.kind = "write";
        result.mode = workload_.checkpoint.asynchronous ? "async" : "sync";
        result.epoch_index = flight.epoch_index;
        result.step_index = flight.step_index;
        result.folder = flight.entry.folder;
        result.fsync = workload_.checkpoint.fsync;
        result.committed = true;
        result.visible_s = seconds(flight.visible_ns - flight.start_ns);
        result.metrics = metrics::checkpoint_rows(result);
        if (flight.waited_for_another) ++gathered.cost.waited_count;
        gathered.checkpoints.push_back(std::move(result));
    }
    return gathered;
}

// Rank 0 knows what committed; everybody has left the run's last meeting, so that nobody writes any more.
void TrainingCheckpoints::clean_up() {
    if (!is_first()) return;
    if (!list_is_right_) (void)dataset::write_checkpoint_index(backend_, store_.index()).has_value();
    for (const auto& flight : taken_) {
        if (!flight->committed)
            store_.abandon(flight->entry.folder, all_files());
        else if (!workload_.checkpoint.keep_files)
            (void)store_.remove(flight->entry.folder).has_value();
    }
}

} // namespace feedbench::workloads
