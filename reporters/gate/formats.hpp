// A gate's report as text: for the console, as Markdown for a pull request, JUnit XML or JSON.
//
// Thread: any (pure functions). Owner: none (constant table). Units: named in headings and keys. Errors: rendering
// cannot fail. Source: docs/gate.md; reporters/schema/gate.schema.json; tests/interop/junit.xsd for the form of
// JUnit files. To add one: a function and a line in formats.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reporters/gate/gate.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::gate {

inline constexpr int kGateSchemaVersion = 1;

struct Format {
    std::string_view name, help;
    std::string (*render)(const GateReport& report, const reporters::RenderOptions& options);
};
std::span<const Format> formats();
const Format* find_format(std::string_view name); // nullptr: unknown

std::string render_console(const GateReport& report, const reporters::RenderOptions& options);
std::string render_markdown(const GateReport& report, const reporters::RenderOptions& options);
std::string render_junit(const GateReport& report, const reporters::RenderOptions& options);
std::string render_json(const GateReport& report, const reporters::RenderOptions& options);

// Shared by the formats for people. "5 runs", "1 run".
std::string runs_text(std::size_t count);
// "-2.0 %": the limit as it is seen in the metric itself.
std::string limit_text(const MetricAnswer& metric);
// What else differs between the sides and may be the cause, in one line; empty: nothing.
std::string surroundings_text(const Comparability& comparability);

} // namespace feedbench::gate
