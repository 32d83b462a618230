// The sections of a run's page; run_page.cpp puts them in order. Each answers HTML, or nothing where the run has
// nothing of the kind, and adds the plots that its figures stand for.
//
// Thread: any (pure functions). Owner: the caller. Units: named in headings and labels. Errors: none; what is not known
// shows its reason. Source: DESIGN section 8 (what is shown), docs/report.md.
#pragma once

#include <string>
#include <vector>

#include "harness/types/run_result.hpp"
#include "reporters/html/plot.hpp"

namespace feedbench::reporters {

struct RunPart {
    const RunResult& result;
    std::string prefix; // of every id: several runs can share a page
    std::vector<html::Plot>& plots;

    // The figure for the plot, which is kept for the data block.
    std::string add(html::Plot plot) const;
};

std::string headline(const RunPart& part);            // verdict, evidence, tiles
std::string epoch_section(const RunPart& part);       // AU against its bar
std::string attribution_section(const RunPart& part); // where accelerator time went
std::string throughput_section(const RunPart& part);  // over time
std::string latency_section(const RunPart& part);     // distributions
std::string scaling_section(const RunPart& part);     // of `max`
std::string checkpoint_section(const RunPart& part);
std::string host_section(const RunPart& part);    // cache evidence, ceiling, CPU, system
std::string storage_section(const RunPart& part); // what the run's data lay on, and its servers' counters
std::string finding_section(const RunPart& part);
std::string unknown_section(const RunPart& part); // what is not known, and why
std::string figure_section(const RunPart& part);  // every row
std::string setup_section(const RunPart& part);   // how it was run, configuration with origins

} // namespace feedbench::reporters
