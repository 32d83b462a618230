// Files that are open for reading, and how they are used again.
#include <algorithm>

#include "storage/feedfs_files.hpp"

namespace feedbench::storage {

FeedfsReadFile::FeedfsReadFile(FeedfsUnused& unused) : unused_(unused) {
    if (unused_.empty())
        opened = std::make_unique<FeedfsOpened>();
    else {
        opened = std::move(unused_.back());
        unused_.pop_back();
    }
}

FeedfsReadFile::~FeedfsReadFile() {
    constexpr std::size_t kUnusedMost = 256;
    if (unused_.size() >= kUnusedMost || opened->begins.size() > 1) return; // of large files there are few
    opened->files.clear();                                                  // a segment that is gone is not kept
    opened->blocking.reset();
    unused_.push_back(std::move(opened));
}

std::size_t FeedfsOpened::extent_at(std::uint64_t offset) const {
    return begins.empty() ? 0 : static_cast<std::size_t>(std::ranges::upper_bound(begins, offset) - begins.begin()) - 1;
}

} // namespace feedbench::storage
