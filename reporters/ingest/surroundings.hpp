// What lies around a run folder and says something about it: the submitter's report, the system description, the names
// of the folders above.
//
// Thread: one. Owner: ingest(); every file is read once. Units: as in ingested_run.hpp. Errors: a file that is broken
// becomes one Problem, and what it would have said stays unknown. Source: corpus README (layouts, oddities).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reporters/ingest/ingested_run.hpp"
#include "reporters/ingest/report_v3.hpp"

namespace feedbench::ingest {

// mlperf_storage_report.json of edition 1.0.
struct Report {
    std::string path, model, accelerator;
    std::optional<double> accelerator_count, mean_samples_per_second;
    std::vector<double> run_samples_per_second;
    bool has_run(double samples_per_second) const;
};

// Where a run folder lies in a submission tree. Empty: not in one.
struct Place {
    std::string submitter, division;
    std::string system_folder;           // first folder below results/
    std::filesystem::path results, root; // the results folder, and the submitter's folder above it
    std::vector<std::string> names;      // folders from below the submitter to the run
};
Place place_of(const std::filesystem::path& run_folder);

class Surroundings {
  public:
    explicit Surroundings(std::vector<Problem>& problems) : problems_(problems) {}

    // The nearest report above that knows the run by its rate; else the nearest with as many accelerators.
    const Report* report_of(const std::filesystem::path& run_folder, double samples_per_second,
                            double accelerator_count);
    // Reads a report for its defects' sake, and for later.
    const Report* report(const std::filesystem::path& path);
    // The row for a run in the results.json beside its folder (edition 3.0); nullptr: none.
    const ReportRow* row_of(const std::filesystem::path& run_folder, Kind kind, double accelerator_count);
    // Reads a results.json; nullptr: it is broken.
    const std::vector<ReportRow>* list(const std::filesystem::path& path);
    // The description of the system that a run was made on; nullptr: none, or none that can be told apart.
    const SystemDescription* description_of(const Place& place);
    const SystemDescription* description(const std::filesystem::path& path);

  private:
    std::vector<const SystemDescription*> descriptions_in(const std::filesystem::path& folder);
    std::vector<Problem>& problems_;
    std::map<std::filesystem::path, std::unique_ptr<Report>> reports_;
    std::map<std::filesystem::path, std::unique_ptr<std::vector<ReportRow>>> lists_;
    std::map<std::filesystem::path, std::unique_ptr<SystemDescription>> descriptions_;
    std::map<std::filesystem::path, std::vector<const SystemDescription*>> folders_;
};

} // namespace feedbench::ingest
