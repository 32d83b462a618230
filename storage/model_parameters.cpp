#include "storage/model_parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "harness/types/option_values.hpp"

namespace feedbench::storage {

namespace {

constexpr Option kOptions[] = {
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

// Reads typed values and keeps the first error.
class Reader {
  public:
    Reader(const std::map<std::string, std::string>& options, const std::string& uri) : options_(options), uri_(uri) {}

    double rate(const char* key) { return static_cast<double>(read<std::uint64_t>(key, parse_size_bytes)); }
    std::uint64_t bytes(const char* key) { return read<std::uint64_t>(key, parse_size_bytes); }
    std::uint64_t duration_ns(const char* key) { return read<std::uint64_t>(key, parse_duration_ns); }
    double number(const char* key, double least, double most, const char* expected) {
        const double value = read<double>(key, parse_number);
        if (!error_ && (value < least || value > most)) refuse(key, "'" + options_.at(key) + "' is not " + expected);
        return value;
    }
    ModelTime time(const char* key, const char* key_p99) {
        const ModelTime time{duration_ns(key), duration_ns(key_p99)};
        if (error_ || time.p99_ns == 0) return time;
        if (time.median_ns == 0)
            refuse(key_p99, std::string("has no meaning without ") + key + ", the median of the distribution");
        else if (time.p99_ns < time.median_ns)
            refuse(key_p99,
                   "'" + options_.at(key_p99) + "' lies below " + key + ", the median, of '" + options_.at(key) + "'");
        return time;
    }
    void refuse(const char* key, const std::string& message) {
        if (!error_) error_ = config_error(message, uri_ + ": " + key);
    }
    const std::optional<Error>& error() const { return error_; }

  private:
    template <class T>
    T read(const char* key, Expected<T> (*parse)(std::string_view)) {
        const auto found = options_.find(key);
        if (found == options_.end()) return T{}; // a test that makes the backend without its table
        auto value = parse(found->second);
        if (value) return *value;
        refuse(key, value.error().message);
        return T{};
    }
    const std::map<std::string, std::string>& options_;
    const std::string& uri_;
    std::optional<Error> error_;
};

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

std::span<const Option> model_options() { return kOptions; }

Expected<ModelParameters> parse_model_parameters(const std::map<std::string, std::string>& options,
                                                 const std::string& uri) {
    constexpr double kMostHosts = 1e6, kMostParallel = 1e9, kMostOperations = 1e15;
    Reader reader(options, uri);
    ModelParameters p;
    p.bytes_per_second = reader.rate("bandwidth");
    p.operations_per_second = reader.number("iops", 0, kMostOperations, "a number of operations a second");
    p.parallel_count = static_cast<std::uint32_t>(
        reader.number("parallel", 0, kMostParallel, "a number of operations that are worked on at a time"));
    p.latency = reader.time("latency", "latency_p99");
    p.open_latency = reader.time("open_latency", "open_latency_p99");
    p.jitter_ns = reader.duration_ns("jitter");
    p.piece_bytes = reader.bytes("piece");
    if (options.contains("hosts"))
        p.host_count =
            static_cast<std::uint32_t>(reader.number("hosts", 1, kMostHosts, "a number of hosts, at least 1"));
    p.link_bytes_per_second = reader.rate("link");
    p.client_cost_ns = reader.duration_ns("client_cost");
    p.cached_share = reader.number("cached", 0, 1, "a share between 0 and 1");
    p.cache_bytes_per_second = reader.rate("cache_bandwidth");
    p.cache_latency_ns = reader.duration_ns("cache_latency");
    for (const char* key : {"cache_bandwidth", "cache_latency"})
        if (const auto found = options.find(key); p.cached_share == 0 && found != options.end() &&
                                                  (p.cache_bytes_per_second > 0 || p.cache_latency_ns > 0) &&
                                                  found->second != "0")
            reader.refuse(key, "has no effect without cached=SHARE");
    if (reader.error()) return *reader.error();
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
