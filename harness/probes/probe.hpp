// What a machine says about itself, or why it does not: a probe is one file and one line in registry.cpp.
//
// Thread: reactor thread, outside the hot path (a probe reads small files of /proc). Owner: none; probes are plain
// functions. Units: in the names. Errors: a fact that cannot be had is null with a reason, never a guess; under the
// virtual clock none is had. Source: DESIGN section 8 (client cost, cache evidence), case T9.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench::probes {

// One fact: a number or a text, or the reason why there is none.
struct Fact {
    std::string key; // unit last: "memory_total_bytes"
    std::optional<double> number;
    std::optional<std::string> text;
    std::string null_reason; // where both are empty
};

// Where to look: the real system, or a test's copy of it.
struct Machine {
    std::string proc = "/proc";
    std::string sys = "/sys";
};

struct Probe {
    std::string_view name;
    std::string_view help;
    std::vector<Fact> (*read)(const Machine& machine);
};

// Every probe, in the order in which facts are shown.
std::span<const Probe> probes();

// All facts, or, under virtual time, every probe's name with the reason why it was not asked.
std::vector<Fact> read_all(const Machine& machine, bool virtual_time);

} // namespace feedbench::probes
