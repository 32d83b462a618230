// Which interface reaches a host, what it received so far, and what it could at most.
//
// Thread: any; a name (not a number) is looked up, which may take a round trip. Owner: none. Units: bytes, bytes/s.
// Errors: nullopt where the machine does not say. Source: proc(5) /proc/net/route (numbers of the network's byte order
// printed as the CPU reads them), fib_trie and ipv6_route; sysfs-class-net (speed: Mbit/s, -1 or an error where
// unknown).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

// `host`: a name, or an address of IPv4 or IPv6. The host's own addresses are reached through "lo".
std::optional<std::string> interface_to(const Machine& machine, const std::string& host);
std::optional<std::uint64_t> bytes_received(const Machine& machine, const std::string& interface);
std::optional<std::uint64_t> bytes_sent(const Machine& machine, const std::string& interface);
std::optional<double> line_rate_bytes_per_second(const Machine& machine, const std::string& interface);

struct LineRate {
    std::string interface;
    double bytes_per_second = 0;
};
// Of the interfaces with a device behind them; nullopt where none of them tells its speed.
std::optional<LineRate> fastest_interface(const Machine& machine);

std::vector<Fact> network_facts(const Machine& machine);

} // namespace feedbench::probes
