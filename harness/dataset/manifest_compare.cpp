// Is the dataset that lies there the one that the workload asks for? (the other half of manifest.hpp)
#include <fmt/format.h>

#include "harness/dataset/manifest.hpp"

namespace feedbench::dataset {

namespace {

std::string text_of(const std::string& value) { return value.empty() ? "\"\"" : value; }
std::string text_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string text_of(std::uint32_t value) { return fmt::format("{}", value); }
std::string text_of(int value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(const std::vector<std::uint64_t>& value) {
    std::string text = "[";
    for (const std::uint64_t item : value) text += (text.size() > 1 ? ", " : "") + text_of(item);
    return text + "]";
}

class Comparison {
  public:
    template <class T>
    void equal(const char* key, const T& found, const T& asked) {
        if (found != asked) mismatches.push_back({std::string("dataset.") + key, text_of(found), text_of(asked)});
    }
    void at_most(const char* key, std::uint64_t found, std::uint64_t asked) {
        if (asked > found) mismatches.push_back({std::string("dataset.") + key, text_of(found), text_of(asked)});
    }
    std::vector<Mismatch> mismatches;
};

std::string text_of(const TableColumn& c) { return fmt::format("{} ({} x {})", c.name, c.size, c.dtype); }

// Which of them are read is the run's own choice.
void compare_columns(Comparison& c, const std::vector<TableColumn>& found, const std::vector<TableColumn>& asked) {
    if (found.size() != asked.size())
        return c.mismatches.push_back({"dataset.parquet.columns", fmt::format("{} columns", found.size()),
                                       fmt::format("{} columns", asked.size())});
    for (std::size_t i = 0; i < found.size(); ++i) {
        TableColumn mine = asked[i];
        mine.is_read = found[i].is_read;
        if (!(mine == found[i]))
            return c.mismatches.push_back(
                {fmt::format("dataset.parquet.columns[{}]", i), text_of(found[i]), text_of(asked[i])});
    }
}

std::uint32_t subfolders(std::uint32_t asked) { return asked > 1 ? asked : 0; } // 1 means none, as in the reference

std::uint32_t samples_eval(const DatasetSection& s) {
    return s.num_samples_per_file_eval == 0 ? s.num_samples_per_file : s.num_samples_per_file_eval;
}

} // namespace

std::vector<Mismatch> compare(const Manifest& manifest, const DatasetSection& asked) {
    const DatasetSection& found = manifest.dataset;
    Comparison c;
    c.equal("format", found.format, asked.format);
    c.equal("file_prefix", found.file_prefix, asked.file_prefix);
    c.at_most("num_files_train", found.num_files_train, asked.num_files_train);
    c.at_most("num_files_eval", found.num_files_eval, asked.num_files_eval);
    c.equal("num_subfolders_train", subfolders(found.num_subfolders_train), subfolders(asked.num_subfolders_train));
    c.equal("num_samples_per_file", found.num_samples_per_file, asked.num_samples_per_file);
    if (asked.num_files_eval > 0) {
        c.equal("num_subfolders_eval", subfolders(found.num_subfolders_eval), subfolders(asked.num_subfolders_eval));
        c.equal("num_samples_per_file_eval", samples_eval(found), samples_eval(asked));
    }
    c.equal("compression", found.compression, asked.compression);
    if (manifest.is_adopted()) return c.mismatches;

    c.equal("record_dims", found.record_dims, asked.record_dims);
    const bool is_table = !found.parquet_columns.empty() || !asked.parquet_columns.empty();
    if (found.record_dims.empty() && asked.record_dims.empty() && !is_table) { // of a table: what the run reads
        c.equal("record_length_bytes", found.record_length_bytes, asked.record_length_bytes);
        c.equal("record_length_bytes_stdev", found.record_length_bytes_stdev, asked.record_length_bytes_stdev);
    }
    c.equal("record_element_bytes", found.record_element_bytes, asked.record_element_bytes);
    c.equal("record_element_type", found.record_element_type, asked.record_element_type);
    if (found.compression != "none" && asked.compression != "none")
        c.equal("compression_level", found.compression_level, asked.compression_level);
    if (asked.format == "hdf5") {
        c.equal("num_dset_per_record", found.num_dset_per_record, asked.num_dset_per_record);
        c.equal("chunk_dims", found.chunk_dims, asked.chunk_dims);
        c.equal("max_shape", found.max_shape, asked.max_shape);
    }
    if (asked.format == "parquet") {
        c.equal("parquet.row_group_size", found.parquet_row_group_size, asked.parquet_row_group_size);
        compare_columns(c, found.parquet_columns, asked.parquet_columns);
    }
    c.equal("seed", found.seed, asked.seed);
    c.equal("compress_percent", found.compress_percent, asked.compress_percent);
    c.equal("dedupe_percent", found.dedupe_percent, asked.dedupe_percent);
    return c.mismatches;
}

std::vector<Mismatch> compare_to_resume(const Manifest& manifest, const DatasetSection& asked, int content_version) {
    Comparison c;
    if (asked.num_files_train < manifest.dataset.num_files_train)
        c.equal("num_files_train", manifest.dataset.num_files_train, asked.num_files_train);
    if (asked.num_files_eval < manifest.dataset.num_files_eval)
        c.equal("num_files_eval", manifest.dataset.num_files_eval, asked.num_files_eval);
    std::vector<Mismatch> all = compare(manifest, asked); // names what is more
    all.insert(all.begin(), c.mismatches.begin(), c.mismatches.end());
    if (manifest.content_version != content_version && !manifest.is_adopted())
        all.push_back({"content_version", text_of(manifest.content_version), text_of(content_version)});
    return all;
}

Status check_manifest(const Manifest& manifest, const DatasetSection& asked, const std::string& place) {
    if (manifest.state != Manifest::State::complete)
        return config_error(
            fmt::format(
                "the dataset at {} is not complete: its datagen was interrupted; run it again, it goes on where it "
                "stopped",
                place),
            "dataset.data_folder");
    std::string text;
    for (const Mismatch& m : compare(manifest, asked))
        text += fmt::format("{}{}: found {}, asked {}", text.empty() ? "" : "; ", m.key, m.found, m.asked);
    if (text.empty()) return {};
    return config_error(fmt::format("the dataset at {} is not the one that the workload asks for: {}", place, text),
                        "dataset.data_folder");
}

} // namespace feedbench::dataset
