#include "harness/loader/index_cache.hpp"

namespace feedbench::loader {

std::uint64_t IndexCache::cost(const Index& index) {
    std::uint64_t bytes = kEntryBytes;
    if (index)
        for (const auto& one : *index) bytes += one.size();
    return bytes;
}

const IndexCache::Index* IndexCache::find(std::uint64_t file_index) const {
    const auto found = kept_.find(file_index);
    return found == kept_.end() ? nullptr : &found->second;
}

void IndexCache::keep(std::uint64_t file_index, Index index) {
    const auto [place, is_new] = kept_.try_emplace(file_index, std::move(index));
    if (!is_new) return; // another worker was reading it, too
    oldest_first_.push_back(file_index);
    kept_bytes_ += cost(place->second);
    while (kept_bytes_ > limit_bytes_ && oldest_first_.size() > 1) {
        const auto oldest = kept_.find(oldest_first_.front());
        oldest_first_.pop_front();
        kept_bytes_ -= cost(oldest->second);
        kept_.erase(oldest);
    }
}

} // namespace feedbench::loader
