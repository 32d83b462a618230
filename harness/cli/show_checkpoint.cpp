#include "harness/cli/show_checkpoint.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "harness/config/checkpoint_table.hpp"
#include "harness/types/units.hpp"
#include "workloads/checkpoint_setup.hpp"

namespace feedbench::cli {

namespace {

using nlohmann::json;

double GiB(std::uint64_t bytes) { return to_GiB(static_cast<double>(bytes)); }

// All that the three ways of printing share.
struct Plan {
    config::CheckpointSizes sizes;
    config::RankBytes total;
    std::vector<config::RankClass> classes;
    config::HostShare hosts;
    std::vector<config::ClosedDemand> closed;
    std::uint64_t file_count = 0, largest_rank_bytes = 0, state_bytes = 0, accelerator_bytes = 0, fewest = 0;
};

Expected<Plan> make_plan(const Workload& workload, const CheckpointQuestion& question) {
    const std::uint64_t ranks =
        question.rank_count ? question.rank_count : config::closed_rank_count(workload.model.name).value_or(1);
    auto sizes = config::CheckpointSizes::of(workload, ranks);
    if (!sizes) return sizes.error();
    const std::uint64_t hosts = question.host_count ? question.host_count : (ranks % 8 == 0 ? ranks / 8 : 1);
    auto share = config::host_share(*sizes, hosts);
    if (!share) return share.error();
    Plan plan{*sizes, sizes->total(), config::rank_classes(*sizes), *share, config::closed_demands(workload, ranks)};
    for (const config::RankClass& one : plan.classes) {
        plan.file_count += one.rank_count * one.file_count;
        plan.largest_rank_bytes = std::max(plan.largest_rank_bytes, one.bytes.total());
    }
    plan.state_bytes = config::accelerator_state_bytes(*sizes);
    plan.accelerator_bytes = question.accelerator_GiB > 0
                                 ? static_cast<std::uint64_t>(question.accelerator_GiB * static_cast<double>(kGiB))
                                 : config::accelerator_memory_bytes(workload.accelerator).value_or(80 * kGiB);
    plan.fewest = (plan.total.total() + plan.accelerator_bytes - 1) / plan.accelerator_bytes;
    return plan;
}

const char* written_by(const config::RankClass& one) {
    if (one.file_count == 0) return "nothing";
    if (one.bytes.model == 0) return "its optimizer state";
    if (one.has_layer_files) return one.bytes.optimizer ? "a file a layer, its optimizer state" : "a file a layer";
    return one.bytes.optimizer ? "its weights, its optimizer state" : "its weights";
}

void line(const char* name, const std::string& text) { fmt::print("  {:<28} {}\n", name, text); }

void print_ranks(const Plan& plan) {
    fmt::print("ranks:\n  {:<28} {:>6} {:>12} {:>14} {:>14}  {}\n", "rank", "files", "model GiB", "optimizer GiB",
               "GiB together", "writes");
    for (const config::RankClass& one : plan.classes)
        fmt::print("  {:<28} {:>6} {:>12.4f} {:>14.4f} {:>14.4f}  {}\n", config::ranges_text(one), one.file_count,
                   GiB(one.bytes.model), GiB(one.bytes.optimizer), GiB(one.bytes.total() * one.rank_count),
                   written_by(one));
}

std::uint64_t process_memory_bytes(const Workload& workload) {
    workloads::CheckpointPlan one;
    one.placement.count = 1;
    one.settings = workloads::CheckpointStream::settings_of(workload);
    one.buffers = workloads::CheckpointStream::buffers_for(one.settings, 1, false);
    return workloads::memory_bound_bytes(one);
}

void print_hosts(const Workload& workload, const Plan& plan) {
    const config::HostShare& hosts = plan.hosts;
    fmt::print("hosts:\n");
    line("hosts x ranks", fmt::format("{} x {}", hosts.host_count, hosts.ranks_per_host));
    line("written by a host", hosts.bytes_least == hosts.bytes_most
                                  ? fmt::format("{:.4f} GiB", GiB(hosts.bytes_most))
                                  : fmt::format("{:.4f} to {:.4f} GiB", GiB(hosts.bytes_least), GiB(hosts.bytes_most)));
    line("memory of a process", fmt::format("at most {:.0f} MiB, one process a rank, whatever the model",
                                            to_MiB(static_cast<double>(process_memory_bytes(workload)))));
    line("page cache", fmt::format("a host with more than {:.1f} GiB to spare can serve the read back from its memory: "
                                   "drop its cache",
                                   GiB(hosts.bytes_most)));
}

void print_accelerators(const Plan& plan) {
    fmt::print("accelerators of {:.0f} GiB:\n", GiB(plan.accelerator_bytes));
    line("held by the fullest", fmt::format("{:.4f} GiB, which {}", GiB(plan.state_bytes),
                                            plan.state_bytes <= plan.accelerator_bytes ? "fits" : "DOES NOT FIT"));
    line("needed at least",
         fmt::format("{} for the checkpoint alone; {} take part", plan.fewest, plan.sizes.rank_count()));
}

void print_closed(const Plan& plan) {
    if (plan.closed.empty()) return;
    fmt::print("CLOSED asks:\n");
    for (const config::ClosedDemand& demand : plan.closed)
        fmt::print("  {:<28} {:<46} {}\n", demand.what, demand.asked, demand.met ? "met" : "NOT met: " + demand.found);
}

struct Times {
    double one_s = 0, writes_s = 0, reads_s = 0;
    std::int64_t writes = 0, reads = 0;
};
Times times_of(const Workload& workload, const Plan& plan, double MB_per_second) {
    Times times;
    times.one_s = to_MB(static_cast<double>(plan.total.total())) / MB_per_second;
    times.writes = std::max<std::int64_t>(0, workload.checkpoint.num_checkpoints_write);
    times.reads = std::max<std::int64_t>(0, workload.checkpoint.num_checkpoints_read);
    const auto all = [&](std::int64_t count) {
        return count == 0 ? 0
                          : static_cast<double>(count) * times.one_s +
                                static_cast<double>(count - 1) * workload.checkpoint.time_between_checkpoints_s;
    };
    times.writes_s = all(times.writes);
    times.reads_s = all(times.reads);
    return times;
}

void print_times(const Workload& workload, const Plan& plan, double MB_per_second) {
    if (MB_per_second <= 0) return;
    const Times times = times_of(workload, plan, MB_per_second);
    fmt::print("time at {:g} MB/s:\n", MB_per_second);
    line("one checkpoint", fmt::format("{:.1f} s", times.one_s));
    if (times.writes > 0)
        line("all writes", fmt::format("{:.1f} s ({} of them, with their pauses)", times.writes_s, times.writes));
    if (times.reads > 0)
        line("all reads", fmt::format("{:.1f} s ({} of them, with their pauses)", times.reads_s, times.reads));
}

} // namespace

Status print_checkpoint_table(const Workload& workload, const CheckpointQuestion& question) {
    auto made = make_plan(workload, question);
    if (!made) return made.error();
    const Plan& plan = *made;
    fmt::print("checkpoint of {} by {} ranks (TP {} x PP {} x DP {}, ZeRO {}):\n", workload.model.name,
               plan.sizes.rank_count(), plan.sizes.tensor_parallelism(), plan.sizes.pipeline_parallelism(),
               plan.sizes.data_parallelism(), workload.model.zero_stage);
    line("in all", fmt::format("{:.4f} GiB = model {:.4f} + optimizer {:.4f}", GiB(plan.total.total()),
                               GiB(plan.total.model), GiB(plan.total.optimizer)));
    line("files", std::to_string(plan.file_count));
    line("largest rank", fmt::format("{:.4f} GiB", GiB(plan.largest_rank_bytes)));
    if (workload.model.scale != 1.0)
        line("model.scale",
             fmt::format("{:g}: every file is shrunk; NOT comparable with any other result", workload.model.scale));
    print_ranks(plan);
    print_hosts(workload, plan);
    print_accelerators(plan);
    print_closed(plan);
    print_times(workload, plan, question.MB_per_second);
    fmt::print("files of rank 0 (--files lists those of every rank):\n");
    for (const config::CheckpointFile& file : plan.sizes.files(0))
        fmt::print("  {:<52} {} bytes\n", file.name, file.bytes);
    return {};
}

Status print_checkpoint_files(const Workload& workload, const CheckpointQuestion& question) {
    auto plan = make_plan(workload, question);
    if (!plan) return plan.error();
    fmt::print("rank,name,bytes\n");
    for (std::uint64_t rank = 0; rank < plan->sizes.rank_count(); ++rank)
        for (const config::CheckpointFile& file : plan->sizes.files(rank))
            fmt::print("{},{},{}\n", rank, file.name, file.bytes);
    return {};
}

Status print_checkpoint_json(const Workload& workload, const CheckpointQuestion& question) {
    auto made = make_plan(workload, question);
    if (!made) return made.error();
    const Plan& plan = *made;
    json document{{"model", workload.model.name},
                  {"rank_count", plan.sizes.rank_count()},
                  {"parallelism",
                   {{"tensor", plan.sizes.tensor_parallelism()},
                    {"pipeline", plan.sizes.pipeline_parallelism()},
                    {"data", plan.sizes.data_parallelism()},
                    {"zero_stage", workload.model.zero_stage}}},
                  {"scale", workload.model.scale},
                  {"bytes", plan.total.total()},
                  {"model_bytes", plan.total.model},
                  {"optimizer_bytes", plan.total.optimizer},
                  {"file_count", plan.file_count},
                  {"largest_rank_bytes", plan.largest_rank_bytes},
                  {"ranks", json::array()},
                  {"hosts",
                   {{"count", plan.hosts.host_count},
                    {"ranks_per_host", plan.hosts.ranks_per_host},
                    {"bytes_least", plan.hosts.bytes_least},
                    {"bytes_most", plan.hosts.bytes_most},
                    {"process_memory_bytes_most", process_memory_bytes(workload)}}},
                  {"accelerators",
                   {{"memory_bytes", plan.accelerator_bytes},
                    {"state_bytes", plan.state_bytes},
                    {"fits", plan.state_bytes <= plan.accelerator_bytes},
                    {"needed_at_least", plan.fewest}}},
                  {"closed", json::array()}};
    for (const config::RankClass& one : plan.classes)
        document["ranks"].push_back({{"ranges", one.ranges},
                                     {"rank_count", one.rank_count},
                                     {"files_each", one.file_count},
                                     {"model_bytes_each", one.bytes.model},
                                     {"optimizer_bytes_each", one.bytes.optimizer}});
    for (const config::ClosedDemand& demand : plan.closed)
        document["closed"].push_back(
            {{"what", demand.what}, {"asked", demand.asked}, {"found", demand.found}, {"met", demand.met}});
    if (question.MB_per_second > 0) {
        const Times times = times_of(workload, plan, question.MB_per_second);
        document["time"] = {{"MB_per_second", question.MB_per_second},
                            {"one_checkpoint_s", times.one_s},
                            {"all_writes_s", times.writes_s},
                            {"all_reads_s", times.reads_s}};
    }
    fmt::print("{}\n", document.dump(2));
    return {};
}

} // namespace feedbench::cli
