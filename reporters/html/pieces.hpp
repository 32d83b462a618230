// Small pieces of a page: figures in tiles, a verdict, stacked bars, lists of names and values.
//
// Thread: plain values, pure functions. Owner: the caller. Units: in the texts. Errors: none. Source: none. Every text
// is plain text and is escaped here; `body` is HTML made of pieces.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedbench::html {

// <section> with a heading; id: unique in the page.
std::string section(std::string_view id, std::string_view heading, std::string_view body);
std::string paragraph(std::string_view text, std::string_view css_class = {});
// Closed until it is clicked; the script opens it for print.
std::string details(std::string_view summary, std::string_view body);

// One large figure with its name above and what it means below.
struct Tile {
    std::string name, value, unit{}, detail{}, tone{}; // tone: good, warn, bad or nothing
};
std::string tiles(const std::vector<Tile>& tiles);

// The word of a verdict, what it means, and its evidence in words.
struct Verdict {
    std::string word, meaning, tone; // tone: good, warn, bad, plain
    std::vector<std::string> evidence;
};
std::string verdict(const Verdict& verdict);

// Bars that are divided into parts: one row a bar, all of the same length, the parts in per cent of it.
struct StackPart {
    std::string name, colour, help{};
};
struct StackRow {
    std::string name;
    std::vector<double> parts; // as many as StackPart; any unit; a row of zeros is left out
};
std::string stacked_bars(const std::vector<StackPart>& parts, const std::vector<StackRow>& rows);

// <dl>; an empty value is left out.
std::string name_list(const std::vector<std::pair<std::string, std::string>>& rows);

} // namespace feedbench::html
