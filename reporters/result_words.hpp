// Words and numbers for people, from the codes and values that a result holds: the same in pages and in Markdown.
//
// Thread: any (pure functions). Owner: none. Units: in the texts. Errors: none; an unknown code is its own word.
// Source: docs/metrics.md (reasons), docs/trust.md (verdicts).
#pragma once

#include <string>
#include <string_view>

#include "harness/types/run_result.hpp"
#include "reporters/html/table.hpp"

namespace feedbench::reporters {

// "metric_window_empty" -> "an epoch needs at least two steps: ...".
std::string reason_words(std::string_view reason);
// What a verdict means for its reader, and how it is coloured: good, plain, warn, bad.
std::string verdict_meaning(std::string_view verdict);
std::string verdict_tone(std::string_view verdict);
// "storage-bound"; of a run without one: its status.
std::string verdict_or_status(const RunResult& result);
// The finding that decided the verdict, or nullptr.
const Finding* deciding_finding(const RunResult& result);
// Why it is valid or not, in a sentence.
std::string validity_words(const RunResult& result);

// "1,234.5": thousands grouped; decimals < 0: as many as tell something.
std::string grouped(double value, int decimals = -1);
std::string bytes_text(double bytes);                               // "252.5 MB", powers of ten
std::string memory_text(double bytes);                              // "503.0 GiB", powers of two
std::string count_text(std::uint64_t count, std::string_view word); // "1 host", "2 hosts"

std::string page_duration(double s); // "375.0 µs", "3.25 ms", "12.30 s"
// "posix /data/unet3d", "null:": how bytes were reached, and where.
std::string data_location(const RunResult& result);

std::string minute(std::string_view iso_time); // "2026-11-30 16:17" of an ISO 8601 time
// "4 x h100 on 2 hosts, unet3d_h100".
std::string run_title(const RunResult& result);

// A cell of a page's table: the value, or the reason in words where there is none; "-" for a row that is not there.
html::Cell metric_cell(const Metric* metric, int decimals = -1, double factor = 1);
html::Cell number_cell(double value, int decimals = -1);
html::Cell count_cell(std::uint64_t value);
html::Cell duration_cell(double s);
// A duration as cell; of a metric whose unit is s.
html::Cell duration_cell(const Metric* metric);

} // namespace feedbench::reporters
