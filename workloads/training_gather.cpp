// What leaves a rank: after each epoch its totals, slices and the proof of its samples go to rank 0, moved to rank 0's
// clock.
//
// Source: DESIGN sections 5 (every sample exactly once: count and checksum over all ranks) and 8.
#include <cstring>

#include "workloads/training_run.hpp"

namespace feedbench::workloads {

namespace {

// One rank's contribution; plain memory, for both ends are the same binary.
struct EpochMessage {
    std::uint64_t start_ns, end_ns; // on rank 0's clock
    std::uint64_t sample_count, id_checksum, expected_count, expected_checksum;
    std::uint64_t totals_count, slice_count;
    std::uint64_t counts_bytes;
    std::uint32_t first_accelerator, accelerator_count;
};

template <class T>
void append(std::string& bytes, const T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(items), count * sizeof(T));
}

template <class T>
std::vector<T> take(const std::string& bytes, std::size_t& position, std::size_t count) {
    std::vector<T> items(count);
    if (count > 0) std::memcpy(items.data(), bytes.data() + position, count * sizeof(T));
    position += count * sizeof(T);
    return items;
}

std::vector<std::uint32_t> hosts_of_ranks(const cluster::Communicator& communicator) {
    std::vector<std::uint32_t> hosts(static_cast<std::size_t>(communicator.size()));
    for (std::uint32_t h = 0; h < communicator.hosts().size(); ++h)
        for (const int rank : communicator.hosts()[h].ranks) hosts[static_cast<std::size_t>(rank)] = h;
    return hosts;
}

} // namespace

// Ranks of one host share CLOCK_MONOTONIC: their clocks differ by their origins exactly. Between hosts the best that
// needs no daemon is the moment at which a barrier lets go, good to a network round trip.
void TrainingRun::synchronise_clocks() {
    struct Stamp {
        std::int64_t origin_ns, now_ns;
        int host;
    };
    cluster::Communicator& communicator = *request_.communicator;
    const engine::Clock& clock = request_.reactor->clock();
    communicator.barrier();
    Stamp mine{};
    mine.now_ns = static_cast<std::int64_t>(clock.now_ns());
    mine.origin_ns = clock.is_virtual() ? 0 : static_cast<std::int64_t>(engine::monotonic_ns()) - mine.now_ns;
    mine.host = communicator.host_index();
    std::string bytes;
    append(bytes, &mine, 1);
    const std::string first = communicator.broadcast(bytes);
    Stamp zero{};
    std::memcpy(&zero, first.data(), sizeof zero);
    clock_offset_ns_ = mine.host == zero.host ? mine.origin_ns - zero.origin_ns : zero.now_ns - mine.now_ns;
}

// What this rank counted since the epoch began, and what it cost. The host's CPU time is its first rank's to tell.
std::string TrainingRun::take_counts() {
    metrics::EpochCounts counts = std::exchange(counters_.epoch, {});
    if (!request_.reactor->clock().is_virtual()) { // there is no machine then
        const probes::CpuMark now = probes::cpu_mark({});
        counts.process_cpu_s = now.process_s - epoch_cpu_.process_s;
        if (request_.communicator->local_rank() == 0 && now.host_s && epoch_cpu_.host_s)
            counts.host_cpu_s = *now.host_s - *epoch_cpu_.host_s;
    }
    return counts.serialise();
}

void TrainingRun::gather_epoch(const Phase& phase, std::uint32_t epoch_index, const EpochTally& tally) {
    std::vector<metrics::BlockTotals> totals = log_.take_totals();
    for (metrics::BlockTotals& one : totals) one.shift(clock_offset_ns_);
    advance_slices(request_.reactor->now_ns());
    const std::vector<Slice> slices = slices_.take();
    const std::string counts = take_counts();
    const auto moved = [this](std::uint64_t ns) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(ns) + clock_offset_ns_);
    };
    const EpochMessage message{moved(tally.start_ns),
                               moved(tally.end_ns),
                               tally.consumed.sample_count,
                               tally.consumed.id_checksum,
                               tally.expected.sample_count,
                               tally.expected.id_checksum,
                               totals.size(),
                               slices.size(),
                               counts.size(),
                               plan_.placement.first,
                               plan_.placement.count};
    std::string bytes;
    append(bytes, &message, 1);
    append(bytes, totals.data(), totals.size());
    append(bytes, slices.data(), slices.size());
    bytes += counts;
    const std::vector<std::string> all = request_.communicator->gather(bytes);
    if (request_.communicator->rank() != 0) return;

    metrics::EpochMeasurement epoch;
    epoch.epoch_index = epoch_index;
    epoch.evaluation = phase.evaluation;
    epoch.start_ns = ~std::uint64_t{0};
    epoch.dropped_sample_count = tally.dropped;
    accelerator::Consumed consumed, expected;
    std::vector<metrics::EpochCounts> of_host(request_.communicator->hosts().size());
    const std::vector<std::uint32_t> host_of_rank = hosts_of_ranks(*request_.communicator);
    measurements_.host_of_accelerator.resize(plan_.placement.total);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const std::string& one = all[rank];
        std::size_t position = 0;
        const auto head = take<EpochMessage>(one, position, 1).front();
        epoch.start_ns = std::min(epoch.start_ns, head.start_ns);
        epoch.end_ns = std::max(epoch.end_ns, head.end_ns);
        consumed.sample_count += head.sample_count;
        consumed.id_checksum += head.id_checksum;
        expected.sample_count += head.expected_count;
        expected.id_checksum += head.expected_checksum;
        for (auto& block : take<metrics::BlockTotals>(one, position, head.totals_count))
            measurements_.blocks.push_back(block);
        merge_slices(measurements_.slices, take<Slice>(one, position, head.slice_count));
        of_host[host_of_rank[rank]].merge(metrics::EpochCounts::parse(one.substr(position, head.counts_bytes)));
        for (std::uint32_t a = 0; a < head.accelerator_count; ++a)
            measurements_.host_of_accelerator[head.first_accelerator + a] = host_of_rank[rank];
    }
    epoch.samples_proved =
        consumed.sample_count == expected.sample_count && consumed.id_checksum == expected.id_checksum && is_whole();
    if (!epoch.samples_proved && is_whole()) samples_lost_ = true;
    if (settling_ && !stopped() && !phase.evaluation) return; // nothing of this epoch was measured
    measurements_.epochs.push_back(epoch);
    for (std::uint32_t h = 0; h < of_host.size(); ++h)
        measurements_.counts.push_back({epoch_index, phase.evaluation, h, of_host[h].serialise()});
    if (request_.observer) tell_observer();
}

// The epoch as the final result will have it; between epochs nothing is measured.
void TrainingRun::tell_observer() {
    measurements_.accelerator_count = plan_.placement.total;
    measurements_.batch_size = workload_.reader.batch_size;
    measurements_.batch_size_eval = workload_.reader.batch_size_eval;
    measurements_.record_length_bytes = workload_.dataset.record_length_bytes;
    request_.observer->on_epoch(metrics::epoch_result(measurements_, measurements_.epochs.back()));
}

} // namespace feedbench::workloads
