// Where everything lies in a submission tree, and which files a folder of it must and may hold: the one schema that
// both the writer and the checker go by.
//
// Thread: any (constant tables, pure functions). Owner: none. Units: none. Errors: nothing where a path fits no row.
// Source: trees of editions 1.0, 2.0 and 3.0 (reference facts, section 3).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reporters/submission/edition_facts.hpp"

namespace feedbench::submission {

enum class What : std::uint8_t { run, datagen, datasize, report, description, pdf, code, manifest, statement };

// A path below the submitter's folder, {closed,open}/<org>/. Variables: {system} {model} {accelerator} {number}
// {stamp}.
struct LayoutRow {
    What what;
    unsigned editions, kinds; // kinds: of the results that it belongs to
    std::string_view pattern;
    bool required; // of each system or set (description, pdf, report, ...), or of the submitter (code, statement)
};

using Variables = std::map<std::string, std::string, std::less<>>;

std::span<const LayoutRow> layout();
const LayoutRow* find_row(What what, const EditionFacts& edition, unsigned kind);
std::string fill(std::string_view pattern, const Variables& variables);
// The variables' values, or nothing where the path is not of that pattern.
std::optional<Variables> match(std::string_view pattern, std::string_view path);
// Whether `path` is a folder that a row's pattern goes through ("results/x/training").
bool is_above(std::string_view pattern, std::string_view path);
bool is_stamp(std::string_view text); // YYYYMMDD_HHMMSS

enum class Tool : std::uint8_t { any, feedbench, reference };

// A file in a folder of a run, of data generation or of sizing.
struct LeafFile {
    What folder;
    unsigned editions, kinds;
    std::string_view name; // one * stands for anything but a slash
    bool required;
    Tool tool;                // whose results must have it; others may
    std::string_view source;  // in feedbench's own folder; "@x": made by the writer; empty: feedbench has none
    std::string_view written; // under which name the writer puts it; empty: `name`
};

std::span<const LeafFile> leaf_files();
bool applies(const LeafFile& file, What folder, const EditionFacts& edition, unsigned kind);
bool fits(std::string_view pattern, std::string_view name);

// The file that `submit init` leaves at the top of a tree; dot-files are nobody's business in all editions.
inline constexpr std::string_view kTreeFile = ".feedbench-submission.yaml";

} // namespace feedbench::submission
