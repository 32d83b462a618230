#include "harness/probes/network_interface.hpp"

#include <arpa/inet.h>
#include <netdb.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "harness/probes/proc_file.hpp"

namespace feedbench::probes {
namespace {

constexpr unsigned kRouteUp = 0x1, kRouteReject = 0x200; // linux/route.h
constexpr const char* kLoopback = "lo";

std::string text_of(const in_addr& address) {
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &address, text, sizeof text);
    return text;
}

// fib_trie writes "|-- 10.0.0.5" and on the next line "/32 host LOCAL" for an address of this host.
bool is_own(const Machine& machine, const in_addr& address) {
    if ((ntohl(address.s_addr) >> 24) == 127) return true;
    const auto trie = read_proc_file(machine.proc + "/net/fib_trie");
    if (!trie) return false;
    const std::string leaf = "|-- " + text_of(address) + "\n";
    for (std::size_t at = trie->find(leaf); at != std::string::npos; at = trie->find(leaf, at + 1)) {
        const std::size_t start = at + leaf.size();
        if (trie->substr(start, trie->find('\n', start) - start).find("/32 host LOCAL") != std::string::npos)
            return true;
    }
    return false;
}

std::optional<std::string> route_to(const Machine& machine, const in_addr& address) {
    if (is_own(machine, address)) return kLoopback;
    const auto table = read_proc_file(machine.proc + "/net/route");
    if (!table) return {};
    std::optional<std::string> best;
    std::uint32_t best_mask = 0;
    unsigned best_metric = 0;
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
        char name[64] = {};
        unsigned destination = 0, flags = 0, metric = 0, mask = 0;
        if (std::sscanf(line.c_str(), "%63s %x %*x %x %*d %*d %u %x", name, &destination, &flags, &metric, &mask) != 5)
            continue; // the heading
        if ((flags & kRouteUp) == 0 || (flags & kRouteReject) != 0 || (address.s_addr & mask) != destination) continue;
        const std::uint32_t length = ntohl(mask); // a longer prefix is a larger number
        if (best && (length < best_mask || (length == best_mask && metric >= best_metric))) continue;
        best = name;
        best_mask = length;
        best_metric = metric;
    }
    return best;
}

bool shares_prefix(const in6_addr& a, const in6_addr& b, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) {
        const unsigned mask = 0x80U >> (i % 8);
        if (((a.s6_addr[i / 8] ^ b.s6_addr[i / 8]) & mask) != 0) return false;
    }
    return true;
}

bool parse_hex(const char* digits, in6_addr& address) {
    for (unsigned char& byte : address.s6_addr) {
        unsigned value = 0;
        if (std::sscanf(digits, "%2x", &value) != 1) return false;
        byte = static_cast<unsigned char>(value);
        digits += 2;
    }
    return true;
}

std::optional<std::string> route_to(const Machine& machine, const in6_addr& address) {
    const auto table = read_proc_file(machine.proc + "/net/ipv6_route");
    if (!table) return {};
    std::optional<std::string> best;
    unsigned best_bits = 0, best_metric = 0;
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
        char digits[33] = {}, name[64] = {};
        unsigned bits = 0, metric = 0, flags = 0;
        if (std::sscanf(line.c_str(), "%32s %x %*s %*x %*s %x %*x %*x %x %63s", digits, &bits, &metric, &flags, name) !=
            5)
            continue;
        in6_addr prefix{};
        if (std::strlen(digits) != 32 || !parse_hex(digits, prefix) || bits > 128) continue;
        if ((flags & kRouteUp) == 0 || (flags & kRouteReject) != 0 || !shares_prefix(address, prefix, bits)) continue;
        if (best && (bits < best_bits || (bits == best_bits && metric >= best_metric))) continue;
        best = name;
        best_bits = bits;
        best_metric = metric;
    }
    return best;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
    const auto content = read_proc_file(path);
    if (!content || content->empty() || content->front() < '0' || content->front() > '9') return {};
    return std::strtoull(content->c_str(), nullptr, 10);
}

} // namespace

std::optional<std::string> interface_to(const Machine& machine, const std::string& host) {
    in_addr v4{};
    if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return route_to(machine, v4);
    in6_addr v6{};
    if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return route_to(machine, v6);
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return {};
    std::optional<std::string> interface;
    for (const addrinfo* one = found; one && !interface; one = one->ai_next) {
        if (one->ai_family == AF_INET)
            interface = route_to(machine, reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr);
        else if (one->ai_family == AF_INET6)
            interface = route_to(machine, reinterpret_cast<const sockaddr_in6*>(one->ai_addr)->sin6_addr);
    }
    freeaddrinfo(found);
    return interface;
}

std::optional<std::uint64_t> bytes_received(const Machine& machine, const std::string& interface) {
    return number_in(machine.sys + "/class/net/" + interface + "/statistics/rx_bytes");
}

std::optional<std::uint64_t> bytes_sent(const Machine& machine, const std::string& interface) {
    return number_in(machine.sys + "/class/net/" + interface + "/statistics/tx_bytes");
}

std::optional<double> line_rate_bytes_per_second(const Machine& machine, const std::string& interface) {
    const auto megabits = number_in(machine.sys + "/class/net/" + interface + "/speed");
    if (!megabits || *megabits == 0 || *megabits >= 0xffffffffULL) return {}; // 2^32 - 1: unknown, in old drivers
    return static_cast<double>(*megabits) * 1e6 / 8;
}

std::optional<LineRate> fastest_interface(const Machine& machine) {
    std::optional<LineRate> best;
    std::error_code error;
    for (std::filesystem::directory_iterator at(machine.sys + "/class/net", error), end; !error && at != end;
         at.increment(error)) {
        std::error_code no_device;
        if (!std::filesystem::exists(at->path() / "device", no_device)) continue; // lo, bridges, tunnels
        const std::string name = at->path().filename().string();
        const auto rate = line_rate_bytes_per_second(machine, name);
        if (rate && (!best || *rate > best->bytes_per_second)) best = LineRate{name, *rate};
    }
    return best;
}

std::vector<Fact> network_facts(const Machine& machine) {
    const auto fastest = fastest_interface(machine);
    if (!fastest) return {{"nic_bytes_per_second", {}, {}, "no network interface tells its speed"}};
    return {{"nic_bytes_per_second", fastest->bytes_per_second, {}, {}}};
}

} // namespace feedbench::probes
