// A small volume in memory: two targets of the fast tier, one of the object tier, a metadata engine, one journal of
// all.
//
// Thread: one. Owner: the test. Units: bytes; the wall clock counts calls. Errors: Catch assertions where a volume does
// not open that must. Source: issue 7.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "storage/feedfs/filesystem.hpp"
#include "storage/feedfs/fsck.hpp"
#include "storage/feedfs/metadata/memory.hpp"
#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/recording_engine.hpp"
#include "tests/support/recording_target.hpp"

namespace feedbench::test {

inline constexpr std::uint32_t kFastTargets = 2, kObjectTarget = 9;

inline feedfs::VolumeConfig volume_of_targets() {
    feedfs::VolumeConfig config;
    config.uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    config.name = "crash";
    config.metadata_engine = "memory";
    config.chunk_bytes = 64 * 1024;
    config.segment_bytes = 256 * 1024;
    for (std::uint32_t id = 1; id <= kFastTargets; ++id)
        config.targets.push_back({id, "fast" + std::to_string(id), feedfs::Tier::fast});
    config.targets.push_back({kObjectTarget, "objects", feedfs::Tier::object});
    return config;
}

struct FeedfsRig {
    explicit FeedfsRig(bool keeps_journal = true) {
        Journal* const written = keeps_journal ? &journal : nullptr;
        for (const feedfs::TargetConfig& target : config.targets)
            targets.push_back(std::make_shared<RecordingTarget>(target, written));
        inner = std::make_shared<feedfs::MemoryEngine>();
        engine = std::make_shared<RecordingEngine>(inner, written);
    }
    // What a loss of power left; what is done with it is written down again, if asked.
    FeedfsRig(const Journal& before, const Remains& left, bool keeps_journal = false) : FeedfsRig(keeps_journal) {
        put_disk(left.disk);
        put_metadata(before, left);
    }
    void put_disk(const DiskImage& disk) {
        for (const auto& target : targets)
            if (const auto files = disk.find(target->config().id); files != disk.end())
                for (const auto& [name, file] : files->second)
                    target->store().files[name] = std::make_shared<FileImage>(*file);
    }
    void put_metadata(const Journal& before, const Remains& left) {
        const Status ok = restore_metadata(before, left, *inner);
        INFO((ok ? std::string() : ok.error().describe()));
        REQUIRE(ok.has_value());
    }
    // Everything that ran before has died.
    Expected<feedfs::FsckReport> fsck(bool repair) {
        feedfs::FsckOptions chosen;
        chosen.data = true;
        chosen.repair = repair;
        chosen.lease_alive = [](const feedfs::LeaseRecord&) { return false; };
        chosen.now_ns = [this] { return now_ns += 1000; };
        return feedfs::fsck(config, {targets.begin(), targets.end()}, engine, chosen);
    }

    feedfs::OpenOptions options() {
        feedfs::OpenOptions chosen;
        // Threads of the library may ask, too.
        chosen.now_ns = [this] { return std::atomic_ref<std::int64_t>(now_ns).fetch_add(1000) + 1000; };
        chosen.renews_lease = false; // one thread, one journal
        return chosen;
    }
    Status make() {
        const auto root = engine->take_ids(feedfs::kInodeCounter, 1); // as open_metadata(create) does
        if (!root) return root.error();
        REQUIRE(*root == feedfs::kRootInode);
        return feedfs::FileSystem::make_root(*engine, {.mode = 0755}, 1);
    }
    Expected<std::unique_ptr<feedfs::FileSystem>> open(feedfs::OpenOptions chosen) {
        std::vector<std::shared_ptr<feedfs::Target>> plain(targets.begin(), targets.end());
        return feedfs::FileSystem::assemble(config, std::move(plain), engine, std::move(chosen));
    }
    Expected<std::unique_ptr<feedfs::FileSystem>> open() { return open(options()); }
    std::unique_ptr<feedfs::FileSystem> opened() {
        auto volume = open();
        INFO((volume ? std::string() : volume.error().describe()));
        REQUIRE(volume.has_value());
        return std::move(*volume);
    }
    RecordingTarget& target(std::uint32_t id) {
        for (const auto& one : targets)
            if (one->config().id == id) return *one;
        FAIL("no target " << id);
        return *targets.front();
    }

    feedfs::VolumeConfig config = volume_of_targets();
    Journal journal;
    std::vector<std::shared_ptr<RecordingTarget>> targets;
    std::shared_ptr<feedfs::MemoryEngine> inner;
    std::shared_ptr<RecordingEngine> engine;
    std::int64_t now_ns = 1'000'000'000;
};

// A file of `content`, published.
inline Status put_file(feedfs::FileSystem& volume, feedfs::InodeId parent, const std::string& name,
                       const std::string& content, feedfs::Publish how, std::uint32_t mode = 0644) {
    feedfs::WriteOptions options;
    options.entry.mode = mode;
    auto writer = volume.create(parent, name, options);
    if (!writer) return writer.error();
    if (Status ok = (*writer)->append(std::as_bytes(std::span(content))); !ok) return ok;
    return volume.publish(**writer, how);
}

} // namespace feedbench::test
