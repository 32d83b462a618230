#include <algorithm>
#include <vector>

#include "harness/accelerator/steps_h5.hpp"
#include "harness/accelerator/steps_h5_table.hpp"

namespace feedbench::accelerator {

using formats::hdf5::Handle;
using formats::hdf5::Library;

namespace {

class Table {
  public:
    explicit Table(const std::string& path) : path_(path) {}
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() {
        const Library library;
        (void)table_.close();
        (void)type_.close();
        (void)file_.close();
    }

    Status open() {
        const Library library;
        Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        if (access.is_valid()) H5Pset_file_locking(access.get(), false, true);
        file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
        if (!file_.is_valid()) return fail(library, "is no readable HDF5 file");
        table_ = Handle(H5Dopen2(file_.get(), "steps", H5P_DEFAULT), H5Dclose);
        if (!table_.is_valid()) return fail(library, "holds no table 'steps'");
        type_ = step_type();
        Handle stored(H5Dget_type(table_.get()), H5Tclose);
        if (!type_.is_valid() || !stored.is_valid()) return fail(library, "has an unreadable table");
        if (H5Tget_class(stored.get()) != H5T_COMPOUND) return format_error(path_, "'steps' is not a table");
        for (const StepField& field : kStepFields)
            if (H5Tget_member_index(stored.get(), field.name) < 0)
                return format_error(path_, "table 'steps' has no field " + std::string(field.name));
        Handle space(H5Dget_space(table_.get()), H5Sclose);
        if (!space.is_valid() || H5Sget_simple_extent_ndims(space.get()) != 1)
            return format_error(path_, "table 'steps' does not have one dimension");
        hsize_t count = 0;
        H5Sget_simple_extent_dims(space.get(), &count, nullptr);
        record_count_ = count;
        return {};
    }

    Status read(std::uint64_t first, std::span<StepRecord> out) {
        const Library library;
        const hsize_t begin = first, count = out.size();
        Handle in_memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
        Handle in_file(H5Dget_space(table_.get()), H5Sclose);
        if (!in_memory.is_valid() || !in_file.is_valid() ||
            H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) < 0 ||
            H5Dread(table_.get(), type_.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, out.data()) < 0)
            return fail(library, "record " + std::to_string(first) + " and what follows cannot be read");
        return {};
    }

    std::uint64_t record_count() const { return record_count_; }

  private:
    Error fail(const Library& library, const std::string& message) const {
        return format_error(path_, message + " (libhdf5: " + library.message() + ")");
    }

    std::string path_;
    Handle file_, table_, type_;
    std::uint64_t record_count_ = 0;
};

} // namespace

Expected<std::uint64_t> read_steps(const std::string& path,
                                   const std::function<Status(std::span<const StepRecord>)>& block) {
    Table table(path);
    if (Status opened = table.open(); !opened) return opened.error();
    std::vector<StepRecord> records(kStepsBlockRecords);
    for (std::uint64_t at = 0; at < table.record_count();) {
        const std::span<StepRecord> part(records.data(),
                                         std::min<std::uint64_t>(records.size(), table.record_count() - at));
        if (Status read = table.read(at, part); !read) return read.error();
        if (Status taken = block(part); !taken) return taken.error(); // not under the library's lock
        at += part.size();
    }
    return table.record_count();
}

} // namespace feedbench::accelerator
