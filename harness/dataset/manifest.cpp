#include "harness/dataset/manifest.hpp"

#include <cerrno>
#include <cmath>

#include <fmt/format.h>

#include "harness/dataset/json_members.hpp"
#include "harness/types/units.hpp"

namespace feedbench::dataset {

namespace {

constexpr std::uint64_t kLargestManifest = 1 * kMiB;

// The one list of what defines a dataset: key in the file, member. Written, read and walked in this order.
template <class Section, class Visit>
void for_each_parameter(Section& s, Visit&& visit) {
    visit("format", s.format);
    visit("file_prefix", s.file_prefix);
    visit("num_files_train", s.num_files_train);
    visit("num_files_eval", s.num_files_eval);
    visit("num_samples_per_file", s.num_samples_per_file);
    visit("num_samples_per_file_eval", s.num_samples_per_file_eval);
    visit("num_subfolders_train", s.num_subfolders_train);
    visit("num_subfolders_eval", s.num_subfolders_eval);
    visit("record_length_bytes", s.record_length_bytes);
    visit("record_length_bytes_stdev", s.record_length_bytes_stdev);
    visit("record_dims", s.record_dims);
    visit("record_element_bytes", s.record_element_bytes);
    visit("record_element_type", s.record_element_type);
    visit("compression", s.compression);
    visit("compression_level", s.compression_level);
    visit("num_dset_per_record", s.num_dset_per_record);
    visit("chunk_dims", s.chunk_dims);
    visit("max_shape", s.max_shape);
    visit("seed", s.seed);
    visit("compress_percent", s.compress_percent);
    visit("dedupe_percent", s.dedupe_percent);
}

// Of a parquet dataset only: manifests of others have no such member.
Json parquet_json(const DatasetSection& s) {
    Json columns = Json::array();
    for (const TableColumn& c : s.parquet_columns)
        columns.push_back({{"name", c.name}, {"dtype", c.dtype}, {"size", c.size}});
    return {{"row_group_size", s.parquet_row_group_size}, {"columns", columns}};
}

bool take_parquet(const Json& dataset, DatasetSection& s) {
    const auto found = dataset.find("parquet");
    if (found == dataset.end() || !take(*found, "row_group_size", s.parquet_row_group_size)) return false;
    const auto columns = found->find("columns");
    if (columns == found->end() || !columns->is_array()) return false;
    for (const Json& one : *columns) {
        TableColumn& c = s.parquet_columns.emplace_back();
        if (!take(one, "name", c.name) || !take(one, "dtype", c.dtype) || !take(one, "size", c.size) ||
            row_bytes(c) == 0)
            return false;
    }
    return s.parquet_row_group_size > 0;
}

Json totals_json(std::uint64_t files, const SplitTotals& totals) {
    return {{"files", files}, {"payload_bytes", totals.payload_bytes}, {"file_bytes", totals.file_bytes}};
}

} // namespace

bool Manifest::is_adopted() const { return generator == kAdopted; }

std::string to_json(const Manifest& manifest) {
    Json dataset = Json::object();
    for_each_parameter(manifest.dataset, [&](const char* key, const auto& value) { dataset[key] = value; });
    if (manifest.dataset.format == "parquet") dataset["parquet"] = parquet_json(manifest.dataset);
    const Json json = {{"schema_version", kManifestVersion},
                       {"generator", manifest.generator},
                       {"state", manifest.state == Manifest::State::complete ? "complete" : "in_progress"},
                       {"content_version", manifest.content_version},
                       {"dataset", dataset},
                       {"totals",
                        {{"measured", manifest.totals_measured},
                         {"train", totals_json(manifest.dataset.num_files_train, manifest.train)},
                         {"valid", totals_json(manifest.dataset.num_files_eval, manifest.valid)}}}};
    // A prefix may hold bytes that are no UTF-8; such a manifest must not end the process.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<Manifest> parse_manifest(std::string_view text, const std::string& path) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return format_error(path, "this is not a manifest: no JSON object");
    const auto wrong = [&](const std::string& key) {
        return format_error(path, fmt::format("damaged manifest: '{}' is missing or not what it must be", key));
    };
    int version = 0;
    if (!take(json, "schema_version", version)) return wrong("schema_version");
    if (version != kManifestVersion)
        return format_error(path, fmt::format("manifest of version {}, but this feedbench reads version {}", version,
                                              kManifestVersion));
    Manifest manifest;
    std::string state;
    if (!take(json, "generator", manifest.generator)) return wrong("generator");
    if (!take(json, "state", state) || (state != "complete" && state != "in_progress")) return wrong("state");
    manifest.state = state == "complete" ? Manifest::State::complete : Manifest::State::in_progress;
    if (!take(json, "content_version", manifest.content_version)) return wrong("content_version");

    const auto dataset = json.find("dataset");
    if (dataset == json.end() || !dataset->is_object()) return wrong("dataset");
    std::string first_wrong;
    for_each_parameter(manifest.dataset, [&](const char* key, auto& value) {
        if (!take(*dataset, key, value) && first_wrong.empty()) first_wrong = key;
    });
    if (!first_wrong.empty()) return wrong("dataset." + first_wrong);
    if (manifest.dataset.format == "parquet" && !take_parquet(*dataset, manifest.dataset))
        return wrong("dataset.parquet");

    const auto totals = json.find("totals");
    if (totals == json.end() || !totals->is_object()) return wrong("totals");
    if (!take(*totals, "measured", manifest.totals_measured)) return wrong("totals.measured");
    for (const auto& [key, split] : {std::pair{"train", &manifest.train}, std::pair{"valid", &manifest.valid}}) {
        const auto found = totals->find(key);
        if (found == totals->end() || !found->is_object() || !take(*found, "payload_bytes", split->payload_bytes) ||
            !take(*found, "file_bytes", split->file_bytes))
            return wrong(std::string("totals.") + key);
    }
    return manifest;
}

Expected<Manifest> read_manifest(storage::Backend& backend) {
    const std::string folder = backend.display_path("");
    const std::string path(kManifestName);
    Expected<std::string> text = backend.read_file(path, kLargestManifest);
    if (text) return parse_manifest(*text, backend.display_path(path));
    const int reason = text.error().errno_value;
    if (reason != ENOENT && reason != ENOTDIR) return text.error();
    // Nothing there: say what is there instead. An object store knows no folders, so that stat may be no help.
    const Expected<storage::FileStat> found = backend.stat("");
    if (reason == ENOTDIR || (found && !found->is_directory))
        return storage_error("open", folder, ENOTDIR, "the data folder is a file");
    if (!found && found.error().errno_value == ENOENT)
        return storage_error(
            "open", folder, ENOENT,
            fmt::format("no dataset at {}: there is no such folder; run `feedbench datagen` with the same workload and "
                        "data folder first",
                        folder));
    return storage_error(
        "open", backend.display_path(path), ENOENT,
        fmt::format(
            "no dataset at {}: there is no {}; run `feedbench datagen` first, or `feedbench adopt` where another "
            "tool wrote the data",
            folder, kManifestName));
}

Status write_manifest(storage::Backend& backend, const Manifest& manifest) {
    const std::string text = to_json(manifest);
    return backend.write_file(std::string(kManifestName), std::as_bytes(std::span(text)));
}

Expected<DatasetPlan> plan_of(const Manifest& manifest, Split split) {
    return DatasetPlan::make(manifest.dataset, split,
                             manifest.is_adopted() ? DatasetPlan::Sizes::as_found : DatasetPlan::Sizes::computed);
}

} // namespace feedbench::dataset
