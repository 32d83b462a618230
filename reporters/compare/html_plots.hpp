// The plots of a group: rate and AU over the number of accelerators with a series per system, and how well sizes scale.
//
// Thread: any (pure functions). Owner: none. Units: in the labels. Errors: none; what nobody has a figure for is no
// plot. Source: docs/compare.md.
#pragma once

#include <string>
#include <vector>

#include "reporters/compare/comparison.hpp"
#include "reporters/html/plot.hpp"

namespace feedbench::compare {

// `id`: of the group, unique in the page.
std::vector<html::Plot> plots_of(const Group& group, const std::string& id);

} // namespace feedbench::compare
