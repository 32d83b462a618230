// What `feedbench report` can make of one or several results: a visible table of formats.
//
// Thread: any (pure functions). Owner: none (constant table). Units: named in headings and keys. Errors: rendering
// cannot fail. Source: docs/report.md. To add one: a function and a line in report_formats.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reporters/run_page.hpp"

namespace feedbench::reporters {

struct ReportFormat {
    std::string_view name, help;
    bool is_page; // goes into a file by default, others to the console
    std::string (*render)(std::span<const ReportedRun> runs, std::span<const UnusedFile> unused);
};
std::span<const ReportFormat> report_formats();
const ReportFormat* find_report_format(std::string_view name); // nullptr: unknown

std::string render_run_markdown(std::span<const ReportedRun> runs, std::span<const UnusedFile> unused);
std::string render_run_csv(std::span<const ReportedRun> runs, std::span<const UnusedFile> unused);

} // namespace feedbench::reporters
