// A queue in one piece of memory that grows and never shrinks: a loader takes and adds one batch a step, and a deque's
// nodes would come from the heap and go back to it each time.
//
// Thread: one user at a time. Owner: the holder. Units: none. Errors: none; an index beyond the end is the caller's
// fault (asserted). Source: a power of two of slots, the front at a rotating place.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace feedbench::loader {

template <class T>
class Ring {
  public:
    std::size_t size() const { return count_; }
    T& operator[](std::size_t i) {
        assert(i < count_);
        return slots_[(head_ + i) & (slots_.size() - 1)];
    }
    const T& operator[](std::size_t i) const {
        assert(i < count_);
        return slots_[(head_ + i) & (slots_.size() - 1)];
    }
    T& front() { return (*this)[0]; }
    const T& front() const { return (*this)[0]; }
    void emplace_back() {
        if (count_ == slots_.size()) grow();
        ++count_;
        (*this)[count_ - 1] = T{};
    }
    void pop_front() {
        assert(count_ > 0);
        head_ = (head_ + 1) & (slots_.size() - 1);
        --count_;
    }
    void clear() { head_ = count_ = 0; }

  private:
    void grow() {
        std::vector<T> bigger(slots_.empty() ? 2 : slots_.size() * 2);
        for (std::size_t i = 0; i < count_; ++i) bigger[i] = std::move((*this)[i]);
        slots_ = std::move(bigger);
        head_ = 0;
    }
    std::vector<T> slots_;
    std::size_t head_ = 0, count_ = 0;
};

} // namespace feedbench::loader
