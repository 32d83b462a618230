// Where a report, metadata or a folder's name says something else than the files that the figures come from.
//
// Thread: any (a pure function). Owner: none. Units: none. Errors: empty text: nothing disagrees. Source:
// docs/compare.md, rule declared_text.
#pragma once

#include <string>

#include "reporters/compare/comparison.hpp"

namespace feedbench::compare {

std::string declared_text(const Row& row);

} // namespace feedbench::compare
