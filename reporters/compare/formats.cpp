#include "reporters/compare/formats.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>

#include "reporters/by_name.hpp"
#include "reporters/console_text.hpp"

namespace feedbench::compare {
namespace {

constexpr std::array kFormats{
    Format{"console", "tables for a terminal", render_console},
    Format{"markdown", "tables for a page or a comment", render_markdown},
    Format{"html", "a page of its own to sort, filter and plot", render_html},
    Format{"csv", "one row a result, every figure", render_csv},
    Format{"json", "everything, with every run", render_json},
};

} // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) { return reporters::find_by_name(kFormats, name); }

std::string cell(const Row& row, const Column& column) {
    const Metric* metric = reporters::row(row.metrics, column.key);
    if (metric == nullptr || !metric->value) return "-";
    if (column.decimals < 0) return reporters::rate_text(*metric->value);
    return fmt::format("{:.{}f}", *metric->value, column.decimals);
}

std::string_view kind_name(ingest::Kind kind) { return kind == ingest::Kind::training ? "training" : "checkpoint"; }

std::string name_of(const Row& row) { return row.submitter.empty() ? row.system : row.submitter + ", " + row.system; }

NumberedNotes number_notes(const Group& group) {
    NumberedNotes numbered;
    for (const Row& row : group.rows) {
        auto& numbers = numbered.of_row.emplace_back();
        for (const Finding& finding : row.footnotes) {
            std::size_t at = 0;
            while (at < numbered.notes.size() && numbered.notes[at]->evidence != finding.evidence) ++at;
            if (at == numbered.notes.size()) numbered.notes.push_back(&finding);
            numbers.push_back(at + 1);
        }
    }
    return numbered;
}

} // namespace feedbench::compare
