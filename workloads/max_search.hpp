// Which number of accelerators to try next, given what the tries so far gave: the search of `feedbench max`, without
// running anything.
//
// Thread: plain value; rank 0's. Owner: run_max. Units: AU in %, accelerators. Errors: none; the search ends after a
// bounded number of trials (kMostProbes, kMostConfirmations) whatever it is told.
// Source: issue of `max`: bracket, bisect with short probes, confirm with a full-length run. docs/max.md says the same
// in words.
//
// The curve N -> AU falls, in whatever shape. One assumption makes it quick and is never needed for the answer: storage
// that is full delivers the same to more accelerators, so that AU x N is constant, and one missed bar at N points at
// N x AU / bar. Where that does not halve the bracket often enough, the middle is taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace feedbench::workloads {

struct SearchOptions {
    double bar_percentage = 90;
    std::uint32_t unit = 1;      // N is a multiple of it (place_accelerators)
    std::uint32_t limit = 65536; // a multiple of unit, at least unit; larger N are not tried
    std::uint32_t start = 0;     // first N; 0: guessed from a scouting run
    double band_points = 1;      // a probe nearer to the bar is not believed alone
    bool confirm = true;         // runs of full length have the last word
};

enum class TrialKind : std::uint8_t {
    scout,   // what the storage delivers when little stops `accelerator_count` accelerators from asking
    probe,   // a short run
    confirm, // a run of full length
    done
};

struct Trial {
    TrialKind kind = TrialKind::done;
    std::uint32_t accelerator_count = 0;
    std::uint32_t length_factor = 1; // of the usual probe length: a repeat is longer
};

struct TrialOutcome {
    std::optional<double> au_percentage; // nothing: too slow for a figure, which counts as missed
    double fed_accelerators = 0;         // scout: as many accelerators at 100 % AU need what was delivered
    bool fed_by_demand = false;          // scout: it got all it asked for, the storage may give more
};

enum class SearchStop : std::uint8_t {
    none,
    bar_missed,     // the next larger N missed the bar
    limit_reached,  // the limit itself passed
    minimum_missed, // not even one unit passed
    trials_spent    // what was found so far; the next N is not known
};

class MaxSearch {
  public:
    static constexpr std::uint32_t kMostProbes = 100, kMostConfirmations = 6;

    explicit MaxSearch(const SearchOptions& options);

    // The trial to make now; the same until give() tells its outcome.
    Trial next() const { return next_; }
    void give(const TrialOutcome& outcome);

    // The answer, so far or at the end: the largest N that passed (a full-length run, where there was one). 0: none.
    std::uint32_t found() const;
    // The smallest N above found() that missed the bar; 0: none.
    std::uint32_t missed() const;
    SearchStop stop() const { return stop_; }
    bool passed(std::uint32_t accelerator_count) const; // as decided; an undecided one has not passed
    // Passed its probe, and missed the bar in a run of full length.
    bool overruled(std::uint32_t accelerator_count) const;
    // About how many probes are still to come, this one included; for the time left that is shown.
    std::uint32_t probes_left() const;

  private:
    struct Point {
        std::vector<double> au; // of its probes; a missing figure is 0
        std::optional<double> confirmed_au;
    };
    struct Bracket {
        std::uint32_t low = 0, high = 0; // largest that passed, smallest above that missed; 0: none
    };

    Trial decide();
    Trial decide_bracket(const Bracket& bracket);
    Trial decide_confirmation();
    Trial finish(SearchStop stop);
    std::uint32_t towards(std::uint32_t missed, double au_percentage, Bracket inside) const;
    std::optional<bool> verdict(const Point& point) const;
    std::optional<bool> probe_verdict(const Point& point) const;
    Bracket probed() const;
    Bracket confirmed() const;
    std::uint32_t down_to_unit(double count) const;
    bool wants_opinion(std::uint32_t accelerator_count) const;
    Trial probe(std::uint32_t accelerator_count) const;

    SearchOptions options_;
    std::map<std::uint32_t, Point> points_;
    Trial next_;
    SearchStop stop_ = SearchStop::none;
    std::uint32_t guess_ = 0, stride_ = 0;
    bool confirming_ = false;
    std::uint32_t probe_count_ = 0, confirmation_count_ = 0;
    std::uint32_t first_width_ = 0, narrowings_ = 0; // of the bracket, in units
};

} // namespace feedbench::workloads
