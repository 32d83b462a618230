// How the watching thread judges what it sees: of this process, of the ranks of this host, of the other hosts.
#include <fmt/format.h>

#include <algorithm>

#include "harness/cluster/stall_watch.hpp"
#include "harness/types/units.hpp"

namespace feedbench::cluster {

std::uint64_t SignReader::grace_ns(std::uint64_t timeout_ns) {
    return std::clamp<std::uint64_t>(timeout_ns / 4, kNsPerS, 30 * kNsPerS);
}

SignReader::SignReader(Communicator& communicator, std::uint64_t timeout_ns)
    : communicator_(communicator), timeout_ns_(timeout_ns),
      lives_(static_cast<std::size_t>(communicator.life().rank_count())), waits_(lives_.size()),
      hosts_(communicator.hosts().size()) {}

bool SignReader::Seen::follow(std::uint64_t now_value, std::uint64_t passed_ns) {
    const bool changed = now_value != value;
    value = now_value;
    unchanged_ns = changed ? 0 : unchanged_ns + passed_ns;
    return changed;
}

std::string SignReader::rank_line(int local_rank) const {
    const LifeSigns& life = communicator_.life();
    const HostLayout& host = communicator_.hosts()[static_cast<std::size_t>(communicator_.host_index())];
    const std::string doing = life.doing_of(local_rank), outstanding = life.outstanding_of(local_rank);
    std::string text = fmt::format(
        "\n  rank {} (host {}): {}{}", host.ranks[static_cast<std::size_t>(local_rank)], host.name,
        doing.empty() ? "has said nothing of what it does" : doing,
        (life.wait_of(local_rank) & 1) != 0 ? ", has arrived where ranks meet and waits for the others" : "");
    if (!outstanding.empty()) text += ", outstanding:" + outstanding;
    return text;
}

std::string SignReader::others() const {
    std::string text;
    constexpr int kRanksMost = 16;
    const int count = communicator_.life().rank_count();
    if (communicator_.size() == 1) return text;
    for (int rank = 0; rank < std::min(count, kRanksMost); ++rank) text += rank_line(rank);
    if (count > kRanksMost) text += fmt::format("\n  and {} ranks more on this host", count - kRanksMost);
    return text;
}

std::string SignReader::look(std::uint64_t passed_ns) {
    const LifeSigns& life = communicator_.life();
    const std::uint64_t grace = grace_ns(timeout_ns_);
    // This process: its main thread has not come back from something, be it a system call or a library.
    const int mine = life.local_rank();
    own_.follow(life.progress_of(mine), passed_ns);
    if (own_.unchanged_ns >= timeout_ns_) {
        const std::string doing = life.doing_of(mine);
        return fmt::format("nothing has moved for {:.1f} s in: {}", seconds(own_.unchanged_ns),
                           doing.empty() ? "a call outside the loop" : doing);
    }
    // The others of this host: a process that is stopped, or swapped out for good, cannot speak for itself.
    bool all_wait = true;
    std::uint64_t waited_ns = ~std::uint64_t{0};
    const HostLayout& host = communicator_.hosts()[static_cast<std::size_t>(communicator_.host_index())];
    for (int rank = 0; rank < life.rank_count(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        waits_[at].follow(life.wait_of(rank), passed_ns);
        all_wait = all_wait && (life.wait_of(rank) & 1) != 0;
        waited_ns = std::min(waited_ns, waits_[at].unchanged_ns);
        lives_[at].follow(life.life_of(rank), passed_ns);
        if (rank == mine || lives_[at].unchanged_ns < timeout_ns_ + grace) continue;
        return fmt::format("rank {} on host {} has given no sign of life for {:.1f} s; last known:{}", host.ranks[at],
                           host.name, seconds(lives_[at].unchanged_ns), rank_line(rank));
    }
    if (!all_wait) waited_ns = 0;
    communicator_.show_host_waits(waited_ns);
    // Everybody has arrived somewhere, and not at the same place: a fault of our own, or a message that was lost.
    if (communicator_.size() > 1 && communicator_.all_hosts_wait_ns() >= 2 * timeout_ns_ + grace)
        return fmt::format("all ranks have waited for each other for {:.1f} s:{}",
                           seconds(communicator_.all_hosts_wait_ns()), others());
    // The other hosts.
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
        if (static_cast<int>(h) == communicator_.host_index()) continue;
        const std::uint64_t heard = communicator_.signs_heard(static_cast<int>(h));
        hosts_[h].follow(heard, passed_ns);
        if (heard == 0 || hosts_[h].unchanged_ns < 2 * timeout_ns_ + grace) continue;
        const HostLayout& silent = communicator_.hosts()[h];
        return fmt::format("nothing has been heard of host {} (ranks {} to {}) for {:.1f} s; on this host:{}",
                           silent.name, silent.ranks.front(), silent.ranks.back(), seconds(hosts_[h].unchanged_ns),
                           others());
    }
    return {};
}

} // namespace feedbench::cluster
