// Tables of a page: numbers aligned, units in the headings, sorted and filtered by the page's script; footnotes.
//
// Thread: plain values, pure functions. Owner: the caller. Units: named in the headings. Errors: none. Source: none.
// Every text is plain text and is escaped here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace feedbench::html {

struct Column {
    std::string heading, unit{};
    bool number = true; // right aligned, sorted as numbers, largest first
    std::string help{}; // shown when the mouse rests on the heading
};

struct Cell {
    std::string text;
    std::optional<double> value{};    // what a number column is sorted by; without one the row goes last
    std::string reason{};             // why there is no value: stands where the value would
    std::string tone{};               // "good", "warn", "bad", "soft" or nothing
    std::string href{};               // "#run-2": a place in the page
    std::vector<std::size_t> notes{}; // numbers of footnotes, from 1
};

struct Table {
    std::string id, caption; // id: unique in the page; caption may be empty
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    bool sortable = true;
    bool filterable = false; // a search field above it
    std::string notes_id;    // of the footnotes() that the cells' notes point to; empty: the table's id
};

std::string table(const Table& table);
// The numbered list that the notes of cells point to.
std::string footnotes(const std::string& id, const std::vector<std::string>& notes);

} // namespace feedbench::html
