#include "harness/probes/process_start.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/probes/proc_file.hpp"

namespace feedbench::probes {

// Example: uptime 1000.50, start at tick 99,000 of 100 a second: 1000.50 - 990.00 = 10.5 s.
std::optional<double> process_age_s(const Machine& machine) {
    const auto stat = read_proc_file(machine.proc + "/self/stat"), uptime = read_proc_file(machine.proc + "/uptime");
    const long ticks_per_s = ::sysconf(_SC_CLK_TCK);
    if (!stat || !uptime || ticks_per_s <= 0) return {};
    // The name, field 2, stands in parentheses and may hold anything, blanks and parentheses included.
    const std::size_t name_end = stat->rfind(')');
    unsigned long long start_ticks = 0;
    double up_s = 0;
    if (name_end == std::string::npos || std::sscanf(uptime->c_str(), "%lf", &up_s) != 1 ||
        std::sscanf(stat->c_str() + name_end + 1,
                    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                    &start_ticks) != 1)
        return {};
    return std::max(0.0, up_s - static_cast<double>(start_ticks) / static_cast<double>(ticks_per_s));
}

} // namespace feedbench::probes
