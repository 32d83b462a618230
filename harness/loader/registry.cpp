#include <array>

#include "harness/loader/models.hpp"

namespace feedbench::loader {

namespace {
constexpr std::array kLoaders{
    LoaderEntry{"pytorch",
                "worker w of read_threads takes batches w, w+W, ...; samples one after another, each file whole", false,
                make_pytorch_loader, pytorch_buffers},
    LoaderEntry{"tensorflow",
                "files sharded over accelerators; read_threads files side by side, then batch, then prefetch", true,
                make_tensorflow_loader, tensorflow_buffers},
    LoaderEntry{"native", "queue_depth reads in flight an accelerator: the storage's best case (OPEN only)", false,
                make_native_loader, native_buffers},
};
} // namespace

std::span<const LoaderEntry> loaders() { return kLoaders; }

Expected<const LoaderEntry*> find_loader(std::string_view name) {
    std::string known;
    for (const LoaderEntry& entry : kLoaders) {
        if (entry.name == name) return &entry;
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    }
    return config_error("'" + std::string(name) + "' is not a data loader of feedbench; there are: " + known,
                        "reader.data_loader");
}

} // namespace feedbench::loader
