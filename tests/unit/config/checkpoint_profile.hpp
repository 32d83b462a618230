// A profile as the tests of checkpoint sizes and of their table load it; what cannot be loaded fails the test.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "harness/config/checkpoint_sizes.hpp"
#include "harness/config/load_yaml.hpp"

namespace feedbench::test {

inline Workload profile(const std::string& name, std::vector<std::string> params = {}) {
    auto w = config::load_workload({.workload = name, .params = std::move(params)});
    INFO((w ? "" : w.error().describe()));
    REQUIRE(w);
    return *w;
}

inline config::CheckpointSizes sizes(const Workload& w, std::uint64_t ranks) {
    auto s = config::CheckpointSizes::of(w, ranks);
    INFO((s ? "" : s.error().describe()));
    REQUIRE(s);
    return *s;
}

} // namespace feedbench::test
