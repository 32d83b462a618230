#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "harness/cli/commands.hpp"
#include "harness/cli/list_backends.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/dataset/adopt.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"

namespace feedbench::cli {

namespace {

struct State {
    std::string folder;
    bool dry_run = false;
    double stall_timeout_s = WorkloadOptions{}.stall_timeout_s;
    dataset::AdoptRequest request;
    std::vector<std::string> options;
};

// Rank 0's work; the other ranks only hear how it ended.
Status adopt_folder(State& state, engine::Reactor& reactor) {
    storage::BackendRequest made;
    made.uri = state.folder;
    for (const std::string& text : state.options)
        if (auto status = add_option_text(text, made.options); !status) return status;
    made.reactor = &reactor;
    made.will_write = !state.dry_run;
    auto backend = storage::make_backend(std::move(made));
    if (!backend) return backend.error();
    // Our own manifest knows the seed and every size; one made by looking at the files would not.
    if ((*backend)->stat(std::string(dataset::kManifestName))) {
        auto there = dataset::read_manifest(**backend);
        if (!there) return there.error();
        if (!there->is_adopted())
            return config_error("feedbench made this dataset: there is nothing to adopt (remove " +
                                    std::string(dataset::kManifestName) + " to look at it as another tool's)",
                                (*backend)->display_path(""));
    }
    auto adoption = dataset::adopt({**backend, &reactor}, state.request);
    if (!adoption) return adoption.error();
    const dataset::Manifest& found = adoption->manifest;
    fmt::print("{}: {} files in train, {} in valid, {} x {} samples, prefix {}, about {:.3f} GB\n",
               (*backend)->display_path(""), found.dataset.num_files_train, found.dataset.num_files_eval,
               found.dataset.format, found.dataset.num_samples_per_file, found.dataset.file_prefix,
               static_cast<double>(found.train.file_bytes + found.valid.file_bytes) / 1e9);
    for (const std::string& note : adoption->notes) fmt::print("  note: {}\n", note);
    if (state.dry_run) return {};
    if (auto written = dataset::write_manifest(**backend, found); !written) return written;
    fmt::print("manifest written: {}\n", (*backend)->display_path(std::string(dataset::kManifestName)));
    return {};
}

} // namespace

std::function<int(Session&)> add_adopt(CLI::App& command) {
    auto state = std::make_shared<State>();
    command.add_option("data-dir,--data-dir", state->folder, "The dataset's folder: the one that holds train/")
        ->required();
    command.add_option("--samples-per-file", state->request.samples_per_file,
                       "For formats whose files do not tell samples from dimensions");
    command.add_option("--check", state->request.sample_size, "How many files of each split to look into")
        ->check(CLI::PositiveNumber);
    command.add_option("--storage-option", state->options, "KEY=VALUE of storage.storage_options (endpoint_url=...)")
        ->take_all()
        ->allow_extra_args(false);
    command.add_flag("--dry-run", state->dry_run, "Look, and write no manifest");
    add_stall_timeout(command, state->stall_timeout_s);
    command.footer("Example: feedbench adopt /mnt/x/unet3d && feedbench run unet3d_h100 --data-dir /mnt/x/unet3d");
    return [state](Session& session) {
        session.set_stall_timeout(state->stall_timeout_s);
        const cluster::Doing doing(session.communicator().life(), "looking at the folder " + state->folder);
        auto reactor = session.reactor(false, false);
        if (!reactor) return session.fail(reactor.error());
        Status status;
        if (session.is_first()) status = adopt_folder(*state, **reactor);
        status = cluster::agree(session.communicator(), status);
        return status ? 0 : session.fail(status.error());
    };
}

} // namespace feedbench::cli
