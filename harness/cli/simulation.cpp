#include "harness/cli/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

#include "harness/cli/progress_option.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/loader/loader.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::cli {

namespace {

// Where pieces of a sample come one after another they may as well be one event.
bool reads_in_order(const Workload& workload) { return workload.reader.data_loader != "native"; }

std::string without_pieces(const std::string& uri, std::uint64_t piece_bytes) {
    if (!uri.starts_with("model:") || uri.find("piece=") != std::string::npos) return uri;
    return uri + (uri.back() == ':' ? "" : ",") + "piece=" + std::to_string(piece_bytes);
}

} // namespace

Status check_simulated_storage(const std::string& uri) {
    auto parsed = storage::parse_uri(uri);
    if (!parsed) return parsed.error();
    if (parsed->scheme == "model" || parsed->scheme == "null") return {};
    if (parsed->scheme == "fault") {
        const auto inner = parsed->options.find("inner");
        if (inner == parsed->options.end()) return {}; // the backend says what it misses
        return check_simulated_storage(inner->second);
    }
    return usage_error("simulate runs under the virtual clock, where real storage has no time: '" + uri +
                       "' is real; give --storage 'model:bandwidth=..,latency=..', or --fit RESULT of a run that "
                       "measured it");
}

Expected<Simulation> Simulation::make(Session& session, const SimulationSettings& settings) {
    WorkloadOptions options = settings.options;
    // Checkpoints go to the same kind of storage, unless the user names another.
    options.params.insert(options.params.begin(), "checkpoint.checkpoint_folder=" + options.data_folder);
    auto workload = session.load(options);
    if (!workload) return workload.error();
    if (auto status = check_simulated_storage(config::data_location(*workload)); !status) return status.error();
    if (workload->workflow.checkpoint)
        if (auto status = check_simulated_storage(config::checkpoint_location(*workload)); !status)
            return status.error();
    Simulation simulation(session, settings, std::move(*workload));
    if (auto status = simulation.make_coarse(); !status) return status.error();
    return simulation;
}

Status Simulation::make_coarse() {
    if (!settings_.coarse) return {};
    if (workload_.checkpoint_only()) {
        constexpr std::uint64_t kCoarseBytes = 64 * kMiB; // the largest that checkpoint.transfer_size may be
        std::string& folder = workload_.checkpoint.checkpoint_folder;
        folder = without_pieces(folder, workload_.checkpoint.transfer_size);
        workload_.checkpoint.transfer_size = std::max(workload_.checkpoint.transfer_size, kCoarseBytes);
        return {};
    }
    if (!reads_in_order(workload_))
        return usage_error(
            "--coarse makes one event of the reads of a sample, and the native loader has them under way "
            "side by side: leave it out");
    const std::uint64_t transfer = workload_.reader.transfer_size;
    const DatasetSection& d = workload_.dataset;
    const double sample = d.record_length_bytes + 4 * d.record_length_bytes_stdev + 4096;
    if (sample <= static_cast<double>(transfer)) return {};
    workload_.reader.transfer_size = static_cast<std::uint64_t>(sample);
    std::string& storage = workload_.dataset.data_folder;
    storage = without_pieces(storage, transfer);
    return {};
}

// The dataset exists in no place, so that it may as well fit.
void Simulation::size_dataset(std::uint32_t accelerator_count) {
    if (settings_.step_count == 0) return;
    const std::uint64_t batch = workload_.reader.batch_size;
    const std::uint64_t per_file = std::max<std::uint64_t>(workload_.dataset.num_samples_per_file, 1);
    const std::uint64_t each = settings_.step_count * batch; // samples of an accelerator
    const auto loader = loader::find_loader(workload_.reader.data_loader);
    const bool whole_files = loader && (*loader)->shards_files;
    workload_.dataset.num_files_train = whole_files ? (each + per_file - 1) / per_file * accelerator_count
                                                    : (each * accelerator_count + per_file - 1) / per_file;
}

template <class Body>
auto Simulation::with_request(std::uint32_t accelerator_count, RunObserver& observer, Body&& body)
    -> decltype(body(std::declval<const workloads::WorkloadKind&>(), std::declval<workloads::RunRequest&>())) {
    size_dataset(accelerator_count);
    auto kind = workloads::find_kind(workload_);
    if (!kind) return kind.error();
    auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    if (!reactor) return reactor.error();
    workloads::RunRequest request;
    request.workload = &workload_;
    request.communicator = &session_.communicator();
    request.reactor = reactor->get();
    request.accelerator_count = accelerator_count;
    request.run_seed = settings_.seed;
    request.signal = Session::signal_flag();
    request.time_origin_unix_ns = unix_time_ns();
    request.observer = &observer;
    return body(**kind, request);
}

Expected<std::vector<workloads::PlanRow>> Simulation::plan(std::uint32_t accelerator_count) {
    RunObserver nobody;
    return with_request(
        accelerator_count, nobody,
        [](const workloads::WorkloadKind& kind, workloads::RunRequest& request) { return kind.plan(request); });
}

Expected<RunResult> Simulation::run(std::uint32_t accelerator_count) {
    const auto watcher = make_progress(settings_.progress, kProgressOfSimulations);
    auto result =
        with_request(accelerator_count, *watcher,
                     [](const workloads::WorkloadKind& kind, workloads::RunRequest& request) -> Expected<RunResult> {
                         if (auto plan = kind.plan(request); !plan) return plan.error();
                         return kind.run(request);
                     });
    const std::string why = result ? std::string() : result.error().describe();
    watcher->finish({.status = result ? result->status : "failed",
                     .valid = result && result->valid,
                     .verdict = result ? result->verdict : "",
                     .message = why});
    return result;
}

namespace {

// What the measured run was told beyond its file, but for where its data lay.
std::vector<std::string> params_of(const RunResult& measured) {
    std::vector<std::string> params;
    for (const ConfigValue& value : measured.config)
        if (value.origin.find("command line") != std::string::npos && value.key != "dataset.data_folder" &&
            !value.key.starts_with("storage.") && value.key != "checkpoint.checkpoint_folder")
            params.push_back(value.key + "=" + value.value);
    return params;
}

// Moves the model's speed towards the measured AU: first by their ratio, then by halving what is left between a model
// that was too slow and one that was too fast.
class SpeedSearch {
  public:
    // How many times as fast as at first the model should be next.
    double next(double au_measured, double au_simulated) {
        (au_simulated < au_measured ? slow_ : fast_) = at_;
        if (slow_ > 0 && fast_ > 0)
            at_ = std::sqrt(slow_ * fast_);
        else
            at_ *= std::clamp(au_measured / au_simulated, 0.9, 1.1);
        return at_;
    }

  private:
    double at_ = 1, slow_ = 0, fast_ = 0;
};

} // namespace

Expected<std::string> calibrate(Session& session, SimulationSettings settings, const RunResult& measured,
                                workloads::ModelFit& fit) {
    constexpr double kCloseEnough = 0.2; // points of AU
    constexpr int kMostTurns = 12;
    const auto au_measured = workloads::au_of(measured);
    if (!au_measured || *au_measured <= 0) return std::string("not calibrated: the measured run has no AU");
    settings.step_count = 0;
    settings.coarse = false;
    settings.options.overrides.clear();
    settings.options.params = params_of(measured);
    SpeedSearch search;
    const workloads::ModelFit first = fit;
    workloads::ModelFit tried = fit;
    double best_au = -1000;
    for (int turn = 0; turn < kMostTurns; ++turn) {
        settings.options.data_folder = storage::model_uri(tried.parameters);
        auto simulation = Simulation::make(session, settings);
        if (!simulation) return simulation.error();
        if (simulation->workload().name != measured.workload)
            return fmt::format("not calibrated: the measured run is of workload {}, this is {}", measured.workload,
                               simulation->workload().name);
        auto result = simulation->run(measured.accelerator_count);
        if (!result) return result.error();
        const auto au = workloads::au_of(*result);
        if (!au || *au <= 0) return std::string("not calibrated: the simulation has no AU");
        if (std::abs(*au - *au_measured) < std::abs(best_au - *au_measured)) {
            best_au = *au;
            fit = tried;
        }
        if (std::abs(best_au - *au_measured) <= kCloseEnough || fit.limit == workloads::FitLimit::nothing) break;
        tried = first;
        workloads::speed_up(tried, search.next(*au_measured, *au));
    }
    return fmt::format("the measured run again on this model: AU {:.2f} %, measured {:.2f} %", best_au, *au_measured);
}

} // namespace feedbench::cli
