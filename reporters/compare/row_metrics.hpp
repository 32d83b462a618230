// The figures of a row from its runs, and the efficiency of larger sizes from the other rows of its group.
//
// Thread: any (pure functions). Owner: none. Units: in the keys. Errors: a figure that cannot be computed is a metric
// with a reason. Source: docs/compare.md lists every formula; expected.csv of the corpus pins the means.
#pragma once

#include "reporters/compare/comparison.hpp"

namespace feedbench::compare {

void fill_metrics(Row& row);
void fill_checkpoint_metrics(Row& row); // called by fill_metrics
std::span<const Column> checkpoint_columns();
// Needs fill_metrics of all rows. Compared with the smallest size of the same system; of the same submitter where the
// system has one size only.
void fill_scaling(Group& group);

} // namespace feedbench::compare
