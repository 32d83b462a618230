#include <catch2/catch.hpp>

#include <algorithm>

#include "reporters/reporter.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;

TEST_CASE("one row an epoch and one for the run, all as wide as the header") {
    const std::string text = render_csv(test::passing(), {});
    CHECK(std::count(text.begin(), text.end(), '\n') == 1 + 3 + 1);
    std::ptrdiff_t width = -1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const auto commas = std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                       text.begin() + static_cast<std::ptrdiff_t>(end), ',');
        if (width >= 0) CHECK(commas == width);
        width = commas;
        at = end + 1;
    }
    CHECK(text.find("\nevaluation,") != std::string::npos);
    CHECK(text.find("\nrun,20261231_235950,unet3d_h100,4,2,,") != std::string::npos);
}

TEST_CASE("names with commas and quotes are quoted") {
    RunResult r;
    r.workload = "a,b \"c\"";
    CHECK(render_csv(r, {}).find("\"a,b \"\"c\"\"\"") != std::string::npos);
}
