// Looking a line of a table up by its name.
//
// Thread: any (pure function). Owner: the table's. Units: -. Errors: nullptr where no line has the name.
// Source: STYLE section 6 (one visible table a kind of plug-in).
#pragma once

#include <string_view>

namespace feedbench::reporters {

template <class Table>
constexpr auto find_by_name(const Table& table, std::string_view name) -> decltype(&*table.begin()) {
    for (const auto& one : table)
        if (one.name == name) return &one;
    return nullptr;
}

} // namespace feedbench::reporters
