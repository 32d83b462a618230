#include "harness/dataset/adopt.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "formats/registry.hpp"
#include "harness/dataset/folder_scan.hpp"
#include "harness/dataset/spot_check.hpp"

namespace feedbench::dataset {

namespace {

// What the files that were looked into have in common, and their bytes.
struct Look {
    FileShape shape; // of the first; every other agrees in samples and element
    std::string first_name;
    std::uint64_t files = 0, payload_bytes = 0, file_bytes = 0;
};

Status look_into(const Storage& storage, const formats::Format& format, const std::string& name, std::uint32_t samples,
                 Look& look) {
    Expected<FileProbe> probe = FileProbe::open(storage, name);
    if (!probe) return probe.error();
    FileShape expected;
    expected.sample_count = std::max(1U, samples);
    Expected<FileShape> shape = probe->inspect(format, expected);
    if (!shape) return shape.error();
    if (look.files == 0) {
        look.shape = *shape;
        look.first_name = name;
    } else if (shape->sample_count != look.shape.sample_count || shape->element_bytes != look.shape.element_bytes ||
               shape->compression != look.shape.compression ||
               shape->record_dataset_count != look.shape.record_dataset_count) {
        return format_error(
            storage.backend.display_path(name),
            fmt::format("{} samples of {}-byte elements, but {} has {} of {}: files of one dataset are alike in this",
                        shape->sample_count, shape->element_bytes, look.first_name, look.shape.sample_count,
                        look.shape.element_bytes));
    }
    ++look.files;
    look.file_bytes += probe->size_bytes();
    // No dims: samples of one file vary in size; then the file's bytes are the nearest to be had.
    look.payload_bytes += shape->dims.empty() ? probe->size_bytes() : shape->payload_bytes();
    return {};
}

std::uint64_t scaled(std::uint64_t bytes, std::uint64_t files, std::uint64_t of_files) {
    if (of_files == files) return bytes;
    return static_cast<std::uint64_t>(static_cast<double>(bytes) / static_cast<double>(of_files) *
                                      static_cast<double>(files));
}

std::string compression_name(FileShape::Compression compression) {
    switch (compression) {
    case FileShape::Compression::none:
        return "none";
    case FileShape::Compression::gzip:
        return "gzip";
    case FileShape::Compression::zip:
        return "zip";
    }
    return "none";
}

// Looks into a bounded sample of a split's files, whose names the section tells.
Expected<Look> look_at_split(const Storage& storage, const formats::Format& format, const DatasetSection& section,
                             Split split, const AdoptRequest& request) {
    Expected<DatasetPlan> plan = DatasetPlan::make(section, split, DatasetPlan::Sizes::as_found);
    if (!plan) return plan.error();
    Look look;
    for (const std::uint64_t file :
         sample_of_files(plan->file_count(), std::max<std::uint64_t>(1, request.sample_size), request.seed))
        if (Status status = look_into(storage, format, plan->name(file), request.samples_per_file, look); !status)
            return status.error();
    return look;
}

void add_notes(const FolderScan& scan, Split split, std::vector<std::string>& notes) {
    if (scan.foreign_count == 0) return;
    std::string names;
    for (const std::string& name : scan.foreign) names += (names.empty() ? "" : ", ") + name;
    notes.push_back(fmt::format("{} names in {}/ are no data files and will not be read: {}{}", scan.foreign_count,
                                split_folder(split), names, scan.foreign_count > scan.foreign.size() ? ", ..." : ""));
}

Error nothing_to_adopt(storage::Backend& backend, const FolderScan& train) {
    const std::string place = backend.display_path("");
    const Expected<storage::FileStat> found = backend.stat("");
    if (found && !found->is_directory) return storage_error("list", place, ENOTDIR, "the data folder is a file");
    if (!found && found.error().errno_value == ENOENT)
        return storage_error("list", place, ENOENT, "there is no such folder");
    const std::string seen = train.foreign.empty() ? ""
                                                   : fmt::format("; found {} other names, for instance {}",
                                                                 train.foreign_count, train.foreign[0]);
    return storage_error(
        "list", backend.display_path("train"), 0,
        fmt::format("no data to adopt: no names like img_007_of_168.npz in {}{}", backend.display_path("train"), seen));
}

} // namespace

Expected<Adoption> adopt(Storage storage, const AdoptRequest& request) {
    Expected<FolderScan> train = scan_split(storage.backend, Split::train, storage.reactor);
    if (!train) return train.error();
    if (train->file_count == 0) return nothing_to_adopt(storage.backend, *train);
    Expected<FolderScan> valid = scan_split(storage.backend, Split::valid, storage.reactor);
    if (!valid) return valid.error();
    if (valid->file_count > 0 && (valid->prefix != train->prefix || valid->format != train->format))
        return format_error(storage.backend.display_path("valid"),
                            fmt::format("train/ holds {}_*.{}, but valid/ holds {}_*.{}", train->prefix, train->format,
                                        valid->prefix, valid->format));
    Expected<const formats::Format*> format = formats::find_format(train->format);
    if (!format) return format.error();

    Adoption adoption;
    add_notes(*train, Split::train, adoption.notes);
    add_notes(*valid, Split::valid, adoption.notes);
    Manifest& manifest = adoption.manifest;
    DatasetSection& section = manifest.dataset;
    manifest.generator = kAdopted;
    manifest.state = Manifest::State::complete;
    section.format = train->format;
    section.file_prefix = train->prefix;
    section.num_files_train = train->file_count;
    section.num_subfolders_train = train->subfolder_count;
    section.num_files_eval = valid->file_count;
    section.num_subfolders_eval = valid->subfolder_count;

    Expected<Look> look = look_at_split(storage, **format, section, Split::train, request);
    if (!look) return look.error();
    if (look->shape.sample_count == 0)
        return format_error(storage.backend.display_path(look->first_name), "a file without samples");
    section.num_samples_per_file = look->shape.sample_count;
    section.record_element_bytes = look->shape.element_bytes;
    section.parquet_row_group_size = look->shape.row_group_rows;
    section.compression = compression_name(look->shape.compression);
    section.num_dset_per_record = std::max(1U, look->shape.record_dataset_count);
    section.record_length_bytes =
        static_cast<double>(look->payload_bytes) / static_cast<double>(look->files) / look->shape.sample_count;
    manifest.train = {scaled(look->payload_bytes, train->file_count, look->files),
                      scaled(look->file_bytes, train->file_count, look->files)};
    manifest.totals_measured = look->files == train->file_count;
    if (valid->file_count > 0) {
        Expected<Look> look_valid = look_at_split(storage, **format, section, Split::valid, request);
        if (!look_valid) return look_valid.error();
        section.num_samples_per_file_eval = look_valid->shape.sample_count;
        manifest.valid = {scaled(look_valid->payload_bytes, valid->file_count, look_valid->files),
                          scaled(look_valid->file_bytes, valid->file_count, look_valid->files)};
        manifest.totals_measured = manifest.totals_measured && look_valid->files == valid->file_count;
    }
    return adoption;
}

} // namespace feedbench::dataset
