// A metric is a row: key, unit, a value or the reason why there is none, and its formula.
//
// Thread: plain value. Owner: the holder. Units: named in `unit` and again at the end of `key`. Errors: none.
// Source: DESIGN section 8. Reporters walk over rows, so a new metric changes no reporter.
#pragma once

#include <optional>
#include <string>

namespace feedbench {

struct Metric {
    std::string key;             // "au_mean_percentage", "delivered_MB_per_second", ...
    std::string unit;            // "%", "MB/s", "MiB/s", "s", "samples/s", "" for a count
    std::optional<double> value; // nothing: see reason
    std::string reason;          // "metric_window_empty", ...; empty where there is a value
    std::string formula;         // name of the formula, as docs/metrics.md lists it
};

} // namespace feedbench
