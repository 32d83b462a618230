// The feedfs backend itself. Internal to storage/feedfs*.cpp: operations in feedfs.cpp, names in feedfs_namespace.cpp.
//
// Thread: reactor thread. Owner: the caller of make_backend. Units: bytes. Errors: as storage/backend.hpp.
// Source: DESIGN sections 6 and 11.
#pragma once

#include <atomic>
#include <unordered_map>

#include "storage/feedfs_entries.hpp"
#include "storage/feedfs_files.hpp"

namespace feedbench::storage {

// Where pages of the volume are dropped: see cache_drop().
struct FeedfsCachePlaces {
    CacheDrop host;                                         // of the volume's folder; empty: memory
    std::vector<std::pair<std::string, CacheDrop>> targets; // folder, and what drops a file of it
    bool direct = true;
    std::uint64_t dropped_ns = 0;
    std::string metadata_file;                // of an LMDB; empty: there is none here
    std::atomic<bool> metadata_is_cold{true}; // at start, and after a drop
};

class FeedfsBackend final : public Backend {
  public:
    struct Place {
        std::string base;  // folder within the volume, or empty
        std::string shown; // what the user wrote
    };
    FeedfsBackend(std::unique_ptr<feedfs::FileSystem> filesystem, Place place, engine::Reactor& reactor,
                  FeedfsSettings settings, std::shared_ptr<FeedfsCachePlaces> cache_places);

    const Capabilities& capabilities() const override { return capabilities_; }
    engine::Submit submit(engine::IoOp& op) override;

    Expected<FileStat> stat(const std::string& path) override;
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override;
    Status make_directories(const std::string& path) override;
    Status remove(const std::string& path) override;
    Status write_file(const std::string& path, std::span<const std::byte> content) override;
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override;
    Expected<FilesystemFacts> facts(const std::string& path) override;
    CacheDrop cache_drop() const override;
    Status settle() override;
    std::string display_path(const std::string& path) const override {
        return path.empty() ? place_.shown : place_.shown + "/" + path;
    }

  private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    static constexpr std::size_t kFoldersMost = 16'384;

    std::string full(const std::string& path) const { return place_.base.empty() ? path : place_.base + "/" + path; }
    Error failed(const char* operation, const std::string& path, Error error) const;
    // The id of the folder that a path lies in. What was found holds while the metadata's state number stays the same.
    Expected<feedfs::InodeId> folder_of(std::string_view path, std::uint64_t state);
    const feedfs::InodeId* known_folder(std::string_view path, std::uint64_t state) const;
    // Asks the kernel to bring the whole of a metadata file of moderate size, in the background: look-ups that fault it
    // in page by page, behind reads of data, keep the loop waiting.
    void prefetch_metadata();
    Status look_up(std::string_view path, FeedfsOpened& file);
    void open(engine::IoOp& op);
    void create(engine::IoOp& op);

    const std::unique_ptr<feedfs::FileSystem> filesystem_;
    const Place place_;
    const FeedfsSettings settings_;
    const std::shared_ptr<FeedfsCachePlaces> cache_places_;
    Capabilities capabilities_;
    std::string key_;
    std::unordered_map<std::string, feedfs::InodeId, TextHash, std::equal_to<>> folders_;
    std::uint64_t folders_state_ = 0;
    FeedfsEntries entries_;
    FeedfsUnused unused_;
    FeedfsReads reads_;
    FeedfsWrites writes_;
};

} // namespace feedbench::storage
