// The HTML page of a run, or of several with a list to choose from and an overview.
//
// Thread: any (pure functions). Owner: the caller. Units: named in headings and labels. Errors: rendering cannot fail.
// Source: DESIGN section 9 (report.html); docs/report.md. The page kit is reporters/html.
#pragma once

#include <span>
#include <string>

#include "harness/types/run_result.hpp"

namespace feedbench::reporters {

// A result and where it was read from; a file that could not be used has the reason instead.
struct ReportedRun {
    std::string source;
    RunResult result;
};
struct UnusedFile {
    std::string path, reason;
};

// One run: its page. Several: the overview, and each one's page as a part.
std::string render_run_page(std::span<const ReportedRun> runs, std::span<const UnusedFile> unused);

} // namespace feedbench::reporters
