#include "reporters/storage_words.hpp"

#include <fmt/format.h>

#include "reporters/console_text.hpp"
#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

const HistogramData* histogram(const EndpointResult& endpoint, std::string_view key) {
    for (const HistogramData& one : endpoint.histograms)
        if (one.key == key) return &one;
    return nullptr;
}

std::string quantiles(const EndpointResult& endpoint, std::string_view key, std::string_view name) {
    const HistogramData* data = histogram(endpoint, key);
    if (data == nullptr || data->count == 0) return {};
    return fmt::format(", {} p50 {} p99 {}", name, duration_text(data->p50_ns / 1e9),
                       duration_text(data->p99_ns / 1e9));
}

html::Cell quantile_cell(const EndpointResult& endpoint, std::string_view key, double HistogramData::*quantile) {
    const HistogramData* data = histogram(endpoint, key);
    if (data == nullptr || data->count == 0) return {.text = "", .reason = "no request was answered in full"};
    return duration_cell(data->*quantile / 1e9);
}

std::string endpoint_table(const RunPart& part) {
    html::Table table;
    table.id = part.prefix + "endpoint-table";
    table.columns = {{"Server", "", false}, {"Used for", "", false}, {"Requests", ""},       {"Given up", ""},
                     {"Retries", ""},       {"Causes", "", false},   {"Connections", ""},    {"Received", "MB"},
                     {"Sent", "MB"},        {"First byte p50", ""},  {"First byte p99", ""}, {"Last byte p50", ""},
                     {"Last byte p99", ""}};
    for (const StorageResult& storage : part.result.storages)
        for (const EndpointResult& e : storage.endpoints) {
            html::Cell failed = count_cell(e.failed_request_count), retried = count_cell(e.retry_count);
            if (e.failed_request_count > 0) failed.tone = "bad";
            if (e.retry_count > 0) retried.tone = "warn";
            table.rows.push_back({{.text = e.name},
                                  {.text = storage.use},
                                  count_cell(e.request_count),
                                  failed,
                                  retried,
                                  {.text = retry_text(e)},
                                  count_cell(e.connection_count),
                                  number_cell(static_cast<double>(e.bytes_received) / 1e6, 1),
                                  number_cell(static_cast<double>(e.bytes_sent) / 1e6, 1),
                                  quantile_cell(e, "time_to_first_byte", &HistogramData::p50_ns),
                                  quantile_cell(e, "time_to_first_byte", &HistogramData::p99_ns),
                                  quantile_cell(e, "time_to_last_byte", &HistogramData::p50_ns),
                                  quantile_cell(e, "time_to_last_byte", &HistogramData::p99_ns)});
        }
    return table.rows.empty() ? std::string() : html::table(table);
}

} // namespace

std::string retry_text(const EndpointResult& endpoint) {
    std::string text;
    for (const RetryResult& retry : endpoint.retries)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", retry.count, retry.cause);
    return text;
}

std::string storage_text(const StorageResult& s) {
    std::string text = s.filesystem_type;
    if (!s.mount_point.empty()) text += " on " + s.mount_point;
    std::string more = s.device == s.filesystem_type ? "" : s.device; // tmpfs on tmpfs tells nothing
    const auto add = [&](const std::string& one) {
        if (!one.empty()) more += (more.empty() ? "" : "; ") + one;
    };
    if (!s.server.empty())
        add("server " + s.server + (s.network_interface.empty() ? "" : " through " + s.network_interface));
    add(s.mount_options);
    if (!more.empty()) text += (text.empty() ? "" : " ") + ("(" + more + ")");
    return text;
}

std::string endpoint_text(const EndpointResult& e) {
    std::string text = fmt::format("{}: {}, {}", e.name, count_text(e.request_count, "request"),
                                   count_text(e.connection_count, "connection"));
    if (e.retry_count > 0)
        text += fmt::format(", {} sent again{}", e.retry_count, e.retries.empty() ? "" : " (" + retry_text(e) + ")");
    if (e.failed_request_count > 0) text += fmt::format(", {} given up", e.failed_request_count);
    return text + quantiles(e, "time_to_first_byte", "first byte") + quantiles(e, "time_to_last_byte", "last byte");
}

std::string storage_section(const RunPart& part) {
    if (part.result.storages.empty()) return {};
    html::Table table;
    table.id = part.prefix + "storage-table";
    table.columns = {{"Used for", "", false},   {"Place", "", false},  {"Backend", "", false},
                     {"Filesystem", "", false}, {"Device", "", false}, {"Server", "", false},
                     {"Options", "", false},    {"Free", "GB"},        {"Of", "GB"},
                     {"Hosts", "", false}};
    for (const StorageResult& s : part.result.storages) {
        const auto room = [&](std::uint64_t bytes) {
            return s.total_bytes == 0 ? html::Cell{.text = "", .reason = "not said"}
                                      : number_cell(static_cast<double>(bytes) / 1e9, 1);
        };
        table.rows.push_back(
            {{.text = s.use},
             {.text = s.place},
             {.text = s.backend},
             {.text = s.mount_point.empty() ? s.filesystem_type : s.filesystem_type + " on " + s.mount_point},
             {.text = s.device},
             {.text = s.network_interface.empty() ? s.server : s.server + " through " + s.network_interface},
             {.text = s.note.empty() ? s.mount_options : s.mount_options + " · " + s.note, .tone = "words soft"},
             room(s.free_bytes),
             room(s.total_bytes),
             {.text = s.hosts.size() == 1 ? s.hosts.front() : count_text(s.hosts.size(), "host")}});
    }
    return html::section(part.prefix + "storage", "The storage", html::table(table) + endpoint_table(part));
}

} // namespace feedbench::reporters
