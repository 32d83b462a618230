// Rules on what lies around the runs of a submitter.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <system_error>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/submission/description.hpp"
#include "reporters/submission/rules.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}
bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

// Systems that have runs.
std::set<std::string> systems_of(const Submitter& submitter) {
    std::set<std::string> systems;
    for (const RunSet& set : submitter.sets)
        if (!set.system.empty()) systems.insert(set.system);
    return systems;
}

fs::path place_of(What what, const std::string& system, const Submitter& submitter, const Scene& scene) {
    return submitter.root / fill(find_row(what, scene.edition, kAnyKind)->pattern, {{"system", system}});
}

// Edition 2.0's rules speak of JSON, its tool of YAML: either will do.
fs::path description_of(const std::string& system, const Submitter& submitter, const Scene& scene) {
    fs::path path = place_of(What::description, system, submitter, scene);
    if (scene.edition.bit == k20 && !is_file(path))
        if (fs::path other = fs::path(path).replace_extension(".json"); is_file(other)) return other;
    return path;
}

// Files of that stem with another ending, for the message.
std::string others_like(const fs::path& path) {
    std::string names;
    std::error_code error;
    for (fs::directory_iterator it(path.parent_path(), error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        const fs::path& one = it->path();
        if (one.stem() == path.stem() && one.extension() != ".pdf")
            names += (names.empty() ? "" : ", ") + one.filename().string();
    }
    return names;
}

} // namespace

void check_division(const Submitter& submitter, const Tree&, const Scene&, Report& report) {
    if (division_of(submitter.division_folder)) return;
    report.finding(submitter.root,
                   submitter.division_folder.empty() ? "it lies in no division"
                                                     : fmt::format("it lies in '{}'", submitter.division_folder),
                   "closed/<submitter> or open/<submitter>, in small letters");
}

void check_folders(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    std::vector<std::string> wanted{"results", "systems"};
    if (const LayoutRow* code = find_row(What::code, scene.edition, kAnyKind)) wanted.emplace_back(code->pattern);
    for (const std::string& name : wanted)
        if (!is_folder(submitter.root / name))
            report.finding(submitter.root / name, "there is no such folder",
                           name == "code" ? "the source of the benchmark that was run" : "a folder " + name);
}

void check_systems_have_runs(const Submitter& submitter, const Tree&, const Scene&, Report& report) {
    const auto with_runs = systems_of(submitter);
    for (const std::string& system : submitter.systems)
        if (!with_runs.contains(system))
            report.finding(submitter.root / "results" / system, "no run below it", "at least one result");
    if (submitter.systems.empty() && is_folder(submitter.root / "results"))
        report.finding(submitter.root / "results", "no system below it", "results/<system>/");
}

void check_description_there(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    for (const std::string& system : systems_of(submitter)) {
        const fs::path path = description_of(system, submitter, scene);
        if (is_file(path)) continue;
        const std::string others = others_like(path);
        report.finding(path, others.empty() ? "there is no such file" : "there is " + others,
                       "a description of that name: feedbench system describe");
    }
}

void check_description_whole(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    for (const std::string& system : systems_of(submitter)) {
        const fs::path path = description_of(system, submitter, scene);
        if (!is_file(path)) continue;
        const auto file = path.extension() == ".json" ? [&]() -> Expected<nlohmann::json> {
            auto read = ingest::read_json(path);
            if (!read) return read.error();
            return std::move(read->value);
        }()
            : ingest::read_yaml(path);
        if (!file || !is_ours(*file)) continue; // broken: file_broken; others' have a schema of their own
        const auto problems = description_problems(*file);
        if (problems.empty()) continue;
        report.finding(
            path, problems.front() + (problems.size() > 1 ? fmt::format(", and {} more", problems.size() - 1) : ""),
            "every value filled in: feedbench system check FILE lists them");
    }
}

void check_pdf(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    for (const std::string& system : systems_of(submitter)) {
        const fs::path path = place_of(What::pdf, system, submitter, scene);
        if (!is_file(path)) {
            report.finding(path, "there is no such file", "a PDF that describes the system");
            continue;
        }
        const auto text = ingest::read_text(path, std::uintmax_t{1} << 30);
        if (!text || !text->starts_with("%PDF-")) report.finding(path, "it is no PDF", "a file that begins with %PDF-");
    }
}

void check_statement(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    bool ours = false;
    for (const RunSet& set : submitter.sets)
        for (const RunFacts& run : set.runs) ours = ours || run.tool == Tool::feedbench;
    if (!ours) return;
    const fs::path path = place_of(What::statement, "", submitter, scene);
    const auto text = is_file(path) ? ingest::read_text(path) : Expected<std::string>(std::string());
    if (!text || text->find(kStatement) == std::string::npos)
        report.finding(path, is_file(path) ? "it does not say what these results are" : "there is no such file",
                       fmt::format("the words '{}'", kStatement));
}

void check_manifest(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    const fs::path path = place_of(What::manifest, "", submitter, scene);
    if (!is_file(path)) return report.finding(path, "there is no such file", "submission.yaml of edition 3.0");
    const auto file = ingest::read_yaml(path);
    if (!file) return report.finding(path, file.error().message, "submission.yaml of edition 3.0");
    const std::string edition = ingest::text_at(*file, "rules_edition");
    if (edition != scene.edition.name)
        report.finding(path, fmt::format("rules_edition '{}'", edition), std::string(scene.edition.name));
    const auto& listed = ingest::member(*file, "runs");
    if (!listed.is_array()) return; // other tools list them otherwise
    std::set<std::string> names, there;
    for (const auto& one : listed) names.insert(one.is_string() ? one.get<std::string>() : "");
    for (const RunSet& set : submitter.sets)
        for (const RunFacts& run : set.runs) there.insert(below(submitter.root, run.path));
    if (names != there)
        report.finding(path, fmt::format("it lists {} runs, not the same ones", names.size()),
                       fmt::format("the {} runs that are there", there.size()));
}

} // namespace feedbench::submission
