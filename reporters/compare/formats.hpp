// A comparison as text: for the console, as a page, Markdown, CSV or JSON.
//
// Thread: any (pure functions). Owner: none (constant table). Units: named in headings and keys. Errors: rendering
// cannot fail. Source: docs/compare.md. To add one: a function and a line in formats.cpp; it walks over columns(kind),
// metrics and footnotes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reporters/compare/comparison.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::compare {

inline constexpr int kComparisonSchemaVersion = 1;

struct Format {
    std::string_view name, help;
    std::string (*render)(const Comparison& comparison, const reporters::RenderOptions& options);
};
std::span<const Format> formats();
const Format* find_format(std::string_view name); // nullptr: unknown

std::string render_console(const Comparison& comparison, const reporters::RenderOptions& options);
std::string render_markdown(const Comparison& comparison, const reporters::RenderOptions& options);
std::string render_csv(const Comparison& comparison, const reporters::RenderOptions& options);
std::string render_html(const Comparison& comparison, const reporters::RenderOptions& options);
std::string render_json(const Comparison& comparison, const reporters::RenderOptions& options);

// Shared by the formats. The text of a row's figure in a column, "-" where there is none.
std::string cell(const Row& row, const Column& column);
std::string_view kind_name(ingest::Kind kind); // "training"
// "HPE, Cray_C500_4xHDR200_1host".
std::string name_of(const Row& row);
// Footnotes are counted through a group, equal words share a number: [1], [2].
struct NumberedNotes {
    std::vector<std::vector<std::size_t>> of_row; // in the order of the group's rows; numbers from 1
    std::vector<const Finding*> notes;
};
NumberedNotes number_notes(const Group& group);

} // namespace feedbench::compare
