// The order of one epoch: which of N items come, in which order, and which are left out; computed index by index.
//
// Thread: any (const). Owner: an epoch plan. Units: counts. Errors: none; the planner asks only for what can be.
// Items lie in units (files) of equal count. Left out are `dropped` items: whole units, and the rest from one more
// unit. Which ones is decided by the seed and the epoch alone, so that no epoch leaves out what the one before left
// out, whatever is shuffled. Source: DESIGN section 5 (the remainder differs from epoch to epoch); cases P2, P6, P12.
// Memory: constant (P10).
#pragma once

#include <cstdint>

#include "harness/types/random.hpp"

namespace feedbench::dataset {

class EpochOrder {
  public:
    struct Parameters {
        std::uint64_t unit_count = 0;
        std::uint64_t items_per_unit = 1;
        std::uint64_t dropped = 0; // items, <= unit_count * items_per_unit
        bool shuffle = false;      // units in random order; items of a unit stay in order
        std::uint64_t seed = 0;
        bool reshuffle_each_epoch = true;
        std::uint64_t epoch_index = 0;
    };
    struct Item {
        std::uint64_t unit, item;
    };

    explicit EpochOrder(const Parameters& parameters);
    std::uint64_t used_count() const { return used_count_; }
    Item operator()(std::uint64_t position) const; // position < used_count()

  private:
    std::uint64_t unit_at(std::uint64_t unit_position) const;

    bool shuffle_;
    std::uint64_t items_per_unit_;
    std::uint64_t used_count_;
    std::uint64_t whole_, rest_; // left out: whole units, items of one more
    std::uint64_t hole_unit_ =
        0; // units [hole_unit_, hole_unit_ + whole_) are left out, the next one loses `rest_` items
    std::uint64_t hole_item_ = 0;      // ... from this one on
    std::uint64_t short_position_ = 0; // where the unit that lost items stands in the order
    std::uint64_t swap_with_ = 0;      // what the permutation would have put there
    Permutation fixed_;                // of all units, the same in every epoch: makes the hole a random set
    Permutation epoch_;                // of the units that are left
};

} // namespace feedbench::dataset
