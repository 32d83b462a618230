// Ranks of a host become one CacheEvidence: what a rank did adds up, what the host counted is told once.
#include <algorithm>
#include <charconv>

#include "workloads/cache_watch.hpp"
#include "workloads/message.hpp"

namespace feedbench::workloads {

namespace {

std::string text_of(const std::optional<double>& value) { // bytes: whole numbers, below 2^53
    return value ? std::to_string(static_cast<std::uint64_t>(*value)) : std::string();
}
std::uint64_t number_of(const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}
std::optional<double> maybe_number_of(const std::string& text) {
    if (text.empty()) return {};
    return static_cast<double>(number_of(text));
}

} // namespace

std::string RankEvidence::to_bytes() const {
    const CacheEvidence& e = evidence;
    return pack_strings({counts_host ? "1" : "0", std::to_string(e.bytes_delivered), e.source_kind, e.source,
                         text_of(e.source_bytes), e.source_reason, text_of(e.process_read_bytes),
                         std::to_string(e.sampled_page_count), std::to_string(e.resident_page_count),
                         e.residency_method, e.residency_reason, e.drop_outcome,
                         std::to_string(static_cast<std::uint64_t>(e.drop_s * 1e9))});
}

RankEvidence RankEvidence::from_bytes(const std::string& bytes) {
    const std::vector<std::string> p = unpack_strings(bytes);
    RankEvidence rank;
    rank.counts_host = p[0] == "1";
    CacheEvidence& e = rank.evidence;
    e.bytes_delivered = number_of(p[1]);
    e.source_kind = p[2];
    e.source = p[3];
    e.source_bytes = maybe_number_of(p[4]);
    e.source_reason = p[5];
    e.process_read_bytes = maybe_number_of(p[6]);
    e.sampled_page_count = number_of(p[7]);
    e.resident_page_count = number_of(p[8]);
    e.residency_method = p[9];
    e.residency_reason = p[10];
    e.drop_outcome = p[11];
    e.drop_s = static_cast<double>(number_of(p[12])) / 1e9;
    return rank;
}

CacheEvidence merge_evidence(const std::vector<RankEvidence>& ranks) {
    CacheEvidence host;
    host.process_read_bytes = 0;
    DropReport drop;
    for (const RankEvidence& rank : ranks) {
        const CacheEvidence& e = rank.evidence;
        if (rank.counts_host) {
            host.source_kind = e.source_kind;
            host.source = e.source;
            host.source_bytes = e.source_bytes;
            host.source_reason = e.source_reason;
        }
        host.bytes_delivered += e.bytes_delivered;
        if (host.process_read_bytes && e.process_read_bytes)
            *host.process_read_bytes += *e.process_read_bytes;
        else
            host.process_read_bytes.reset(); // a sum with a part missing is no sum
        host.sampled_page_count += e.sampled_page_count;
        host.resident_page_count += e.resident_page_count;
        if (!e.residency_method.empty()) host.residency_method = e.residency_method;
        if (!e.residency_reason.empty()) host.residency_reason = e.residency_reason;
        drop = worse(drop, {e.drop_outcome.empty() ? "not asked" : e.drop_outcome, e.drop_s});
    }
    if (host.sampled_page_count > 0) host.residency_reason.clear();
    host.drop_outcome = drop.outcome;
    host.drop_s = drop.duration_s;
    return host;
}

} // namespace feedbench::workloads
