// Rules that say where a figure of a comparison is suspicious, each with the numbers that it rests on.
//
// Thread: any (pure functions, constant table). Owner: none. Units: as in the row. Errors: none; a rule that cannot
// judge answers nothing. Source: docs/compare.md. Facts stay apart from judgement: a rule never changes a figure.
// To add one: a function and a line in the table of suspicions.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reporters/compare/comparison.hpp"

namespace feedbench::compare {

struct Suspicion {
    std::string_view rule;
    bool suspicious;        // false: a note
    std::string_view fires; // when, in one sentence; docs/compare.md lists it
    // What was found, in words; empty: nothing.
    std::string (*judge)(const Row& row);
};

std::span<const Suspicion> suspicions();
std::vector<Finding> suspicions_of(const Row& row);

} // namespace feedbench::compare
