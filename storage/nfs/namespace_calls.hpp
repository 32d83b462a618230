// Everything about names that is outside measured time: libnfs's blocking calls on a connection of their own.
//
// Thread: reactor thread; blocks, at most for Settings::timeout_ns where the server is silent. Owner: the backend.
// Units: bytes. Errors: storage_error with operation, path as the user would write it, errno. Source: libnfs.h.
// Listing holds one folder's names in memory: libnfs fetches them at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "storage/nfs/address.hpp"

struct nfs_context;

namespace feedbench::storage::nfs {

class NamespaceCalls {
  public:
    // Mounts `exported`. Ports: 0 = the portmapper is asked.
    static Expected<std::unique_ptr<NamespaceCalls>> make(const Settings& settings, std::string exported,
                                                          std::uint16_t nfs_port, std::uint16_t mount_port);
    ~NamespaceCalls();
    NamespaceCalls(const NamespaceCalls&) = delete;
    NamespaceCalls& operator=(const NamespaceCalls&) = delete;

    struct Found {
        std::uint64_t size_bytes = 0;
        bool is_directory = false;
    };
    struct Space {
        std::uint64_t free_bytes = 0, total_bytes = 0, free_inodes = 0, filesystem_id = 0;
    };
    // The server is gone: what would only tidy up (remove in destructors) is not tried any more.
    void give_up() { gave_up_ = true; }
    bool gave_up() const { return gave_up_; }

    std::uint64_t read_most_bytes() const; // of one request, as the server says
    std::uint64_t write_most_bytes() const;

    // Paths are relative to the mounted folder; `shown` is what errors call them.
    Expected<Found> stat(const std::string& path, const std::string& shown);
    // Temporary names included; "." and ".." are not.
    Status list(const std::string& path, const std::string& shown,
                const std::function<bool(std::string_view, bool)>& each);
    Status make_directories(const std::string& path, const std::string& shown);
    Status remove(const std::string& path, const std::string& shown); // a file or an empty folder
    Status rename(const std::string& from, const std::string& to, const std::string& shown);
    // Made new, written and on stable storage.
    Status write(const std::string& path, std::span<const std::byte> content, const std::string& shown);
    Expected<std::string> read(const std::string& path, std::uint64_t limit_bytes, const std::string& shown);
    Expected<Space> space(const std::string& path, const std::string& shown);

  private:
    NamespaceCalls() = default;
    Error failed(const char* operation, const std::string& shown, int result) const;
    nfs_context* nfs_ = nullptr;
    bool gave_up_ = false;
};

// A context with everything that Settings says, not mounted yet; nullptr: no memory.
nfs_context* make_context(const Settings& settings, std::uint16_t nfs_port, std::uint16_t mount_port);

} // namespace feedbench::storage::nfs
