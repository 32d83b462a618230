// The folder of checkpoints as rank 0 keeps it: what is committed, room for the next one, what goes away.
//
// Thread: main thread of rank 0, outside measured time but for commit(). Owner: the run. Units: bytes. Errors: no room
// (with the numbers), a damaged list, what the storage says. On storage that keeps nothing (null:, model:) the list
// lives as long as the run.
// Source: DESIGN section 6 (nothing half-written is ever visible); harness/dataset/checkpoint_index.hpp.
#pragma once

#include <functional>

#include "harness/dataset/checkpoint_index.hpp"

namespace feedbench::workloads {

class CheckpointStore {
  public:
    // removes_leftovers: checkpoint.leftovers.
    CheckpointStore(storage::Backend& backend, bool removes_leftovers)
        : backend_(backend), removes_leftovers_(removes_leftovers) {}

    // First: reads what is committed. For writing also makes the folder.
    Status open(bool for_writing);
    const dataset::CheckpointIndex& index() const { return index_; }

    // Whether `count` checkpoints of so many bytes fit, those of `replaced` being overwritten. Storage that does not
    // say is believed.
    Status check_space(std::uint64_t count, std::uint64_t bytes, const std::vector<std::string>& replaced) const;
    // Calls back with the name of every file that the checkpoint will have.
    using ForEachFile = std::function<void(const std::function<void(const std::string& name)>&)>;
    // Before a checkpoint is written: it is taken off the list, files of that name go away, its folder is made, and
    // there is room.
    Status prepare(const std::string& folder, std::uint64_t bytes, const ForEachFile& files);
    // All files are there: from now on the checkpoint can be found.
    Status commit(dataset::CheckpointEntry entry);
    // The same where nothing may block: list_with() is the list to be written under dataset::kCheckpointIndexName by
    // whoever asks, listed() says that this has been done. Nothing else is called in between.
    std::string list_with(dataset::CheckpointEntry entry) const;
    void listed(dataset::CheckpointEntry entry) { index_.add(std::move(entry)); }
    // It did not commit, and nobody writes it any more.
    void abandon(const std::string& folder, const ForEachFile& files);
    // Takes checkpoints off the list and removes them.
    Status remove(const std::string& folder);
    Status keep_newest(std::uint64_t count);
    // keep_newest in two halves: takes the others off the list and answers their names; removes what is left of one.
    Expected<std::vector<std::string>> unlist_all_but(std::uint64_t count);
    Status clear(const std::string& folder) { return keeps() ? remove_listed(folder) : Status{}; }

  private:
    Status save();
    Status remove_listed(const std::string& folder);
    void remove_named(const std::string& folder, const ForEachFile& files);
    bool keeps() const { return backend_.capabilities().has_content; }

    storage::Backend& backend_;
    const bool removes_leftovers_;
    dataset::CheckpointIndex index_;
};

} // namespace feedbench::workloads
