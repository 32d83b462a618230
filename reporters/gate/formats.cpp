#include "reporters/gate/formats.hpp"

#include <array>
#include <fmt/format.h>

#include "reporters/by_name.hpp"

namespace feedbench::gate {
namespace {

constexpr std::array kFormats{
    Format{"console", "a table and the reason, for a terminal or a log", render_console},
    Format{"markdown", "for a comment on a pull request", render_markdown},
    Format{"junit", "JUnit XML: one test case a metric, for a CI system", render_junit},
    Format{"json", "everything, for other programs (reporters/schema/gate.schema.json)", render_json},
};

} // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) { return reporters::find_by_name(kFormats, name); }

std::string runs_text(std::size_t count) { return fmt::format("{} run{}", count, count == 1 ? "" : "s"); }

std::string limit_text(const MetricAnswer& m) {
    if (!m.worse) return "-";
    return fmt::format("{}{:.1f} %", m.rule.better == Better::higher ? "-" : "+", 100 * m.limit);
}

std::string surroundings_text(const Comparability& comparability) {
    std::string text;
    for (const auto* list : {&comparability.allowed, &comparability.surroundings})
        for (const Difference& one : *list) text += (text.empty() ? "" : "; ") + one.words;
    return text;
}

} // namespace feedbench::gate
