// A value for some of a file's chunks, by their number, in order. Most files have one chunk: its value lies in place.
//
// Thread: one at a time. Owner: the holder; what find() and make() answer holds until that chunk is erased. Units:
// none. Errors: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace feedbench::feedfs {

template <class T>
class ByChunk {
  public:
    T* find(std::uint64_t chunk) {
        if (chunk == 0) return first_ ? &*first_ : nullptr;
        const auto found = rest_.find(chunk);
        return found == rest_.end() ? nullptr : &found->second;
    }
    bool contains(std::uint64_t chunk) const { return chunk == 0 ? first_.has_value() : rest_.contains(chunk); }
    // What is there already, or a new one.
    T& make(std::uint64_t chunk) {
        if (chunk != 0) return rest_[chunk];
        if (!first_) first_.emplace();
        return *first_;
    }
    void erase(std::uint64_t chunk) {
        if (chunk == 0)
            first_.reset();
        else
            rest_.erase(chunk);
    }
    void erase_from(std::uint64_t chunk) {
        if (chunk == 0) first_.reset();
        rest_.erase(rest_.lower_bound(chunk), rest_.end());
    }
    std::size_t size() const { return rest_.size() + (first_ ? 1 : 0); }
    std::uint64_t lowest() const { return first_ ? 0 : rest_.begin()->first; } // of what is not empty
    // Calls `each(chunk, value)` until it answers false; false: it did.
    template <class Each>
    bool every(Each each) const {
        if (first_ && !each(std::uint64_t{0}, *first_)) return false;
        for (const auto& [chunk, value] : rest_)
            if (!each(chunk, value)) return false;
        return true;
    }

  private:
    std::optional<T> first_;
    std::map<std::uint64_t, T> rest_;
};

} // namespace feedbench::feedfs
