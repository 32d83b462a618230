#include "reporters/submission/layout.hpp"

#include <array>
#include <regex>

namespace feedbench::submission {
namespace {

constexpr std::array kLayout{
    LayoutRow{What::run, k10, kTraining, "results/{system}/{model}-{accelerator}/run{number}", true},
    LayoutRow{What::run, k20 | k30, kTraining, "results/{system}/training/{model}/run/{stamp}", true},
    LayoutRow{What::run, k20 | k30, kCheckpoint, "results/{system}/checkpointing/{model}/{stamp}", true},
    LayoutRow{What::datagen, k20 | k30, kTraining, "results/{system}/training/{model}/datagen/{stamp}", true},
    LayoutRow{What::datasize, k30, kTraining, "results/{system}/training/{model}/datasize/{stamp}", true},
    LayoutRow{What::report, k10, kTraining, "results/{system}/{model}-{accelerator}/mlperf_storage_report.json", true},
    LayoutRow{What::report, k20, kTraining, "results/{system}/training/{model}/mlperf_storage_report.json", true},
    LayoutRow{What::report, k20, kCheckpoint, "results/{system}/checkpointing/{model}/mlperf_storage_report.json",
              true},
    LayoutRow{What::report, k30, kTraining, "results/{system}/training/{model}/run/results.json", true},
    LayoutRow{What::report, k30, kCheckpoint, "results/{system}/checkpointing/{model}/results.json", true},
    LayoutRow{What::description, k10, kAnyKind, "systems/{system}.json", true},
    LayoutRow{What::description, k20 | k30, kAnyKind, "systems/{system}.yaml", true},
    LayoutRow{What::pdf, kEveryEdition, kAnyKind, "systems/{system}.pdf", true},
    LayoutRow{What::code, k10 | k20, kAnyKind, "code", true},
    LayoutRow{What::manifest, k30, kAnyKind, "submission.yaml", true},
    LayoutRow{What::statement, kEveryEdition, kAnyKind, "README.md", true},
};

constexpr unsigned kSince20 = k20 | k30;
constexpr std::array kLeafFiles{
    // A training run.
    LeafFile{What::run, kSince20, kTraining, "training_run.stdout.log", true, Tool::any, "@console", ""},
    LeafFile{What::run, kSince20, kTraining, "training_run.stderr.log", true, Tool::any, "log.txt", ""},
    LeafFile{What::run, kSince20, kCheckpoint, "checkpointing_run.stdout.log", true, Tool::any, "@console", ""},
    LeafFile{What::run, kSince20, kCheckpoint, "checkpointing_run.stderr.log", true, Tool::any, "log.txt", ""},
    LeafFile{What::run, kEveryEdition, kAnyKind, "*summary.json", true, Tool::any, "summary.json", "summary.json"},
    LeafFile{What::run, kSince20, kAnyKind, "*per_epoch_stats.json", true, Tool::any, "per_epoch_stats.json",
             "0_per_epoch_stats.json"},
    LeafFile{What::run, k10, kTraining, "per_epoch_stats.json", false, Tool::any, "per_epoch_stats.json", ""},
    LeafFile{What::run, kSince20, kAnyKind, "*output.json", true, Tool::reference, "", ""},
    LeafFile{What::run, kSince20, kAnyKind, "dlio.log", true, Tool::reference, "", ""},
    LeafFile{What::run, kSince20, kAnyKind, "dlio_config/config.yaml", true, Tool::any, "config.yaml", ""},
    LeafFile{What::run, kSince20, kAnyKind, "dlio_config/overrides.yaml", true, Tool::any, "@overrides", ""},
    LeafFile{What::run, kSince20, kAnyKind, "dlio_config/hydra.yaml", true, Tool::reference, "", ""},
    LeafFile{What::run, k10, kTraining, "configs/config.yaml", false, Tool::any, "config.yaml", ""},
    LeafFile{What::run, kSince20, kAnyKind, "*_metadata.json", false, Tool::any, "@metadata",
             "feedbench_metadata.json"},
    // What stands in for the files of single ranks: it holds every epoch, host and histogram.
    LeafFile{What::run, kEveryEdition, kAnyKind, "result.json", true, Tool::feedbench, "result.json", ""},
    LeafFile{What::run, kSince20, kAnyKind, "steps.h5", false, Tool::any, "", ""},
    LeafFile{What::run, kSince20, kAnyKind, "mlpstorage.log", false, Tool::any, "", ""},
    LeafFile{What::run, kSince20, kAnyKind, "mlpstorage.errors.log", false, Tool::any, "", ""},
    LeafFile{What::run, kSince20, kAnyKind, "provenance.json", false, Tool::any, "", ""},
    // Generation of its dataset.
    LeafFile{What::datagen, kSince20, kTraining, "training_datagen.stdout.log", true, Tool::any, "@datagen", ""},
    LeafFile{What::datagen, kSince20, kTraining, "training_datagen.stderr.log", false, Tool::any, "", ""},
    LeafFile{What::datagen, kSince20, kTraining, "feedbench-manifest.json", false, Tool::any, "feedbench-manifest.json",
             ""},
    LeafFile{What::datagen, kSince20, kTraining, "*output.json", false, Tool::any, "", ""},
    LeafFile{What::datagen, kSince20, kTraining, "*per_epoch_stats.json", false, Tool::any, "", ""},
    LeafFile{What::datagen, kSince20, kTraining, "*summary.json", false, Tool::any, "", ""},
    LeafFile{What::datagen, kSince20, kTraining, "*_metadata.json", false, Tool::any, "", ""},
    LeafFile{What::datagen, kSince20, kTraining, "dlio.log", false, Tool::any, "", ""},
    LeafFile{What::datagen, kSince20, kTraining, "dlio_config/*.yaml", false, Tool::any, "", ""},
    // What sizing said before.
    LeafFile{What::datasize, k30, kTraining, "training_datasize.stdout.log", true, Tool::any, "@datasize_text", ""},
    LeafFile{What::datasize, k30, kTraining, "training_datasize.stderr.log", false, Tool::any, "", ""},
    LeafFile{What::datasize, k30, kTraining, "*_metadata.json", true, Tool::any, "@datasize",
             "training_datasize_metadata.json"},
};

std::string expression(std::string_view pattern, std::vector<std::string>& names) {
    std::string text;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '{') {
            if (pattern[at] == '.') text += '\\';
            text += pattern[at];
            continue;
        }
        const std::size_t end = pattern.find('}', at);
        const std::string name(pattern.substr(at + 1, end - at - 1));
        names.push_back(name);
        text += name == "number"        ? "([0-9]+)"
                : name == "stamp"       ? "([0-9]{8}_[0-9]{6})"
                : name == "accelerator" ? "([a-z0-9]+)"
                : name == "model"       ? "([a-z0-9]+(?:-[a-z0-9]+)?)"
                                        : "([^/]+)";
        at = end;
    }
    return text;
}

struct Compiled {
    std::regex expected;
    std::vector<std::string> names;
};

} // namespace

std::span<const LayoutRow> layout() { return kLayout; }
std::span<const LeafFile> leaf_files() { return kLeafFiles; }

const LayoutRow* find_row(What what, const EditionFacts& edition, unsigned kind) {
    for (const LayoutRow& row : kLayout)
        if (row.what == what && (row.editions & edition.bit) != 0 && (row.kinds & kind) != 0) return &row;
    return nullptr;
}

std::string fill(std::string_view pattern, const Variables& variables) {
    std::string text;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '{') {
            text += pattern[at];
            continue;
        }
        const std::size_t end = pattern.find('}', at);
        const auto value = variables.find(pattern.substr(at + 1, end - at - 1));
        text += value == variables.end() ? "" : value->second;
        at = end;
    }
    return text;
}

std::optional<Variables> match(std::string_view pattern, std::string_view path) {
    // Compiling costs a thousand times what matching does, and a tree is matched against the same few patterns.
    thread_local std::map<std::string, Compiled, std::less<>> known;
    auto compiled = known.find(pattern);
    if (compiled == known.end()) {
        Compiled one;
        one.expected = std::regex(expression(pattern, one.names));
        compiled = known.emplace(std::string(pattern), std::move(one)).first;
    }
    std::match_results<std::string_view::const_iterator> found;
    if (!std::regex_match(path.begin(), path.end(), found, compiled->second.expected)) return {};
    Variables variables;
    for (std::size_t i = 0; i < compiled->second.names.size(); ++i)
        variables[compiled->second.names[i]] = found[i + 1].str();
    return variables;
}

bool is_above(std::string_view pattern, std::string_view path) {
    for (std::size_t slash = pattern.find('/'); slash != std::string_view::npos; slash = pattern.find('/', slash + 1))
        if (match(pattern.substr(0, slash), path)) return true;
    return false;
}

bool is_stamp(std::string_view text) { return match("{stamp}", text).has_value(); }

bool applies(const LeafFile& file, What folder, const EditionFacts& edition, unsigned kind) {
    return file.folder == folder && (file.editions & edition.bit) != 0 && (file.kinds & kind) != 0;
}

bool fits(std::string_view pattern, std::string_view name) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name;
    const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
    if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
    return name.substr(head.size(), name.size() - head.size() - tail.size()).find('/') == std::string_view::npos;
}

} // namespace feedbench::submission
