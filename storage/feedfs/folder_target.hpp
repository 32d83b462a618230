// What the two kinds of folders that hold segments have in common: names, space, and what is said where the folder is
// missing. Internal to storage/feedfs.
//
// Thread: any. Owner: the SegmentStore. Units: bytes. Errors: as target.hpp; ENODEV where the folder is not there.
#pragma once

#include <string>

#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

class FolderTarget : public Target {
  public:
    const TargetConfig& config() const override { return config_; }
    Status list(const std::function<bool(const std::string&, std::uint64_t)>& each) override;
    Status remove(const std::string& name) override;
    Expected<TargetSpace> space() override;

  protected:
    // `called`: "target 3", "the object tier", for messages.
    FolderTarget(TargetConfig config, std::string folder, std::string called)
        : config_(std::move(config)), folder_(std::move(folder)), called_(std::move(called)) {}
    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    // The error itself, unless what is missing is the whole folder.
    Error missing_or(const char* operation, const std::string& where, int error) const;
    virtual bool is_shown(const std::string& /*name*/) const { return true; } // in lists

  private:
    const TargetConfig config_;
    const std::string folder_, called_;
};

// The name of a file that was made or renamed is on stable storage: its folder is synced.
Status sync_name(const std::string& path);

} // namespace feedbench::feedfs
