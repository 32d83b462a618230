#include "workloads/checkpoint_ceiling.hpp"

#include <fmt/format.h>

#include "harness/cluster/error_exchange.hpp"
#include "harness/probes/cpu.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"
#include "workloads/message.hpp"

namespace feedbench::workloads {

using engine::Task;

namespace {

constexpr std::uint64_t kEndless = std::uint64_t{1} << 60;

std::string why_not(const RunRequest& request, const CheckpointPlan& plan, const MeasuredStorage& storage) {
    if (request.ceiling_s <= 0) return "not asked for (--ceiling-seconds 0)";
    if (request.reactor->clock().is_virtual()) return "in virtual time the client costs nothing";
    if (storage.name == "null") return "the data is on null: itself, so that the run is its own ceiling";
    if (plan.write_count == 0) return "nothing is written, and reading costs the client what the run itself shows";
    return {};
}

// Ranks that never end, and the moment at which they are told to.
class Endless {
  public:
    Endless(const RunRequest& request, const CheckpointPlan& plan, storage::Backend& null, engine::BufferPool& pool)
        : reactor_(*request.reactor), stream_(reactor_, null, pool, plan.settings), parts_(plan.placement.count) {
        for (std::uint32_t i = 0; i < parts_.size(); ++i)
            parts_[i] = {plan.placement.first + i, "ceiling", {{"endless", kEndless}}, request.run_seed};
    }
    Task<void> run(std::uint64_t duration_ns) {
        const std::uint64_t start_ns = reactor_.now_ns();
        engine::TaskGroup group(reactor_);
        for (const CheckpointPart& part : parts_) group.spawn(write(part));
        co_await reactor_.sleep_until(start_ns + duration_ns);
        stopping_ = true;
        co_await group.join();
        group.clear();
        took_ns = reactor_.now_ns() - start_ns;
    }
    std::uint64_t bytes() const { return stream_.tally().bytes; }
    std::uint64_t took_ns = 0;

  private:
    Task<void> write(const CheckpointPart& part) {
        PartReport report;
        (void)(co_await stream_.write(part, report, stopping_)).has_value(); // ends by being told to
    }
    engine::Reactor& reactor_;
    CheckpointStream stream_;
    std::vector<CheckpointPart> parts_;
    bool stopping_ = false;
};

struct Measured { // of one process
    std::uint64_t bytes = 0, took_ns = 0;
    double cpu_s = 0;
};

Expected<Measured> measure(const RunRequest& request, const CheckpointPlan& plan) {
    storage::BackendRequest made;
    made.uri = "null:";
    made.reactor = request.reactor;
    auto null = storage::make_backend(std::move(made));
    if (!null) return null.error();
    auto pool = engine::BufferPool::make(plan.buffers);
    if (!pool) return pool.error();
    request.communicator->barrier(); // all at once, as in the run
    Endless endless(request, plan, **null, **pool);
    const double cpu_start_s = probes::process_cpu_s();
    if (auto ran = request.reactor->run(endless.run(to_ns(request.ceiling_s))); !ran) return ran.error();
    return Measured{endless.bytes(), endless.took_ns, probes::process_cpu_s() - cpu_start_s};
}

} // namespace

Expected<Ceiling> measure_checkpoint_ceiling(const RunRequest& request, const CheckpointPlan& plan,
                                             const MeasuredStorage& storage) {
    Ceiling ceiling;
    if (ceiling.reason = why_not(request, plan, storage); !ceiling.reason.empty()) return ceiling;
    cluster::Communicator& communicator = *request.communicator;
    const cluster::Doing doing(communicator.life(), "measuring the client's ceiling");
    if (request.observer)
        request.observer->on_message(
            fmt::format("measuring the client's ceiling for about {:.3g} s", request.ceiling_s));
    auto mine = measure(request, plan);
    if (auto status = cluster::agree(communicator, mine ? Status{} : Status(mine.error())); !status)
        return status.error();
    const std::vector<std::string> all = communicator.gather(
        pack_strings({std::to_string(mine->bytes), std::to_string(mine->took_ns), std::to_string(mine->cpu_s)}));
    if (communicator.rank() != 0) return ceiling;
    for (const cluster::HostLayout& host : communicator.hosts()) {
        HostCeiling one;
        one.host = host.name;
        double bytes = 0, cpu_s = 0;
        for (const int rank : host.ranks) {
            const std::vector<std::string> fields = unpack_strings(all[static_cast<std::size_t>(rank)]);
            bytes += std::stod(fields[0]);
            one.duration_s = std::max(one.duration_s, std::stod(fields[1]) / 1e9);
            cpu_s += std::stod(fields[2]);
        }
        if (one.duration_s > 0) one.MB_per_second = to_MB(bytes) / one.duration_s;
        if (bytes > 0) one.cpu_s_per_GB = cpu_s / (bytes / 1e9);
        ceiling.hosts.push_back(one);
    }
    if (request.observer)
        request.observer->on_message(fmt::format("the client's ceiling: {:.1f} MB/s made and written, {:.3f} CPU s/GB",
                                                 ceiling.MB_per_second(), ceiling.hosts.front().cpu_s_per_GB));
    return ceiling;
}

} // namespace feedbench::workloads
