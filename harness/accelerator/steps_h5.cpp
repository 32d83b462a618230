#include "harness/accelerator/steps_h5.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "harness/accelerator/steps_h5_table.hpp"

namespace feedbench::accelerator {

using formats::hdf5::Handle;
using formats::hdf5::Library;

namespace {

// The library tells the system's error only in words: "... errno = 28, error message = ...".
Error library_error(const Library& library, const std::string& operation, const std::string& path) {
    const std::string message = library.message();
    const std::size_t at = message.find("errno = ");
    const int number = at == std::string::npos ? 0 : std::atoi(message.c_str() + at + 8);
    return storage_error(operation, path, number, "libhdf5: " + message);
}

bool put_attribute(const Handle& file, const char* name, hid_t type, const void* value) {
    Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    Handle attribute(H5Acreate2(file.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    return attribute.is_valid() && H5Awrite(attribute.get(), type, value) >= 0;
}

bool put_text(const Handle& file, const char* name, const std::string& text) {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    return H5Tset_size(type.get(), text.size() + 1) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0 &&
           put_attribute(file, name, type.get(), text.c_str());
}

// Records are written by whole chunks: a cache of chunks would only hold them back, and be lost where a write fails.
Handle create_table(const Handle& file, const Handle& type) {
    const hsize_t empty = 0, unlimited = H5S_UNLIMITED, chunk = kStepsBlockRecords;
    Handle space(H5Screate_simple(1, &empty, &unlimited), H5Sclose);
    Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose), access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    if (!space.is_valid() || !creation.is_valid() || !access.is_valid() ||
        H5Pset_chunk(creation.get(), 1, &chunk) < 0 || H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER) < 0 ||
        H5Pset_chunk_cache(access.get(), 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT) < 0)
        return {};
    return {H5Dcreate2(file.get(), "steps", type.get(), space.get(), H5P_DEFAULT, creation.get(), access.get()),
            H5Dclose};
}

// Locks of the library's own are refused by some shared filesystems, and nobody else writes this name.
Handle unlocked_access() {
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (access.is_valid()) H5Pset_file_locking(access.get(), false, true);
    return access;
}

Status sync(const std::string& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0) return storage_error("open", path, errno);
    const int failed = ::fsync(descriptor) == 0 ? 0 : errno;
    ::close(descriptor);
    if (failed != 0) return storage_error("fsync", path, failed);
    return {};
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

} // namespace

struct StepsFile::State {
    StepsDescription description;
    std::string partial;
    Handle file, table, type;
    std::vector<StepRecord> buffer;
    std::uint64_t written_count = 0;
    bool failed = false, closed = false;

    bool create() {
        Handle access = unlocked_access();
        file = Handle(H5Fcreate(partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
        if (!file.is_valid()) return false;
        type = step_type();
        if (!type.is_valid()) return false;
        table = create_table(file, type);
        return table.is_valid() && put_attribute(file, "schema_version", H5T_NATIVE_UINT32, &kStepsSchemaVersion) &&
               put_attribute(file, "time_origin_unix_ns", H5T_NATIVE_INT64, &description.time_origin_unix_ns) &&
               put_text(file, "run_id", description.run_id);
    }

    bool write_buffer() {
        const hsize_t begin = written_count, count = buffer.size(), end = begin + count;
        if (count == 0) return true;
        if (H5Dset_extent(table.get(), &end) < 0) return false;
        Handle in_memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
        Handle in_file(H5Dget_space(table.get()), H5Sclose);
        if (!in_memory.is_valid() || !in_file.is_valid() ||
            H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) < 0 ||
            H5Dwrite(table.get(), type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, buffer.data()) < 0)
            return false;
        written_count = end;
        buffer.clear();
        return true;
    }
};

StepsFile::StepsFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

StepsFile::~StepsFile() {
    if (state_->closed) return;
    {
        const Library library;
        (void)state_->table.close();
        (void)state_->type.close();
        (void)state_->file.close();
    }
    ::unlink(state_->partial.c_str());
}

Expected<std::unique_ptr<StepsFile>> StepsFile::create(const StepsDescription& description) {
    auto state = std::make_unique<State>();
    state->description = description;
    state->partial = description.path + ".partial";
    state->buffer.reserve(kStepsBlockRecords);
    std::unique_ptr<StepsFile> steps(
        new StepsFile(std::move(state))); // takes the partial file with it where this fails
    const Library library;
    if (steps->state_->create()) return steps;
    return library_error(library, "create", description.path);
}

Status StepsFile::append(std::span<const StepRecord> records) {
    State& state = *state_;
    if (state.failed || state.closed) return internal_error("step records given to a file that is closed or failed");
    while (!records.empty()) {
        const std::size_t room = kStepsBlockRecords - state.buffer.size();
        const auto part = records.first(std::min(room, records.size()));
        state.buffer.insert(state.buffer.end(), part.begin(), part.end());
        records = records.subspan(part.size());
        if (state.buffer.size() < kStepsBlockRecords) break;
        const Library library;
        if (state.write_buffer()) continue;
        state.failed = true;
        return library_error(library, "write", state.description.path);
    }
    return {};
}

Status StepsFile::close() {
    State& state = *state_;
    if (state.failed || state.closed) return internal_error("a steps file was closed that is closed or failed");
    state.failed = true; // until the end is reached
    {
        const Library library;
        if (!state.write_buffer() || !state.table.close() || !state.type.close() || !state.file.close())
            return library_error(library, "write", state.description.path);
    }
    if (Status synced = sync(state.partial, O_RDWR); !synced) return synced;
    if (std::rename(state.partial.c_str(), state.description.path.c_str()) != 0)
        return storage_error("rename", state.description.path, errno);
    state.failed = false;
    state.closed = true;
    return sync(folder_of(state.description.path), O_RDONLY | O_DIRECTORY);
}

std::uint64_t StepsFile::record_count() const { return state_->written_count + state_->buffer.size(); }

} // namespace feedbench::accelerator
