#include <catch2/catch.hpp>

#include <algorithm>

#include "reporters/console_text.hpp"
#include "reporters/reporter.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;

namespace {
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
} // namespace

TEST_CASE("colours come only when asked for") {
    CHECK_FALSE(has(render_console(test::passing(), {}), "\033"));
    const std::string coloured = render_console(test::failing(), {.colour = true, .width = 100});
    CHECK(has(coloured, "\033[1;31mFAIL\033[0m"));
    CHECK(has(render_console(test::passing(), {.colour = true, .width = 100}), "\033[1;32mpass\033[0m"));
}

TEST_CASE("a run without a bar neither passes nor fails") {
    RunResult r = test::passing();
    r.au_required = 0;
    const std::string text = render_console(r, {});
    CHECK(has(text, "(no bar)"));
    CHECK_FALSE(has(text, "pass"));
    CHECK_FALSE(has(text, "FAIL"));
}

TEST_CASE("a missed bar brings its explanation, wrapped; a met one none") {
    const std::string text = render_console(test::failing(), {.colour = false, .width = 80});
    CHECK(has(text, "below the required 90.00 %"));
    CHECK_FALSE(has(render_console(test::passing(), {}), "below the required"));
}

TEST_CASE("the verdict and its evidence stand before any figure, once, and other findings behind") {
    RunResult r = test::passing();
    r.verdict = "storage-bound";
    r.findings = {{"drop_cache", "warning", "the cache stayed"}, {"storage_bound", "storage-bound", "reads in flight"}};
    const std::string text = render_console(r, {});
    CHECK(has(text, "\nVERDICT storage-bound\n  reads in flight\n"));
    CHECK(text.find("VERDICT") < text.find("  AU "));
    CHECK(text.find("reads in flight") == text.rfind("reads in flight"));
    CHECK(has(text, "warning (drop_cache): the cache stayed"));
    CHECK_FALSE(has(render_console(test::passing(), {}), "VERDICT"));
}

TEST_CASE("verdicts that are no figure of the storage say so in their first line") {
    RunResult r = test::passing();
    for (const char* verdict : {"cached", "implausible"}) {
        r.verdict = verdict;
        CHECK(has(render_console(r, {}), std::string("VERDICT ") + verdict + "  not a figure of the storage\n"));
    }
    for (const char* verdict : {"client-bound", "inconclusive"}) {
        r.verdict = verdict;
        CHECK(has(render_console(r, {}), std::string("VERDICT ") + verdict + "  look before you judge the storage\n"));
    }
    r.verdict = "accelerator-bound";
    CHECK(has(render_console(r, {}), "VERDICT accelerator-bound\n"));
}

TEST_CASE("a thousand epochs do not scroll the result away") {
    RunResult r = test::passing();
    r.epochs.resize(1000, r.epochs[0]);
    const std::string text = render_console(r, {});
    CHECK(std::count(text.begin(), text.end(), '\n') < 80);
    CHECK(has(text, "... 960 more in result.json"));
}

TEST_CASE("a result of which nothing is known still prints") {
    const std::string text = render_console(RunResult(), {});
    CHECK(has(text, "NOT VALID"));
    CHECK(has(text, "Run is incomplete"));
    CHECK(has(text, "not verified by MLCommons"));
}

TEST_CASE("text for people") {
    CHECK(duration_text(0.000375) == "375.0 us");
    CHECK(duration_text(0.0124) == "12.40 ms");
    CHECK(duration_text(12.3) == "12.30 s");
    CHECK(clock_text(7.4) == "0:07");
    CHECK(clock_text(727) == "12:07");
    CHECK(clock_text(11527) == "3:12:07");
    CHECK(clock_text(-3) == "0:00");
    const Metric none{"x", "%", std::nullopt, "metric_window_empty", "f"};
    CHECK(value_text(&none, 2) == "none (metric_window_empty)");
    CHECK(value_text(nullptr, 2) == "-");
    CHECK(wrap("aa bb cc", 5, "") == "aa bb\ncc\n");
    CHECK(wrap("a_word_longer_than_the_width b", 5, "  ") == "  a_word_longer_than_the_width\n  b\n");
    CHECK(wrap("", 5, "").empty());
}
