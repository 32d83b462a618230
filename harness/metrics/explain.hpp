// Why the AU bar was missed, in one paragraph: needed and achieved MB/s, where the time went, what to change.
//
// Thread: any (a pure function). Owner: none. Units: in the text. Errors: none; empty when there is no bar or it was
// met. Source: issue "The main job", Results; DESIGN section 8 (attribution).
#pragma once

#include <string>

#include "harness/types/run_result.hpp"

namespace feedbench::metrics {

// Reads verdict (empty before it is known), au_required, metrics, attribution, accelerator_count, batch_size,
// think_time_mean_s, data_loader, odirect.
std::string explain(const RunResult& result);

} // namespace feedbench::metrics
