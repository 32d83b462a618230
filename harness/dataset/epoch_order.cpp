#include "harness/dataset/epoch_order.hpp"

#include <algorithm>
#include <cassert>

namespace feedbench::dataset {

EpochOrder::EpochOrder(const Parameters& p)
    : shuffle_(p.shuffle), items_per_unit_(p.items_per_unit), used_count_(p.unit_count * p.items_per_unit - p.dropped),
      whole_(p.dropped / p.items_per_unit), rest_(p.dropped % p.items_per_unit),
      fixed_(p.unit_count, stream_seed(p.seed, "order of all")),
      epoch_(p.unit_count - whole_,
             stream_seed(p.seed, "order of an epoch", p.reshuffle_each_epoch ? p.epoch_index : 0)) {
    assert(p.items_per_unit > 0 && p.dropped <= p.unit_count * p.items_per_unit);
    if (p.dropped == 0 || used_count_ == 0) return;

    // Places for the hole: side by side where two fit, else overlapping ones; an epoch takes the next of a seeded
    // permutation.
    const std::uint64_t width = whole_ + (rest_ > 0 ? 1 : 0);
    const std::uint64_t side_by_side = p.unit_count / width;
    const std::uint64_t stride = side_by_side >= 2 ? width : 1;
    const std::uint64_t unit_places = side_by_side >= 2 ? side_by_side : p.unit_count - width + 1;
    const std::uint64_t item_places = rest_ == 0 ? 1 : items_per_unit_ - rest_ + 1;
    const std::uint64_t places = unit_places * item_places; // <= items in all
    const std::uint64_t place = Permutation(places, stream_seed(p.seed, "remainder"))(p.epoch_index % places);
    hole_unit_ = place % unit_places * stride;
    hole_item_ = place / unit_places;
    if (rest_ == 0) return;
    short_position_ = hole_unit_;
    if (!shuffle_) return;
    // The short unit may stand anywhere: draw its position, and exchange it with the unit that the permutation put
    // there.
    short_position_ = Random(stream_seed(p.seed, "short unit", p.epoch_index)).below(epoch_.size());
    swap_with_ = epoch_(short_position_);
}

std::uint64_t EpochOrder::unit_at(std::uint64_t unit_position) const {
    std::uint64_t kept = unit_position;
    if (shuffle_) {
        kept = epoch_(unit_position);
        if (rest_ > 0) {
            if (kept == swap_with_)
                kept = hole_unit_;
            else if (kept == hole_unit_)
                kept = swap_with_;
        }
    }
    const std::uint64_t unit = kept < hole_unit_ ? kept : kept + whole_;
    return shuffle_ ? fixed_(unit) : unit;
}

EpochOrder::Item EpochOrder::operator()(std::uint64_t position) const {
    assert(position < used_count_);
    const std::uint64_t short_begin = short_position_ * items_per_unit_;
    if (rest_ == 0 || position < short_begin) return {unit_at(position / items_per_unit_), position % items_per_unit_};
    const std::uint64_t in_short = position - short_begin;
    if (in_short < items_per_unit_ - rest_)
        return {unit_at(short_position_), in_short < hole_item_ ? in_short : in_short + rest_};
    position += rest_;
    return {unit_at(position / items_per_unit_), position % items_per_unit_};
}

} // namespace feedbench::dataset
