// The curve of `feedbench max` for people: N, AU, MB/s, wait, verdict, and what stopped the search.
//
// Thread: any (pure function). Owner: none. Units: as in ScalingPoint. Errors: none. Source: docs/max.md.
#pragma once

#include <string>

#include "reporters/reporter.hpp"

namespace feedbench::reporters {

// Empty where the result has no curve.
std::string scaling(const RunResult& result, const RenderOptions& options);

} // namespace feedbench::reporters
