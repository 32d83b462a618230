// Every backend of the table, in the ways in which it is tried.
#pragma once

#include "tests/support/backend_rig.hpp"

namespace feedbench::test {

struct Variant {
    std::string name;
    storage::BackendRequest request;
};

// The ways in which each backend is tried. A new line in the table fails here until it is told how.
inline std::vector<Variant> variants(const std::string& folder) {
    std::vector<Variant> all;
    const auto add = [&](const std::string& name, const std::string& uri, bool odirect, IoEngine io_engine) {
        Variant v;
        v.name = name + " " + uri;
        v.request.uri = uri;
        v.request.odirect = odirect;
        v.request.io_engine = io_engine;
        all.push_back(v);
    };
    for (const storage::BackendEntry& entry : storage::backends()) {
        const std::string scheme(entry.scheme);
        if (scheme == "file" || scheme == "posix") {
            add("uring buffered", scheme + ":" + folder, false, IoEngine::uring);
            add("uring direct", scheme + ":" + folder, true, IoEngine::uring);
            add("threads buffered", scheme + ":" + folder, false, IoEngine::threads);
            add("threads direct", scheme + ":" + folder, true, IoEngine::threads);
        } else if (scheme == "null") {
            add("null", "null:", false, IoEngine::uring);
            add("null copies", "null:copy=100000", false, IoEngine::uring);
        } else if (scheme == "model") {
            add("model", "model:latency=20us,bandwidth=1GB", false, IoEngine::uring);
            add("model without delay", "model:", false, IoEngine::uring);
        } else if (scheme == "fault") {
            add("fault passing", "fault:;inner=" + folder, false, IoEngine::uring);
            add("fault carrying", "fault:on=any,delay=10us;inner=" + folder, true, IoEngine::uring);
        } else
            FAIL("tell tests/support/backend_variants.hpp how to reach the backend '" << scheme << "'");
    }
    return all;
}

// Runs `test` for every variant, each in an empty folder: on the disk, and for real storage in memory too.
inline void for_each_backend(const std::function<void(Rig&, const std::string& folder)>& test,
                             unsigned ring_entries = 64) {
    for (const std::string parent : {"/tmp", "/dev/shm"}) {
        if (!std::filesystem::is_directory(parent)) continue;
        const std::size_t count = variants("/x").size();
        for (std::size_t i = 0; i < count; ++i) {
            const TemporaryFolder folder(parent);
            const Variant v = variants(folder.path)[i];
            INFO(v.name);
            Rig rig(v.request, ring_entries);
            test(rig, folder.path);
        }
    }
}

} // namespace feedbench::test
