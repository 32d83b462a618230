// The small pieces of text that console output is made of: colours, numbers for people, wrapping.
//
// Thread: any (pure functions). Owner: none. Units: seconds in, text out. Errors: none. Source: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/types/metric.hpp"

namespace feedbench::reporters {

enum class Colour { none, bold, green, red, yellow, dim };
// The text in this colour, or as it is when colours are off.
std::string paint(std::string_view text, Colour colour, bool on);

std::string duration_text(double s); // "375.0 us", "3.25 ms", "12.30 s"
std::string clock_text(double s);    // "0:07", "12:07", "3:12:07"
std::string rate_text(double value); // three to six digits, as many decimals as tell something
// "91.23 %" or "none (metric_window_empty)"; "-" for a row that is not there.
std::string value_text(const Metric* metric, int decimals);
// Lines of at most `width` characters, cut between words; `indent` before each.
std::string wrap(std::string_view text, unsigned width, std::string_view indent);

} // namespace feedbench::reporters
