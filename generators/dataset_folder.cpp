#include "generators/dataset_folder.hpp"

#include <cerrno>
#include <fmt/format.h>

#include "generators/content.hpp"
#include "harness/cluster/error_exchange.hpp"

namespace feedbench::generators {

namespace {

// All folders that the files of a plan lie in: file i lies in folder i mod n, so the first n files name them all. What
// a killed datagen left half-written there is removed: its name would never be taken again.
Status make_folders(storage::Backend& backend, const dataset::DatasetPlan& plan, std::uint32_t subfolders,
                    std::span<const formats::SideFile> side_files, bool was_killed) {
    const std::uint64_t named = std::min<std::uint64_t>(plan.file_count(), std::max(1u, subfolders));
    for (std::uint64_t i = 0; i < named; ++i) {
        std::vector<std::string> names{plan.name(i)};
        for (const formats::SideFile& side : side_files) names.push_back(formats::side_path(side, names.front()));
        for (const std::string& name : names) {
            const std::string folder = name.substr(0, name.rfind('/'));
            if (auto made = backend.make_directories(folder); !made) return made;
            if (!was_killed) continue;
            if (auto removed = backend.remove_leftovers(folder); !removed) return removed;
        }
    }
    return {};
}

Expected<PreparedFolder> prepare(const DatasetRequest& request, const formats::Format& format,
                                 const std::vector<dataset::DatasetPlan>& plans, std::uint64_t payload_bytes) {
    const DatasetSection& section = request.workload->dataset;
    storage::Backend& backend = *request.backend;
    PreparedFolder prepared;
    bool was_killed = false;
    if (auto made = backend.make_directories(""); !made) return made.error();
    if (backend.stat(std::string(dataset::kManifestName))) {
        auto found = dataset::read_manifest(backend);
        if (!found) return found.error();
        const auto differences = dataset::compare_to_resume(*found, section, kContentVersion);
        if (found->is_adopted() || !differences.empty()) {
            std::string words = found->is_adopted() ? "another tool wrote it" : "";
            for (const auto& difference : differences)
                words += fmt::format("{}{} is {}, asked for is {}", words.empty() ? "" : "; ", difference.key,
                                     difference.found, difference.asked);
            return config_error("another dataset lies here (" + words + "): give another folder, or remove it",
                                backend.display_path(""));
        }
        prepared.resume = true;
        was_killed = found->state != dataset::Manifest::State::complete;
    }
    // The manifest itself may be the half-written file.
    if (auto removed = backend.remove_leftovers(""); !removed) return removed.error();
    if (!prepared.resume)
        // No size at all is a filesystem that does not say (ramfs, some network ones), not a full one.
        if (auto facts = backend.facts(""); facts && facts->total_bytes > 0 && facts->free_bytes < payload_bytes)
            return storage_error("datagen", backend.display_path(""), ENOSPC,
                                 fmt::format("the dataset needs {} bytes, the {} filesystem has {} free", payload_bytes,
                                             facts->type, facts->free_bytes));
    const std::uint32_t subfolders[] = {section.num_subfolders_train, section.num_subfolders_eval};
    for (std::size_t i = 0; i < plans.size(); ++i)
        if (plans[i].file_count() > 0)
            if (auto made = make_folders(backend, plans[i], subfolders[i], format.side_files(), was_killed); !made)
                return made.error();
    prepared.manifest.dataset = section;
    prepared.manifest.content_version = kContentVersion;
    if (auto written = dataset::write_manifest(backend, prepared.manifest); !written) return written.error();
    return prepared;
}

} // namespace

Expected<PreparedFolder> prepare_folder(const DatasetRequest& request, const formats::Format& format,
                                        const std::vector<dataset::DatasetPlan>& plans, std::uint64_t payload_bytes) {
    cluster::Communicator& communicator = *request.communicator;
    PreparedFolder prepared;
    Status status;
    if (communicator.rank() == 0) {
        auto made = prepare(request, format, plans, payload_bytes);
        if (made)
            prepared = std::move(*made);
        else
            status = made.error();
    }
    if (status = cluster::agree(communicator, status); !status) return status.error();
    prepared.resume = communicator.broadcast(prepared.resume ? "resume" : "") == "resume";
    return prepared;
}

} // namespace feedbench::generators
