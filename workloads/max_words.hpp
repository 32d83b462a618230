// What stopped a search for the largest N, in words, and whose limit it was.
//
// Thread: any (pure function). Owner: none. Units: MB/s, % AU. Errors: none.
// Source: issue of `max`: it is the storage's limit only where the client was not nearer to its own than a tenth
// (thresholds.hpp, kNearCeiling).
#pragma once

#include <string>

#include "workloads/max.hpp"
#include "workloads/max_search.hpp"

namespace feedbench::workloads {

struct StopFacts {
    SearchStop stop = SearchStop::none;
    const MaxPlan* plan = nullptr;
    std::uint32_t found = 0;
    const ScalingPoint* missed = nullptr;        // of the smallest N above found that missed; nullptr: none
    bool missed_passed_probe = false;            // it missed only in the run of full length
    std::optional<double> ceiling_MB_per_second; // of all hosts together
    std::string ceiling_reason;                  // why there is none
    bool virtual_time = false;
    bool null_storage = false; // it costs nothing: the client is all there is
    std::string broken;        // "interrupted", "failed": the search did not end by itself
};

// One paragraph that begins with whose limit it was: "storage: ", "client: ", "limit: ", "dataset: ", "not known: ".
std::string stop_words(const StopFacts& facts);

} // namespace feedbench::workloads
