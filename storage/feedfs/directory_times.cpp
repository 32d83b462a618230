#include "storage/feedfs/directory_times.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace feedbench::feedfs {

namespace {
constexpr std::int64_t kNsPerUs = 1000;
}

void TouchedDirectories::touch(InodeId directory, std::int64_t named_ns, std::int64_t seen_ns) {
    // Mostly one, or as before: looked at from behind.
    for (std::size_t i = touched_.size(); i > 0; --i) {
        Touched& one = touched_[i - 1];
        if (one.directory != directory) continue;
        one.named_ns = std::max(one.named_ns, named_ns);
        one.seen_ns = std::max(one.seen_ns, seen_ns);
        if (i != touched_.size()) std::swap(one, touched_.back());
        return;
    }
    touched_.push_back({directory, named_ns, seen_ns});
}

void TouchedDirectories::add_to(Batch& batch) const {
    for (const Touched& one : touched_) {
        const std::array<std::int64_t, 2> times{one.named_ns / kNsPerUs, one.seen_ns / kNsPerUs};
        batch.raise(directory_times_key(one.directory), times);
    }
}

void touch_directory(Batch& batch, InodeId directory, std::int64_t now_ns) {
    TouchedDirectories one;
    one.touch(directory, now_ns, now_ns);
    one.add_to(batch);
}

Status add_directory_times(ReadView& view, Inode& inode) {
    if (inode.type != InodeType::directory) return {};
    const auto bytes = view.get(directory_times_key(inode.id));
    if (!bytes) return bytes.error();
    if (!*bytes) return {};
    const std::vector<std::int64_t> times = decode_counters(**bytes);
    if (times.size() != 2) return storage_error("lookup", {}, EUCLEAN, "the times of a directory are damaged");
    const std::int64_t named_ns = times[0] * kNsPerUs, seen_ns = times[1] * kNsPerUs;
    // Its ctime is when somebody last set something: what came before that was known to him.
    if (named_ns > inode.ctime_ns) inode.mtime_ns = named_ns;
    inode.ctime_ns = std::max(inode.ctime_ns, seen_ns);
    return {};
}

} // namespace feedbench::feedfs
