#include "reporters/report_formats.hpp"

#include <array>

#include "reporters/by_name.hpp"

namespace feedbench::reporters {
namespace {

constexpr std::array kFormats{
    ReportFormat{"html", "one self-contained page, with plots", true, render_run_page},
    ReportFormat{"markdown", "for a comment on a pull request", false, render_run_markdown},
    ReportFormat{"csv", "one row an epoch and one a run, every figure", false, render_run_csv},
};

} // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat* find_report_format(std::string_view name) { return find_by_name(kFormats, name); }

} // namespace feedbench::reporters
