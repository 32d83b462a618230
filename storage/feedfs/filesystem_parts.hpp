// FileSystem's implementation. Internal to storage/feedfs; its methods lie in filesystem*.cpp, by what they are about.
//
// Thread: any. Owner: as filesystem.hpp. Units: bytes. Errors: as filesystem.hpp.
#pragma once

#include <mutex>

#include "storage/feedfs/directory_times.hpp"
#include "storage/feedfs/lease_keeper.hpp"
#include "storage/feedfs/writer.hpp"

namespace feedbench::feedfs {

class VolumeFileSystem final : public FileSystem {
  public:
    VolumeFileSystem(VolumeConfig volume, std::vector<std::shared_ptr<Target>> targets,
                     std::shared_ptr<MetadataEngine> metadata, OpenOptions options);
    ~VolumeFileSystem() override;
    VolumeFileSystem(const VolumeFileSystem&) = delete;
    VolumeFileSystem& operator=(const VolumeFileSystem&) = delete;

    const VolumeConfig& volume() const override { return volume_; }
    bool read_only() const override { return options_.read_only; }
    bool renews_lease() const override { return options_.renews_lease; }
    MetadataEngine& metadata() override { return *metadata_; }
    SegmentStore& segments() override { return store_; }
    BlockMemory& memory() override { return memory_; }

    Expected<Inode> root() override;
    Expected<Inode> lookup(InodeId parent, std::string_view name) override;
    Expected<DirectoryRecord> locate_directory(InodeId directory) override;
    Expected<Resolved> resolve(std::string_view path, bool follow_last) override;
    Expected<Resolved> resolve_parent(std::string_view path) override;
    Status read_directory(InodeId directory, std::string_view after, std::size_t limit,
                          std::vector<DirectoryEntry>& entries) override;
    Expected<Inode> make_directory(InodeId parent, std::string_view name, NewEntry entry) override;
    Status make_directories(std::string_view path, NewEntry entry) override;
    Expected<Inode> make_symlink(InodeId parent, std::string_view name, std::string target, NewEntry entry) override;
    Status remove_directory(InodeId parent, std::string_view name) override;
    Status unlink(InodeId parent, std::string_view name) override;
    Status rename(const Rename& names) override;
    Expected<Inode> set_attributes(InodeId parent, std::string_view name, const AttributeChange& change) override;
    Status touch_directory(InodeId directory) override;
    Expected<Space> space() override;

    Expected<std::shared_ptr<ReadFile>> open_read(InodeId parent, std::string_view name) override;
    Expected<std::shared_ptr<ReadFile>> open_read(Inode inode, InodeId parent, std::string_view name) override;
    Expected<std::unique_ptr<Writer>> create(InodeId parent, std::string_view name, WriteOptions options) override;
    std::vector<Status> publish(std::span<Writer* const> writers, Publish how) override;
    Status flush(Writer& writer) override;
    Status sync() override;
    Status seal_idle() override;
    Status renew_lease() override;

    bool verifies() const { return options_.verify; }
    // The entry with all of its extents, of one state.
    Expected<Inode> read_entry(InodeId parent, std::string_view name);

  private:
    // Builds a batch on the state that it is given until one is applied.
    using BuildChange = std::function<Status(ReadView&, Batch&)>;
    Status change(const BuildChange& build);
    Status add_removal(ReadView& view, const std::string& key, const Inode& inode, Batch& batch);
    Status add_directory_removal(ReadView& view, const std::string& key, const Inode& inode, Batch& batch);
    Status require_not_below(ReadView& view, InodeId directory, InodeId moved, Batch& batch);
    Expected<Inode> make_entry(InodeId parent, std::string_view name, Inode inode);
    struct Walk;
    Expected<Resolved> walk(Walk& walk, InodeId start, std::string_view path, bool last_may_be_absent,
                            bool follow_last);
    Expected<Resolved> resolve_directory(std::string_view path);
    Expected<InodeId> new_inode();
    // What is written under one lease.
    struct Writing {
        std::unique_ptr<LeaseKeeper> lease;
        std::unique_ptr<SegmentWriter> segments;
        FileContext context;
    };
    // Takes a lease, at the first file that is created (a volume that is only read shall not be written) and when the
    // last one was lost: what was begun under that one can name nothing, everything after it can.
    Expected<Writing*> begin_writing();
    Writing* writing(); // the last one; nullptr: none yet

    // What one writer changes, for a transaction.
    struct Publication {
        FileWriter* writer = nullptr;
        std::size_t index = 0;      // of the caller's writers
        bool changes_names = false; // of its directory
        std::string key;
        ExtentList added, gone;
        Totals totals;
    };
    Status build_publication(ReadView& view, Publication& publication, Batch& batch, InodeId& directory);
    bool publish_together(Writing& writing, std::span<Publication> publications, Durability durability,
                          std::vector<Status>& results);
    void publish_apart(Writing& writing, std::span<Publication> publications, Durability durability,
                       std::vector<Status>& results);

    const VolumeConfig volume_;
    const OpenOptions options_;
    const std::shared_ptr<MetadataEngine> metadata_;
    BlockMemory memory_;
    SegmentStore store_;
    std::mutex begin_mutex_;
    std::vector<std::unique_ptr<Writing>> writings_; // all but the last have lost their lease; Writers may be left
    std::mutex inode_mutex_;
    InodeId next_inode_ = 0, inodes_end_ = 0;
    std::uint64_t inodes_taken_ = 0; // the last time
};

// 1 to 255 bytes, without '/' and NUL, neither "." nor "..".
Status check_name(std::string_view name);
Error entry_error(const char* operation, std::string_view name, int error, std::string message = {});

// The entry under `key` into `inode`, and its bytes into `value` for require_equals; false: there is none.
Expected<bool> get_entry(ReadView& view, const std::string& key, std::string& value, Inode& inode,
                         InodePart part = InodePart::all);

} // namespace feedbench::feedfs
