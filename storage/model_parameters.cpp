#include "storage/model_parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "harness/types/option_reader.hpp"

namespace feedbench::storage {

namespace {

constexpr Option kModelOptions[] = {
    {"bandwidth", OptionType::size_bytes, "bytes/s", "0",
     "shared by all operations of this process; 0 = without limit"},
    {"latency", OptionType::duration_s, "s", "0",
     "of every read and write, after its turn; with latency_p99 the median"},
    {"latency_p99", OptionType::duration_s, "s", "0",
     "99th percentile of a lognormal latency (seeded); 0 = every latency is the same"},
    {"open_latency", OptionType::duration_s, "s", "0", "of every open and create; with open_latency_p99 the median"},
    {"open_latency_p99", OptionType::duration_s, "s", "0", "the same as latency_p99, of open and create"},
    {"jitter", OptionType::duration_s, "s", "0", "mean of an exponential time added to each latency (seeded)"},
    {"iops", OptionType::number, "1/s", "0", "operations a second of this process; 0 = without limit"},
    {"parallel", OptionType::integer, "operations", "0",
     "operations that are worked on at a time, each to the end of its latency; the others queue; 0 = without limit"},
    {"piece", OptionType::size_bytes, "bytes", "0",
     "an operation of more bytes counts as several, one after another: latency and iops of each; 0 = as one"},
    {"hosts", OptionType::integer, "hosts", "1",
     "client hosts that the accelerators are spread over: accelerator a is on host a mod hosts"},
    {"link", OptionType::size_bytes, "bytes/s", "0", "of each host's connection; 0 = without limit"},
    {"client_cost", OptionType::duration_s, "s", "0",
     "time that each operation takes of its host's processor, one after another, before it reaches the storage"},
    {"cached", OptionType::number, "share of files", "0",
     "files that lie in each host's memory (chosen by a hash of the name): neither storage nor link see them"},
    {"cache_bandwidth", OptionType::size_bytes, "bytes/s", "0",
     "at which each host's memory answers; 0 = without limit"},
    {"cache_latency", OptionType::duration_s, "s", "0", "of every operation on a file that lies in memory"},
};

ModelTime time_of(OptionReader& reader, const char* key, const char* key_p99) {
    const ModelTime time{reader.duration_ns(key), reader.duration_ns(key_p99)};
    if (reader.has_failed() || time.p99_ns == 0) return time;
    if (time.median_ns == 0)
        reader.refuse(key_p99, std::string("has no meaning without ") + key + ", the median of the distribution");
    else if (time.p99_ns < time.median_ns)
        reader.refuse(key_p99, "'" + reader.text(key_p99) + "' lies below " + key + ", the median, of '" +
                                   reader.text(key) + "'");
    return time;
}

std::string shortest(double value) {
    char text[40];
    const auto [end, code] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
    return code == std::errc{} ? std::string(text, end) : std::to_string(value);
}
std::string size_text(double bytes) {
    if (bytes >= 1e9) return shortest(bytes / 1e9) + "GB";
    if (bytes >= 1e6) return shortest(bytes / 1e6) + "MB";
    return std::to_string(std::llround(bytes));
}
std::string duration_text(std::uint64_t ns) {
    const auto value = static_cast<double>(ns);
    if (ns >= 1'000'000'000) return shortest(value / 1e9) + "s";
    if (ns >= 1'000'000) return shortest(value / 1e6) + "ms";
    if (ns >= 1'000) return shortest(value / 1e3) + "us";
    return std::to_string(ns) + "ns";
}

} // namespace

std::span<const Option> model_options() { return kModelOptions; }

Expected<ModelParameters> parse_model_parameters(const std::map<std::string, std::string>& options,
                                                 const std::string& uri) {
    constexpr std::int64_t kMostHosts = 1'000'000, kMostParallel = 1'000'000'000;
    constexpr double kMostOperations = 1e15;
    OptionReader reader(kModelOptions, options, uri);
    const auto rate = [&reader](const char* key) { return static_cast<double>(reader.bytes(key)); };
    ModelParameters p;
    p.bytes_per_second = rate("bandwidth");
    p.operations_per_second = reader.number("iops", 0, kMostOperations);
    p.parallel_count = static_cast<std::uint32_t>(reader.integer("parallel", 0, kMostParallel));
    p.latency = time_of(reader, "latency", "latency_p99");
    p.open_latency = time_of(reader, "open_latency", "open_latency_p99");
    p.jitter_ns = reader.duration_ns("jitter");
    p.piece_bytes = reader.bytes("piece");
    p.host_count = static_cast<std::uint32_t>(reader.integer("hosts", 1, kMostHosts));
    p.link_bytes_per_second = rate("link");
    p.client_cost_ns = reader.duration_ns("client_cost");
    p.cached_share = reader.number("cached", 0, 1);
    p.cache_bytes_per_second = rate("cache_bandwidth");
    p.cache_latency_ns = reader.duration_ns("cache_latency");
    for (const char* key : {"cache_bandwidth", "cache_latency"})
        if (p.cached_share == 0 && (p.cache_bytes_per_second > 0 || p.cache_latency_ns > 0) && reader.text(key) != "0")
            reader.refuse(key, "has no effect without cached=SHARE");
    if (auto status = reader.status(); !status) return status.error();
    return p;
}

std::string model_uri(const ModelParameters& p) {
    std::string text;
    const auto add = [&text](const char* key, const std::string& value, bool given) {
        if (given) text += (text.empty() ? "" : ",") + std::string(key) + "=" + value;
    };
    const auto rate = [&](const char* key, double value) { add(key, size_text(value), value > 0); };
    const auto time = [&](const char* key, std::uint64_t ns) { add(key, duration_text(ns), ns > 0); };
    rate("bandwidth", p.bytes_per_second);
    time("latency", p.latency.median_ns);
    time("latency_p99", p.latency.p99_ns);
    time("open_latency", p.open_latency.median_ns);
    time("open_latency_p99", p.open_latency.p99_ns);
    time("jitter", p.jitter_ns);
    add("iops", shortest(p.operations_per_second), p.operations_per_second > 0);
    add("parallel", std::to_string(p.parallel_count), p.parallel_count > 0);
    add("piece", std::to_string(p.piece_bytes), p.piece_bytes > 0);
    add("hosts", std::to_string(p.host_count), p.host_count != 1);
    rate("link", p.link_bytes_per_second);
    time("client_cost", p.client_cost_ns);
    add("cached", shortest(p.cached_share), p.cached_share > 0);
    rate("cache_bandwidth", p.cache_bytes_per_second);
    time("cache_latency", p.cache_latency_ns);
    return "model:" + text;
}

} // namespace feedbench::storage
