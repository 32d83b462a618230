// result.json: everything that was measured, in the schema of reporters/schema/result.schema.json.
#include "reporters/reporter.hpp"
#include "reporters/result_json.hpp"

namespace feedbench::reporters {

std::string render_json(const RunResult& result, const RenderOptions&) { return to_json(result); }

} // namespace feedbench::reporters
