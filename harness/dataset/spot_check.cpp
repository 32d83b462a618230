#include "harness/dataset/spot_check.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "harness/types/random.hpp"

namespace feedbench::dataset {

namespace {

Status check_file(const Storage& storage, const formats::Format& format, const FileShape& expected,
                  const std::string& name) {
    const std::string path = storage.backend.display_path(name);
    Expected<storage::FileStat> stat = storage.backend.stat(name);
    if (!stat) {
        if (stat.error().errno_value != ENOENT && stat.error().errno_value != ENOTDIR) return stat.error();
        return storage_error(
            "stat", path, stat.error().errno_value,
            "the manifest says that this file is there: it was removed, or the data folder is another one");
    }
    if (stat->is_directory)
        return storage_error("stat", path, EISDIR, "a folder lies where the manifest says a file is");
    if (!expected.dims.empty() && format.size_is_known(expected)) {
        const Expected<std::uint64_t> bytes = format.file_bytes(expected);
        if (bytes && *bytes != stat->size_bytes)
            return format_error(path, fmt::format("the file has {} bytes, but the dataset's parameters give it {}",
                                                  stat->size_bytes, *bytes));
    }
    Expected<FileProbe> probe = FileProbe::open(storage, name);
    if (!probe) return probe.error();
    const Expected<FileShape> found = probe->inspect(format, expected);
    if (!found) return found.error();
    if (found->sample_count != expected.sample_count)
        return format_error(
            path, fmt::format("the file holds {} samples, not {}", found->sample_count, expected.sample_count));
    if (!expected.dims.empty() && !found->dims.empty() && found->sample_bytes() != expected.sample_bytes())
        return format_error(path, fmt::format("its samples have {} bytes, but the dataset's parameters give {}",
                                              found->sample_bytes(), expected.sample_bytes()));
    return {};
}

} // namespace

std::vector<std::uint64_t> sample_of_files(std::uint64_t file_count, std::uint64_t count, std::uint64_t seed) {
    std::vector<std::uint64_t> files;
    if (file_count == 0 || count == 0) return files;
    files.push_back(0);
    if (file_count > 1 && count > 1) files.push_back(file_count - 1);
    if (file_count > 2) {
        const Permutation others(file_count - 2, stream_seed(seed, "spot check"));
        for (std::uint64_t i = 0; files.size() < std::min(count, file_count); ++i) files.push_back(1 + others(i));
    }
    std::sort(files.begin(), files.end());
    return files;
}

Status spot_check(Storage storage, const Manifest& manifest, const formats::Format& format, const SpotCheck& check) {
    Expected<DatasetPlan> plan = plan_of(manifest, check.split);
    if (!plan) return plan.error();
    if (check.file_count > plan->file_count())
        return config_error(
            fmt::format("{} files asked, but the dataset has only {}", check.file_count, plan->file_count()),
            check.split == Split::train ? "dataset.num_files_train" : "dataset.num_files_eval");
    SizeCursor cursor(*plan);
    for (const std::uint64_t file : sample_of_files(check.file_count, check.sample_size, check.seed))
        if (Status status = check_file(storage, format, cursor.shape(file), plan->name(file)); !status) return status;
    return {};
}

} // namespace feedbench::dataset
