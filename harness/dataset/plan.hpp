// Names and sizes of a dataset, computed and never listed.
//
// Thread: any after making (const), except SizeCursor (one user). Owner: the workload. Units: bytes.
// Errors: make() refuses what cannot be. Memory does not grow with the number of files (case P10).
// Source: reference.md section 1: names, subfolders (file i lies in i mod n), sizes (sizes_dlio.hpp).
#pragma once

#include <memory>
#include <string>

#include "harness/types/dataset_plan.hpp"
#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::dataset {

class DatasetPlan {
  public:
    // `section` describes the dataset as it was made: for a run over a subset (case P11) file counts are those of the manifest.
    static Expected<DatasetPlan> make(const DatasetSection& section, Split split);

    Split split() const;
    std::uint64_t file_count() const;
    std::uint32_t samples_per_file() const;
    // "train/img_007_of_168.npz", "train/1/img_007_of_168.npz"
    std::string name(std::uint64_t file_index) const;
    void name(std::uint64_t file_index, std::string& out) const; // same, without a new allocation
    std::string side_name(std::uint64_t file_index) const;       // tfrecord: "index/train/<name>.idx"
    // Shape of a file. Random access costs up to one regeneration window; go through in ascending order with a SizeCursor.
    FileShape shape(std::uint64_t file_index) const;
    std::uint64_t total_payload_bytes() const; // sum over all files; computed at first call for varying sizes
    std::uint64_t content_index(std::uint64_t file_index) const; // file index for generators::Content (valid after train)
    bool sizes_vary() const;

  private:
    friend class SizeCursor;
    struct State;
    std::shared_ptr<const State> state_;
};

} // namespace feedbench::dataset
