// Every number that a verdict turns on, with its reason. docs/trust.md holds the same table (a test compares).
//
// Thread: any (constants). Owner: none. Units: named in each. Errors: none. Source: the reasons.
#pragma once

#include <span>
#include <string_view>

namespace feedbench::verdict {

struct Threshold {
    std::string_view name;
    double value;
    std::string_view unit;
    std::string_view reason;
};

// Whether accelerators waited
inline constexpr Threshold kBusyAu{
    "busy_au", 95, "% AU",
    "at 95 % an endlessly fast storage could gain at most 5 %; the rules' bars are 90 and 70, and the one verdict that "
    "promises headroom must be stricter than a bar"};
inline constexpr Threshold kBusyWithStart{
    "busy_with_start", 0.8, "think / time in the blocks",
    "AU leaves out the first step of a block; where more than a fifth of the time was lost there, AU speaks of a queue "
    "that was filled in that step and not of the storage (case T15)"};

// Whose fault it was
inline constexpr Threshold kMainCause{"main_cause", 0.5, "of the lost time",
                                      "more than all other causes together; below it there is no one cause to name"};
inline constexpr Threshold kCauseWhenSaturated{
    "cause_when_saturated", 0.2, "of the lost time",
    "with no CPU idle, a read that waits for its turn on a CPU looks like a read that waits for the storage, so that a "
    "fifth that is surely the client's is enough"};
inline constexpr Threshold kCpuSaturated{"cpu_saturated", 0.95, "of all CPUs of a host",
                                         "over a whole epoch no scheduler comes nearer to 1 by chance"};
inline constexpr Threshold kNearCeiling{
    "near_ceiling", 0.9, "achieved / ceiling",
    "the ceiling run is short and repeats within some percent: nearer than a tenth the two cannot be told apart"};
inline constexpr Threshold kNearLineRate{
    "near_line_rate", 0.9, "of the line rate",
    "headers of Ethernet, IP and TCP take 5 to 6 %, so 0.9 is a full interface in all but name"};
inline constexpr Threshold kNearMemory{
    "near_memory", 0.5, "of the measured memory bandwidth",
    "a byte that is delivered crosses memory at least twice: read where it came from, written where it lands"};

// Whether the bytes came from the storage
inline constexpr Threshold kSourceShare{
    "source_share", 0.9, "source bytes / delivered bytes",
    "DESIGN section 8; reads are widened to pages and sectors, so an honest epoch lies above 1"};
inline constexpr Threshold kResidentShare{
    "resident_share", 0.9, "of the sampled pages",
    "files that were dropped or never read have none; a few pages that others touched are no cache"};
inline constexpr Threshold kSampledPages{"sampled_pages", 16, "pages", "fewer are no sample"};

// What cannot be
inline constexpr Threshold kPossibleRate{
    "possible_rate", 1.02, "of line rate or memory bandwidth",
    "nothing is faster than its line; two hundredths for clocks and for bytes that cross the border of an epoch"};
inline constexpr Threshold kPlannedBytes{
    "planned_bytes", 0.99, "delivered / planned bytes",
    "a sample holds at least its payload; a hundredth, and three times the share of left-out samples, for sizes that "
    "vary"};
inline constexpr Threshold kIdentity{
    "identity", 0.005, "between samples/s and AU x accelerators x batch / think",
    "0 in arithmetic for one constant think time, first steps left out of both; half a hundredth as in case T7"};

// What the rules allow
inline constexpr Threshold kCheckpointGap{
    "checkpoint_gap", 30, "s",
    "editions 2.0 and 3.0: a read that is started by itself begins at most so long after the write's end, so that "
    "nothing is done to the storage in between"};

std::span<const Threshold> thresholds();

} // namespace feedbench::verdict
