// Several runs side by side, at the top of a page that holds them all.
//
// Thread: any (pure function). Owner: the caller. Units: named in headings. Errors: none. Source: docs/report.md.
// Ranking like with like is the comparison's (reporters/compare); here runs stand in the order given.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reporters/html/plot.hpp"
#include "reporters/run_page.hpp"

namespace feedbench::reporters {

std::string overview(std::span<const ReportedRun> runs, std::vector<html::Plot>& plots);

} // namespace feedbench::reporters
