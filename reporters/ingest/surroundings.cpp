#include "reporters/ingest/surroundings.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <system_error>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/ingest/system_description.hpp"

namespace feedbench::ingest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kLevelsUp = 6; // runs/runN/<client>/ below a configuration's folder below the report's

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

fs::path plain(const fs::path& path) {
    std::error_code ignored;
    fs::path whole = fs::absolute(path, ignored).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

std::unique_ptr<Report> parse_report(const json& file, const std::string& path) {
    auto report = std::make_unique<Report>();
    report->path = path;
    const json& overall = member(file, "overall");
    report->model = model_name(text_at(overall, "model"));
    report->accelerator = accelerator_name(text_at(overall, "accelerator"));
    report->accelerator_count = number_at(overall, "train_num_accelerators");
    report->mean_samples_per_second = number_at(overall, "train_throughput_mean_samples_per_second");
    const json& runs = member(file, "runs");
    if (runs.is_object())
        for (const auto& run : runs)
            if (const auto rate = number_at(run, "train_throughput_samples_per_second"))
                report->run_samples_per_second.push_back(*rate);
    return report;
}

} // namespace

bool Report::has_run(double samples_per_second) const {
    return std::any_of(run_samples_per_second.begin(), run_samples_per_second.end(),
                       [&](double one) { return std::abs(one - samples_per_second) <= 1e-9 * std::abs(one); });
}

Place place_of(const fs::path& run_folder) {
    Place place;
    const fs::path whole = plain(run_folder);
    std::vector<fs::path> above; // from the run folder upwards
    for (fs::path at = whole; at.has_filename(); at = at.parent_path()) above.push_back(at);
    // The outermost folder called results that a submitter's folder can be around, next to systems or in a division.
    for (std::size_t i = 1; i + 1 < above.size(); ++i) {
        if (lower(above[i].filename().string()) != "results") continue;
        std::string division;
        for (std::size_t k = i + 1; k < above.size() && division.empty(); ++k)
            if (const std::string name = lower(above[k].filename().string()); name == "closed" || name == "open")
                division = name;
        std::error_code ignored;
        if (division.empty() && !fs::is_directory(above[i + 1] / "systems", ignored)) continue;
        place.division = division;
        place.results = above[i];
        place.root = above[i + 1];
        place.submitter = place.root.filename().string();
        place.names.clear();
        for (std::size_t k = i; k-- > 0;) place.names.push_back(above[k].filename().string());
        const std::string first = lower(place.names.front());
        place.system_folder = first == "training" || first == "checkpointing" ? "" : place.names.front();
    }
    return place;
}

const Report* Surroundings::report(const fs::path& path) {
    const fs::path whole = plain(path);
    if (const auto known = reports_.find(whole); known != reports_.end()) return known->second.get();
    auto& slot = reports_[whole];
    auto file = read_json(whole);
    if (!file) {
        problems_.push_back({whole.string(), file.error().message, "the report as the reference tool writes it"});
    } else if (!member(file->value, "overall").is_object()) {
        problems_.push_back({whole.string(), "there is no key 'overall'", "a report with 'overall' and 'runs'"});
    } else {
        if (!file->repairs.empty())
            problems_.push_back({whole.string(), file->repairs, "valid JSON; read after a repair", true});
        slot = parse_report(file->value, whole.string());
    }
    return slot.get();
}

const Report* Surroundings::report_of(const fs::path& run_folder, double samples_per_second, double accelerator_count) {
    const Report* same_size = nullptr;
    const fs::path stop = place_of(run_folder).results;
    fs::path at = plain(run_folder);
    for (int level = 0; level <= kLevelsUp && at.has_filename(); ++level, at = at.parent_path()) {
        if (is_file(at / "mlperf_storage_report.json")) {
            const Report* one = report(at / "mlperf_storage_report.json");
            if (one != nullptr && one->has_run(samples_per_second)) return one;
            if (one != nullptr && same_size == nullptr && !stop.empty() && one->accelerator_count &&
                *one->accelerator_count == accelerator_count)
                same_size = one;
        }
        if (at == stop) break;
    }
    return same_size;
}

const std::vector<ReportRow>* Surroundings::list(const fs::path& path) {
    const fs::path whole = plain(path);
    if (const auto known = lists_.find(whole); known != lists_.end()) return known->second.get();
    auto& slot = lists_[whole];
    auto file = read_json(whole);
    auto rows = file ? parse_report_v3(file->value, whole.string()) : Expected<std::vector<ReportRow>>(file.error());
    if (rows)
        slot = std::make_unique<std::vector<ReportRow>>(std::move(*rows));
    else
        problems_.push_back({whole.string(), rows.error().message, "the list of rows of the 3.0 report tool"});
    return slot.get();
}

const ReportRow* Surroundings::row_of(const fs::path& run_folder, Kind kind, double accelerator_count) {
    const fs::path path = plain(run_folder).parent_path() / "results.json";
    const std::vector<ReportRow>* rows = is_file(path) ? list(path) : nullptr;
    if (rows == nullptr) return nullptr;
    for (const ReportRow& row : *rows)
        if (row.kind == kind && (!row.accelerator_count || *row.accelerator_count == accelerator_count)) return &row;
    return nullptr;
}

const SystemDescription* Surroundings::description(const fs::path& path) {
    const fs::path whole = plain(path);
    if (const auto known = descriptions_.find(whole); known != descriptions_.end()) return known->second.get();
    auto& slot = descriptions_[whole];
    auto read = read_system_description(whole, problems_);
    if (read) slot = std::make_unique<SystemDescription>(std::move(*read));
    return slot.get();
}

std::vector<const SystemDescription*> Surroundings::descriptions_in(const fs::path& folder) {
    const fs::path whole = plain(folder);
    if (const auto known = folders_.find(whole); known != folders_.end()) return known->second;
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator it(whole, error); !error && it != fs::directory_iterator(); it.increment(error)) {
        const std::string name = lower(it->path().filename().string());
        if (name.starts_with(".")) continue;
        if (name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml")) paths.push_back(it->path());
    }
    std::sort(paths.begin(), paths.end());
    auto& all = folders_[whole];
    for (const fs::path& path : paths)
        if (const SystemDescription* one = description(path)) all.push_back(one);
    return all;
}

const SystemDescription* Surroundings::description_of(const Place& place) {
    if (place.results.empty()) return nullptr;
    std::vector<const SystemDescription*> all = descriptions_in(place.root / "systems");
    if (!place.system_folder.empty()) {
        for (const SystemDescription* one : descriptions_in(place.results / place.system_folder / "systems"))
            all.push_back(one);
    }
    for (const SystemDescription* one : all)
        if (lower(fs::path(one->path).stem().string()) == lower(place.system_folder)) return one;
    return all.size() == 1 ? all.front() : nullptr;
}

} // namespace feedbench::ingest
