// RunResult <-> JSON text, without loss.
//
// Thread: any (pure functions). Owner: none. Units: every key names its own. Errors: from_json says which key is
// missing or of the wrong type, or where the text is not JSON; unknown keys are passed over, so that an older binary
// reads a newer file of the same version. Source: reporters/schema/result.schema.json.
#pragma once

#include <string>
#include <string_view>

#include "harness/types/run_result.hpp"

namespace feedbench::reporters {

// Values that are not finite become null. Bytes that are not UTF-8 (in a path) become U+FFFD.
std::string to_json(const RunResult& result);
// `path`: only for messages.
Expected<RunResult> from_json(std::string_view text, const std::string& path);

} // namespace feedbench::reporters
