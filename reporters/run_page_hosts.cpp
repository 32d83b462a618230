// Each client host: what it is, what it could do at most, what it used, and where its bytes came from.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

html::Cell unknown(std::string reason) { return {.text = "", .reason = std::move(reason)}; }

const HostCeiling* ceiling_of(const RunResult& r, const std::string& host) {
    for (const HostCeiling& one : r.ceilings)
        if (one.host == host) return &one;
    return nullptr;
}

// Of the epochs of a host: the least share that came from below, and the largest that lay in its page cache.
struct Evidence {
    std::optional<double> source_share, resident_share;
    std::string source_reason = "nothing recorded it", resident_reason = "nothing was sampled";
    double measured_s = 0;
    std::uint64_t bytes = 0;
    double host_cpu_s = 0;
};
Evidence evidence_of(const RunResult& r, std::size_t host) {
    Evidence out;
    for (const EpochResult& e : r.epochs) {
        if (e.evaluation || host >= e.hosts.size()) continue;
        const HostEpochResult& h = e.hosts[host];
        out.measured_s += e.end_s - e.start_s;
        out.bytes += h.bytes_delivered;
        out.host_cpu_s += h.host_cpu_s;
        if (h.cache.source_bytes && h.cache.bytes_delivered > 0) {
            const double share = *h.cache.source_bytes / static_cast<double>(h.cache.bytes_delivered);
            out.source_share = std::min(share, out.source_share.value_or(share));
        } else if (!h.cache.source_reason.empty()) {
            out.source_reason = h.cache.source_reason;
        }
        if (h.cache.sampled_page_count > 0) {
            const double share =
                static_cast<double>(h.cache.resident_page_count) / static_cast<double>(h.cache.sampled_page_count);
            out.resident_share = std::max(share, out.resident_share.value_or(share));
        } else if (!h.cache.residency_reason.empty()) {
            out.resident_reason = h.cache.residency_reason;
        }
    }
    return out;
}

html::Cell ceiling_cell(const RunResult& r, const HostCeiling* ceiling) {
    if (ceiling != nullptr) return number_cell(ceiling->MB_per_second);
    return unknown(r.ceiling_reason.empty() ? "not measured" : r.ceiling_reason);
}

std::string work_table(const RunPart& part) {
    const RunResult& r = part.result;
    html::Table table;
    table.id = part.prefix + "host-table";
    table.columns = {
        {"Host", "", false, ""},
        {"Accelerators", ""},
        {"Delivered", "MB/s", true, "in the epochs"},
        {"Client ceiling", "MB/s", true, "the same plan on storage that costs nothing"},
        {"Ceiling AU", "%"},
        {"From the storage", "%", true,
         "bytes from the device or network over bytes delivered; the epoch with the least"},
        {"Found in page cache", "%", true, "of sampled pages just before they were read; the epoch with the most"},
        {"Client CPU", "s/GB", true, "of the process"},
        {"CPUs busy", "%", true, "of the whole host, in the epochs"},
        {"Peak memory", "MiB", true, "of its largest rank"}};
    for (std::size_t i = 0; i < r.hosts.size(); ++i) {
        const HostFacts& h = r.hosts[i];
        const Evidence e = evidence_of(r, i);
        const HostCeiling* ceiling = ceiling_of(r, h.name);
        const bool timed = e.measured_s > 0;
        const double delivered_GB = static_cast<double>(h.bytes_delivered) / 1e9;
        table.rows.push_back(
            {{.text = h.name},
             count_cell(h.accelerator_count),
             timed ? number_cell(static_cast<double>(e.bytes) / 1e6 / e.measured_s) : unknown("no epoch was measured"),
             ceiling_cell(r, ceiling),
             ceiling == nullptr       ? html::Cell{.text = "-"}
             : ceiling->au_percentage ? number_cell(*ceiling->au_percentage, 1)
                                      : unknown("too few steps"),
             e.source_share ? number_cell(100 * *e.source_share, 1) : unknown(e.source_reason),
             e.resident_share ? number_cell(100 * *e.resident_share, 1) : unknown(e.resident_reason),
             delivered_GB > 0 ? number_cell(h.process_cpu_s / delivered_GB) : unknown("nothing was read"),
             timed && h.cpu_count > 0 && !r.virtual_time
                 ? number_cell(100 * e.host_cpu_s / e.measured_s / h.cpu_count, 1)
                 : unknown(r.virtual_time ? "virtual time" : "no epoch was measured"),
             h.peak_rss_bytes > 0 ? number_cell(static_cast<double>(h.peak_rss_bytes) / 1048576, 1)
                                  : unknown("not recorded")});
    }
    return html::table(table);
}

std::string system_table(const RunPart& part) {
    html::Table table;
    table.id = part.prefix + "system-table";
    table.sortable = part.result.hosts.size() > 1;
    table.columns = {
        {"Host", "", false},   {"CPU", "", false},
        {"CPUs", ""},          {"Allowed", "", true, "affinity of the ranks, at most the cgroup's quota"},
        {"Memory", "GiB"},     {"Ranks", ""},
        {"Network", "Gbit/s"}, {"Memory reads", "GB/s", true, "measured before the run, all CPUs of the job"},
        {"Kernel", "", false}};
    for (const HostFacts& h : part.result.hosts)
        table.rows.push_back(
            {{.text = h.name},
             {.text = h.cpu_model.empty() ? "-" : h.cpu_model},
             count_cell(h.cpu_count),
             h.cpu_allowed ? number_cell(*h.cpu_allowed, 1) : unknown("the machine does not say"),
             number_cell(static_cast<double>(h.memory_bytes) / 1073741824, 1),
             count_cell(h.rank_count),
             h.nic_bytes_per_second ? number_cell(*h.nic_bytes_per_second * 8 / 1e9, 1)
                                    : unknown("the machine does not say"),
             h.memory_bytes_per_second ? number_cell(*h.memory_bytes_per_second / 1e9, 1) : unknown("not measured"),
             {.text = h.kernel.empty() ? "-" : h.kernel}});
    return html::table(table);
}

std::string cache_details(const RunPart& part) {
    html::Table table;
    table.id = part.prefix + "cache-table";
    table.filterable = part.result.hosts.size() > 4;
    table.columns = {{"Epoch", ""},         {"Host", "", false},   {"Delivered", "MB"},
                     {"From below", "MB"},  {"Source", "", false}, {"Read by the process", "MB", true, "/proc/self/io"},
                     {"Pages sampled", ""}, {"In page cache", ""}, {"Cache dropped before", "", false}};
    constexpr std::size_t kMostRows = 2000; // a page is for reading; result.json has them all
    std::size_t all = 0;
    for (const EpochResult& e : part.result.epochs)
        for (const HostEpochResult& h : e.hosts) {
            if (++all > kMostRows) continue;
            const CacheEvidence& c = h.cache;
            table.rows.push_back(
                {{.text = fmt::format("{}{}", e.index + 1, e.evaluation ? " eval" : ""), .value = e.index + 1.0},
                 {.text = h.host},
                 number_cell(static_cast<double>(h.bytes_delivered) / 1e6, 1),
                 c.source_bytes ? number_cell(*c.source_bytes / 1e6, 1)
                                : unknown(c.source_reason.empty() ? "not counted" : c.source_reason),
                 {.text = c.source.empty() ? "-" : c.source},
                 c.process_read_bytes ? number_cell(*c.process_read_bytes / 1e6, 1) : unknown("not counted"),
                 count_cell(c.sampled_page_count),
                 c.sampled_page_count > 0
                     ? count_cell(c.resident_page_count)
                     : unknown(c.residency_reason.empty() ? "nothing was sampled" : c.residency_reason),
                 {.text = c.drop_outcome.empty() ? "-" : c.drop_outcome}});
        }
    if (all == 0) return {};
    return html::details(
        all <= kMostRows
            ? "Where the bytes came from, epoch by epoch"
            : fmt::format("Where the bytes came from: the first {} of {} rows; result.json has all", kMostRows, all),
        html::table(table));
}

} // namespace

std::string host_section(const RunPart& part) {
    if (part.result.hosts.empty()) return {};
    const std::string work = part.result.epochs.empty() ? "" : work_table(part);
    return html::section(part.prefix + "hosts", "Hosts and how far to trust them",
                         work + cache_details(part) + "<h3>System</h3>\n" + system_table(part));
}

} // namespace feedbench::reporters
