// The figures of a row of checkpoint results. Writes and reads may be runs of their own: each direction's figures are
// means over the runs that have it.
#include <array>

#include "reporters/compare/row_builder.hpp"
#include "reporters/compare/row_metrics.hpp"

namespace feedbench::compare {
namespace {

using ingest::CheckpointSide;
using ingest::IngestedRun;

constexpr std::array kColumns{
    Column{"accelerator_count", "ranks", "ranks that write and read", 0, true},
    Column{"host_count", "hosts", "client hosts", 0, true},
    Column{"run_count", "runs", "runs that count", 0, true},
    Column{"checkpoint_GiB", "GiB", "one checkpoint, all ranks", 1, true},
    Column{"save_count", "saves", "checkpoints written, all runs together", 0, false},
    Column{"save_GiB_per_second", "save GiB/s", "written: all bytes over all time", -1, true},
    Column{"save_GB_per_second", "save GB/s", "the same in 10^9 bytes", -1, false},
    Column{"save_GiB_per_second_mean_of_rates", "mean of rates",
           "written: mean of each checkpoint's rate, the figure that submissions publish", -1, true},
    Column{"save_duration_s", "save s", "mean time to write a checkpoint", -1, true},
    Column{"save_GiB_per_second_per_host", "save/host", "GiB/s written divided by client hosts", -1, true},
    Column{"load_count", "loads", "checkpoints read, all runs together", 0, false},
    Column{"load_GiB_per_second", "load GiB/s", "read: all bytes over all time", -1, true},
    Column{"load_GB_per_second", "load GB/s", "the same in 10^9 bytes", -1, false},
    Column{"load_GiB_per_second_mean_of_rates", "mean of rates",
           "read: mean of each checkpoint's rate, the figure that submissions publish", -1, true},
    Column{"load_duration_s", "load s", "mean time to read a checkpoint", -1, true},
    Column{"load_GiB_per_second_per_host", "load/host", "GiB/s read divided by client hosts", -1, true},
    Column{"host_memory_GiB", "mem. GiB", "memory of all client hosts together", 1, false},
    Column{"checkpoint_over_memory", "ckpt/mem", "a checkpoint / memory of all client hosts", 2, true},
    Column{"watts", "W", "power as the system description declares it", 0, true},
    Column{"save_MB_per_second_per_watt", "MB/s/W", "MB/s written divided by declared power", 2, false},
    Column{"usable_capacity_GiB", "usable GiB", "usable capacity as the system description declares it", 0, true},
    Column{"raw_capacity_GiB", "raw GiB", "raw capacity as the system description declares it", 0, false},
    Column{"rack_units", "RU", "rack units as the system description declares them", 0, true},
};

// Over the runs that have the figure.
Maybe mean_of(const Row& row, Maybe CheckpointSide::*what, CheckpointSide ingest::CheckpointFigures::*side) {
    double sum = 0, count = 0;
    for (const IngestedRun& run : row.runs) {
        const Maybe value = run.checkpoint ? (*run.checkpoint.*side).*what : Maybe();
        if (!value) continue;
        sum += *value;
        ++count;
    }
    return count > 0 ? Maybe(sum / count) : Maybe();
}

// Of all runs together; nothing where one does not say it.
Maybe count_of(const Row& row, CheckpointSide ingest::CheckpointFigures::*side) {
    double sum = 0;
    for (const IngestedRun& run : row.runs) {
        const Maybe count = run.checkpoint ? (*run.checkpoint.*side).checkpoint_count : Maybe();
        if (!count) return {};
        sum += *count;
    }
    return sum;
}

void fill_side(Row& row, const std::string& name, CheckpointSide ingest::CheckpointFigures::*side, Maybe hosts) {
    const std::string nothing = name == "save" ? "nothing was written" : "nothing was read";
    const Maybe rate = mean_of(row, &CheckpointSide::GiB_per_second, side);
    const Maybe of_rates = mean_of(row, &CheckpointSide::GiB_per_second_mean_of_rates, side);
    const std::string why = of_rates ? "size or duration is not said" : nothing;
    add(row, name + "_count", "", count_of(row, side), "not said", "sum_over_runs");
    add(row, name + "_GiB_per_second", "GiB/s", rate, why, "bytes_over_time");
    add(row, name + "_GB_per_second", "GB/s", rate ? Maybe(*rate * 1.073741824) : Maybe(), why, "bytes_over_time");
    add(row, name + "_GiB_per_second_mean_of_rates", "GiB/s", of_rates, nothing, "mean_of_rates");
    add(row, name + "_duration_s", "s", mean_of(row, &CheckpointSide::duration_s, side), nothing, "mean_over_runs");
    add(row, name + "_GiB_per_second_per_host", "GiB/s", divided(rate, hosts), rate ? "num_hosts is missing" : why,
        "over_hosts");
}

} // namespace

std::span<const Column> checkpoint_columns() { return kColumns; }

void fill_checkpoint_metrics(Row& row) {
    const Maybe hosts = row.host_count > 0 ? Maybe(row.host_count) : Maybe();
    const Maybe ranks = row.accelerator_count > 0 ? Maybe(row.accelerator_count) : Maybe();
    add(row, "accelerator_count", "", ranks, "not said", "as_read");
    add(row, "host_count", "", hosts, "num_hosts is missing", "as_read");
    add(row, "run_count", "", static_cast<double>(row.runs.size()), "", "as_read");
    const Maybe size =
        mean_over(row.runs, [](const IngestedRun& run) { return run.checkpoint ? run.checkpoint->size_GiB : Maybe(); });
    add(row, "checkpoint_GiB", "GiB", size, "the size of a checkpoint is not said", "as_read");
    fill_side(row, "save", &ingest::CheckpointFigures::save, hosts);
    fill_side(row, "load", &ingest::CheckpointFigures::load, hosts);
    const Maybe memory = mean_over(row.runs, &IngestedRun::host_memory_GiB);
    add(row, "host_memory_GiB", "GiB", memory, "the hosts' memory is not said", "sum_over_hosts");
    add(row, "checkpoint_over_memory", "", divided(size, memory), "size or memory is not known", "over_memory");
    const std::string undeclared = row.description.path.empty() ? "no system description" : "not declared as a number";
    add(row, "watts", "W", row.description.watts, undeclared, "as_declared");
    const Maybe rate = mean_of(row, &CheckpointSide::GiB_per_second, &ingest::CheckpointFigures::save);
    add(row, "save_MB_per_second_per_watt", "MB/s/W",
        divided(rate ? Maybe(*rate * 1073.741824) : Maybe(), row.description.watts), undeclared, "over_watts");
    add_description(row);
}

} // namespace feedbench::compare
