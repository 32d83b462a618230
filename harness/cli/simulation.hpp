// Training runs under the virtual clock: a workload whose storage is a formula, for any number of accelerators.
//
// Thread: main thread; one process. Owner: cmd_simulate. Units: in the names.
// Errors: as the configuration and the workload kind answer; storage that is real is refused by name.
// Source: DESIGN section 4 (virtual clock); docs/simulate.md. Every run has a clock and a loop of its own, so that it
// is the same run whichever others come before it.
#pragma once

#include "harness/cli/session.hpp"
#include "harness/types/observer.hpp"
#include "harness/types/run_result.hpp"
#include "reporters/read_result.hpp"
#include "workloads/model_fit.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::cli {

struct SimulationSettings {
    WorkloadOptions options; // data_folder: the storage's URI
    std::uint64_t seed = 1;
    std::uint32_t step_count = 0; // > 0: the dataset is made large enough for so many steps an epoch
    bool coarse = false;          // one event a sample instead of one a transfer
    std::string progress = "auto";
};

class Simulation {
  public:
    // Loads the workload onto the storage of settings.options.data_folder.
    static Expected<Simulation> make(Session& session, const SimulationSettings& settings);

    const Workload& workload() const { return workload_; }
    // What --dry-run prints.
    Expected<std::vector<workloads::PlanRow>> plan(std::uint32_t accelerator_count);
    Expected<RunResult> run(std::uint32_t accelerator_count);

  private:
    Simulation(Session& session, SimulationSettings settings, Workload workload)
        : session_(session), settings_(std::move(settings)), workload_(std::move(workload)) {}
    template <class Body>
    auto with_request(std::uint32_t accelerator_count, RunObserver& observer, Body&& body)
        -> decltype(body(std::declval<const workloads::WorkloadKind&>(), std::declval<workloads::RunRequest&>()));
    Status make_coarse();
    void size_dataset(std::uint32_t accelerator_count);

    Session& session_;
    SimulationSettings settings_;
    Workload workload_;
};

// A person at a terminal sees that something moves; a log gets the report alone.
inline constexpr std::string_view kProgressOfSimulations = "off";

// Refuses storage that cannot live in virtual time, before anything is opened.
Status check_simulated_storage(const std::string& uri);

// Runs the measured run again on its fitted model and moves the fitted limit until AU agrees. Says what came of it: one
// line for people. `settings`: of the simulation; its workload is that of the measured run, or nothing is calibrated.
Expected<std::string> calibrate(Session& session, SimulationSettings settings, const RunResult& measured,
                                workloads::ModelFit& fit);

} // namespace feedbench::cli
