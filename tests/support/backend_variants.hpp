// Every backend of the table, in the ways in which it is tried.
#pragma once

#include <cstdlib>

#include "storage/feedfs/filesystem.hpp"
#include "tests/support/backend_rig.hpp"

namespace feedbench::test {

struct Variant {
    std::string name;
    storage::BackendRequest request;
    std::string volume; // of feedfs: made before, removed afterwards
};

// Chunks so small that ordinary test files have several.
struct VariantVolume {
    explicit VariantVolume(std::string folder) : folder_(std::move(folder)) {
        if (folder_.empty()) return;
        feedfs::VolumeConfig config;
        config.chunk_bytes = 64 << 10;
        config.segment_bytes = 1 << 20;
        config.targets = {{.id = 1, .place = "a"}, {.id = 2, .place = "b"}};
        auto made = feedfs::FileSystem::make(folder_, config);
        if (!made) FAIL(made.error().describe());
    }
    ~VariantVolume() {
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }
    VariantVolume(const VariantVolume&) = delete;
    VariantVolume& operator=(const VariantVolume&) = delete;

  private:
    const std::string folder_;
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
        } else if (scheme == "mpiio") {
            // A process of its own, for MPI stays in it, with what it keeps until the end (ctest
            // contract_mpiio_multiple, contract_mpiio_single).
            if (std::getenv("FEEDBENCH_TEST_MPIIO")) add("mpiio", scheme + ":" + folder, false, IoEngine::uring);
        } else if (scheme == "nfs") {
            // A server that exports a folder: tests/integration/nfs.sh brings it up and names both.
            const char* exported = std::getenv("FEEDBENCH_TEST_EXPORT");
            const char* ports = std::getenv("FEEDBENCH_TEST_NFS"); // "nfsport=..&mountport=.."
            if (!exported || !ports || !folder.starts_with(exported)) continue;
            const std::string uri = "nfs://127.0.0.1" + folder + "?" + ports;
            add("nfs", uri, false, IoEngine::uring);
            add("nfs small requests, one connection", uri + "&connections=1&rsize=8KiB&wsize=8KiB", true,
                IoEngine::threads);
        } else if (scheme == "feedfs") {
            const std::size_t first = all.size();
            const std::string volume = folder + ".volume";
            add("uring direct", scheme + ":" + volume, true, IoEngine::uring);
            add("uring buffered, in a folder", scheme + ":" + volume + "/sub/folder", false, IoEngine::uring);
            add("threads direct", scheme + ":" + volume, true, IoEngine::threads);
            for (std::size_t i = first; i < all.size(); ++i) all[i].volume = volume;
        } else if (entry.traits.is_network) {
            continue; // tried with servers of its own: tests/unit/s3, tests/integration/backend_*.sh
        } else
            FAIL("tell tests/support/backend_variants.hpp how to reach the backend '" << scheme << "'");
    }
    return all;
}

// Where test folders are made: on the disk, in memory, and where a test script has a server export a folder, in that.
inline std::vector<std::string> parent_folders() {
    std::vector<std::string> parents{"/tmp", "/dev/shm"};
    if (const char* exported = std::getenv("FEEDBENCH_TEST_EXPORT")) parents = {exported};
    return parents;
}

// Runs `test` for every variant, each in an empty folder.
inline void for_each_backend(const std::function<void(Rig&, const std::string& folder)>& test,
                             unsigned ring_entries = 64) {
    for (const std::string& parent : parent_folders()) {
        if (!std::filesystem::is_directory(parent)) continue;
        const std::size_t count = variants(parent + "/x").size();
        for (std::size_t i = 0; i < count; ++i) {
            const TemporaryFolder folder(parent);
            const Variant v = variants(folder.path)[i];
            INFO(v.name);
            const VariantVolume volume(v.volume);
            Rig rig(v.request, ring_entries);
            if (!v.volume.empty()) REQUIRE(rig.backend->make_directories("")); // as datagen does
            test(rig, folder.path);
        }
    }
}

} // namespace feedbench::test
