#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "harness/cli/commands.hpp"
#include "harness/dataset/sizing.hpp"
#include "harness/probes/cpu.hpp"
#include "harness/types/units.hpp"

namespace feedbench::cli {

std::function<int(Session&)> add_datasize(CLI::App& command) {
    struct State {
        WorkloadOptions options;
        dataset::SizingRequest sizing;
    };
    auto state = std::make_shared<State>();
    add_workload_options(command, state->options);
    command.add_option("-a,--accelerators", state->sizing.accelerator_count, "Accelerators in all")->required();
    command.add_option("--hosts", state->sizing.host_count, "Client hosts");
    command.add_option("--host-memory-gb", state->sizing.memory_GB_per_host,
                       "Memory of one client host in GB as the rules count them (2^30 bytes); default: this machine's");
    command.footer("Example: feedbench datasize unet3d_h100 --accelerators 16 --hosts 2 --host-memory-gb 128");
    return [state, &command](Session& session) {
        if (auto status = take_overrides(command, state->options); !status) return session.fail(status.error());
        auto workload = session.load(state->options);
        if (!workload) return session.fail(workload.error());
        if (state->sizing.memory_GB_per_host <= 0) {
            const auto memory = probes::memory_total_bytes({});
            if (!memory)
                return session.fail(
                    usage_error("this machine does not say how much memory it has: give --host-memory-gb"));
            state->sizing.memory_GB_per_host = to_GiB(static_cast<double>(*memory));
        }
        state->sizing.batch_size = workload->reader.batch_size;
        auto sizing = dataset::size_dataset(workload->dataset, state->sizing);
        if (!sizing) return session.fail(sizing.error());
        if (!session.is_first()) return 0;
        fmt::print("{}\n", sizing->explanation);
        fmt::print("  {:<24} {}\n", "dataset.num_files_train", sizing->file_count);
        fmt::print("  {:<24} {}\n", "samples", sizing->sample_count);
        fmt::print("  {:<24} {}\n", "steps an epoch", sizing->steps_per_epoch);
        fmt::print("  {:<24} {} bytes ({:.3f} TB)\n", "disk need", sizing->disk_bytes,
                   static_cast<double>(sizing->disk_bytes) / 1e12);
        fmt::print("\nfeedbench datagen {} -p dataset.num_files_train={} --data-dir DIR\n", state->options.workload,
                   sizing->file_count);
        return 0;
    };
}

} // namespace feedbench::cli
