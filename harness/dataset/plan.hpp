// Names and sizes of a dataset, computed and never listed.
//
// Thread: any after making (const), except SizeCursor (one user). Owner: the workload. Units: bytes.
// Errors: make() refuses what cannot be. Memory does not grow with the number of files (case P10).
// Source: reference.md section 1: names, subfolders (file i lies in i mod n), sizes (sizes_dlio.hpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/types/dataset_plan.hpp"
#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::dataset {

class SizeIndex;
class SizeStream;

// "train" or "valid": the folder of a split.
std::string_view split_folder(Split split);

class DatasetPlan {
  public:
    // Where the sizes of the files are to be had.
    enum class Sizes : std::uint8_t {
        computed, // by the reference generator's formula
        as_found, // of an adopted dataset: only the files know; shape() has no dims
    };
    // `section` describes the dataset as it was made: for a run over a subset (case P11) file counts are those of the
    // manifest.
    static Expected<DatasetPlan> make(const DatasetSection& section, Split split, Sizes sizes = Sizes::computed);

    Split split() const;
    std::uint64_t file_count() const;
    std::uint32_t samples_per_file() const;
    std::uint32_t subfolder_count() const; // 0: files lie in the split's folder itself (asked with 0 or 1)
    // "train/img_007_of_168.npz", "train/1/img_007_of_168.npz"
    std::string name(std::uint64_t file_index) const;
    void name(std::uint64_t file_index, std::string& out) const; // same, without a new allocation
    std::string folder(std::uint32_t subfolder_index) const;     // "train", "train/1"
    // Shape of a file. O(1) for equal sizes or up to 2^20 files; else random access draws up to file_count / 1024 sizes
    // anew: go through in ascending order with a SizeCursor.
    FileShape shape(std::uint64_t file_index) const;
    bool shape_is_cheap() const;
    std::uint64_t
    total_payload_bytes() const;            // sum over all files; computed at first call for varying sizes; 0 as found
    std::uint64_t total_read_bytes() const; // the same, of what is read: of a table, not all columns may be
    std::uint64_t
    content_index(std::uint64_t file_index) const; // file index for generators::Content (valid after train)
    bool sizes_vary() const;
    bool sizes_known() const; // false: as found

  private:
    friend class SizeCursor;
    struct State;
    std::shared_ptr<const State> state_;
};

// Shapes of ascending files (each at least the one before) at the cost of drawing every size once, whatever the file
// count.
class SizeCursor {
  public:
    explicit SizeCursor(DatasetPlan plan);
    ~SizeCursor();
    SizeCursor(SizeCursor&&) noexcept;
    SizeCursor& operator=(SizeCursor&&) noexcept;
    FileShape shape(std::uint64_t file_index); // a step backwards is allowed, and costs a random access

  private:
    DatasetPlan plan_;
    std::unique_ptr<SizeStream> stream_; // nothing where shape() of the plan is O(1)
    std::uint64_t position_ = 0;         // the file whose size the stream gives next
};

} // namespace feedbench::dataset
