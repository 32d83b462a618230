// Rules on single files and folders of a submitter: missing, broken, astray.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <system_error>

#include "reporters/submission/rules.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> all;
    std::error_code error;
    for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error))
        all.push_back(it->path());
    std::sort(all.begin(), all.end());
    return all;
}
bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool has_file(const fs::path& folder, std::string_view pattern) {
    const fs::path in = folder / fs::path(pattern).parent_path();
    const std::string name = fs::path(pattern).filename().string();
    for (const fs::path& one : entries_of(in))
        if (fits(name, one.filename().string()) && !is_folder(one)) return true;
    return false;
}

struct Leaf {
    fs::path path;
    What what;
    unsigned kind;
    Tool tool;
};

// Folders of runs, and of the phases around them, that lie where the layout says.
std::vector<Leaf> leaves_of(const Submitter& submitter, const Scene& scene) {
    std::vector<Leaf> leaves;
    std::vector<fs::path> done;
    for (const RunSet& set : submitter.sets) {
        if (!set.in_place) continue;
        for (const RunFacts& run : set.runs) leaves.push_back({run.path, What::run, set.kind, run.tool});
        for (const What phase : {What::datagen, What::datasize}) {
            const LayoutRow* row = find_row(phase, scene.edition, set.kind);
            if (row == nullptr) continue;
            const fs::path place =
                (submitter.root / fill(row->pattern, {{"system", set.system}, {"model", set.model}})).parent_path();
            if (std::find(done.begin(), done.end(), place) != done.end()) continue; // another accelerator's set
            done.push_back(place);
            for (const fs::path& folder : entries_of(place))
                if (is_stamp(folder.filename().string())) leaves.push_back({folder, phase, set.kind, Tool::any});
        }
    }
    return leaves;
}

// What lies in `folder` and no row of the layout names; what is below such a thing is not looked at.
class Astray {
  public:
    Astray(const Submitter& submitter, const Scene& scene, Report& report)
        : submitter_(submitter), scene_(scene), report_(report) {}

    void walk(const fs::path& folder) {
        for (const fs::path& one : entries_of(folder)) {
            const std::string name = one.filename().string();
            if (name.starts_with('.') || name.ends_with(".md")) continue;
            if (!is_named(below(submitter_.root, one), is_folder(one)))
                report_.finding(one, is_folder(one) ? "a folder" : "a file", "nothing that the layout does not name");
            else if (is_folder(one))
                walk(one);
        }
    }

  private:
    bool is_named(const std::string& path, bool folder) const {
        for (const LayoutRow& row : layout()) {
            if ((row.editions & scene_.edition.bit) == 0) continue;
            const bool names_folder = row.what == What::run || row.what == What::datagen ||
                                      row.what == What::datasize || row.what == What::code;
            if (folder ? is_above(row.pattern, path) || (names_folder && match(row.pattern, path))
                       : !names_folder && match(row.pattern, path).has_value())
                return true;
            if (names_folder && in_leaf(row, path, folder)) return true;
        }
        return false;
    }

    // A file in a run's folder, or the folder around such a file (dlio_config).
    bool in_leaf(const LayoutRow& row, const std::string& path, bool folder) const {
        for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            if (!match(row.pattern, path.substr(0, slash))) continue;
            const std::string rest = path.substr(slash + 1);
            for (const LeafFile& file : leaf_files()) {
                if (!applies(file, row.what, scene_.edition, row.kinds)) continue;
                if (folder ? file.name.starts_with(rest + "/") : fits(file.name, rest)) return true;
            }
        }
        return false;
    }

    const Submitter& submitter_;
    const Scene& scene_;
    Report& report_;
};

bool is_stray(const ingest::Problem& problem) { return problem.expected.starts_with("nothing"); }

bool is_of(const ingest::Problem& problem, const Submitter& submitter) {
    return !below(submitter.root, fs::absolute(problem.path).lexically_normal()).starts_with("..");
}

} // namespace

void check_leaf_files(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    struct Missing {
        fs::path first;
        std::size_t more = 0;
    };
    std::map<std::pair<fs::path, std::string>, Missing> all; // the same files in the runs of one result: said once
    for (const Leaf& leaf : leaves_of(submitter, scene)) {
        std::string names;
        for (const LeafFile& file : leaf_files())
            if (file.required && applies(file, leaf.what, scene.edition, leaf.kind) &&
                (file.tool == Tool::any || file.tool == leaf.tool) && !has_file(leaf.path, file.name))
                names += (names.empty() ? "no " : ", no ") + std::string(file.name);
        if (names.empty()) continue;
        const auto [known, is_new] = all.emplace(std::pair(leaf.path.parent_path(), names), Missing{leaf.path});
        if (!is_new) ++known->second.more;
    }
    for (const auto& [where, missing] : all)
        report.finding(missing.first,
                       where.second + (missing.more > 0 ? fmt::format(" (and so in {} more)", missing.more) : ""),
                       "the files that the layout lists");
}

void check_nothing_else(const Submitter& submitter, const Tree&, const Scene& scene, Report& report) {
    Astray(submitter, scene, report).walk(submitter.root);
}

void check_broken_files(const Submitter& submitter, const Tree& tree, const Scene&, Report& report) {
    for (const ingest::Problem& problem : tree.problems)
        if (!is_stray(problem) && is_of(problem, submitter))
            report.finding(fs::absolute(problem.path).lexically_normal(), problem.found, problem.expected);
}

void check_stray_files(const Submitter& submitter, const Tree& tree, const Scene&, Report& report) {
    for (const ingest::Problem& problem : tree.problems)
        if (is_stray(problem) && is_of(problem, submitter))
            report.finding(fs::absolute(problem.path).lexically_normal(), problem.found, problem.expected);
}

} // namespace feedbench::submission
