// A reporter turns a RunResult into the text of one file (or of the console).
//
// Thread: any (pure functions). Owner: the cli, which alone calls reporters. Units: s, MB (10^6), MiB (2^20), named in
// every key or heading. Errors: rendering cannot fail; writing a file answers a Status. Source: DESIGN section 9; STYLE
// section 6. To add a reporter: one file with a render function, one line in registry.cpp. Reporters know nothing of
// MPI or storage.
#pragma once

#include <string>
#include <string_view>

#include "harness/types/run_result.hpp"

namespace feedbench::reporters {

struct RenderOptions {
    bool colour = false;  // only for a terminal
    unsigned width = 100; // of running text
};

struct Reporter {
    std::string_view name;      // "console", "json", ...
    std::string_view file_name; // in the results folder; empty: for the console only
    std::string_view help;
    std::string (*render)(const RunResult& result, const RenderOptions& options);
};

std::string render_console(const RunResult& result, const RenderOptions& options);
std::string render_json(const RunResult& result, const RenderOptions& options);
std::string render_csv(const RunResult& result, const RenderOptions& options);
std::string render_html(const RunResult& result, const RenderOptions& options);
std::string render_mlperf_summary(const RunResult& result, const RenderOptions& options);
std::string render_mlperf_epochs(const RunResult& result, const RenderOptions& options);

// The row with this key, or nullptr.
inline const Metric* row(const std::vector<Metric>& rows, std::string_view key) {
    for (const Metric& metric : rows)
        if (metric.key == key) return &metric;
    return nullptr;
}

} // namespace feedbench::reporters
