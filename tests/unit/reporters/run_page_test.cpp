// The page of a run as text: what must stand in it, and what must never become markup. tests/browser looks at it.
#include <catch2/catch.hpp>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reporters/html/page.hpp"
#include "reporters/html/table.hpp"
#include "reporters/html/text.hpp"
#include "reporters/markdown_text.hpp"
#include "reporters/report_formats.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;

namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

nlohmann::json data_of(const std::string& page) {
    const std::string_view begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::vector<ReportedRun> runs() {
    return {{"a/result.json", test::passing()}, {"b", test::failing()}, {"c", test::interrupted()}};
}

} // namespace

TEST_CASE("text that wants to be markup stays text") {
    CHECK(html::escape("<b a=\"x\" c='y'>&</b>") == "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;&lt;/b&gt;");
    CHECK(html::escape(std::string("a\0b\x1f", 4)) == "a\xEF\xBF\xBD"
                                                      "b\xEF\xBF\xBD");
    const std::string hostile = R"({"a":"</script><!-- & )"
                                "\xE2\x80\xA8\xE2\x80\xA9"
                                R"("})";
    const std::string safe = html::script_json(hostile);
    CHECK_FALSE(holds(safe, "<"));
    CHECK_FALSE(holds(safe, "&"));
    CHECK_FALSE(holds(safe, "\xE2\x80\xA8"));
    CHECK(nlohmann::json::parse(safe) == nlohmann::json::parse(hostile));
    CHECK(markdown_plain("a|b <i>*_`[x]\n@all #1") == "a\\|b &lt;i>\\*\\_\\`\\[x\\] \\@all \\#1");
}

TEST_CASE("a page is one piece: nothing is loaded, and the data block holds every plot") {
    html::Plot plot;
    plot.id = "p";
    plot.series.push_back({.label = "</script>", .unit = "s", .points = {{1, 0.1234567891}, {2, std::nullopt}}});
    html::Page page{"T <1>", "lead", html::figure(plot), {plot}};
    const std::string text = html::render(page);
    CHECK(holds(text, "<title>T &lt;1&gt;</title>"));
    CHECK(holds(text, "default-src 'none'"));
    CHECK(holds(text, "not verified by MLCommons"));
    CHECK(holds(text, "The MIT License"));
    CHECK(holds(text, "var uPlot="));
    CHECK(count(text, "</script>") == 2);
    CHECK(count(text, "src=") == 0);
    const auto data = data_of(text);
    REQUIRE(data["plots"].size() == 1);
    CHECK(data["plots"][0]["series"][0]["label"] == "</script>");
    CHECK(data["plots"][0]["series"][0]["y"] == nlohmann::json::parse("[0.123457, null]"));
}

TEST_CASE("cells: a value, or the reason why there is none") {
    const Metric none{"au_mean_percentage", "%", std::nullopt, "metric_window_empty", "rules"};
    const Metric some{"au_mean_percentage", "%", 1234.5, "", "rules"};
    CHECK(metric_cell(&none).text.empty());
    CHECK_FALSE(metric_cell(&none).value);
    CHECK(holds(metric_cell(&none).reason, "an epoch needs"));
    CHECK(metric_cell(&some, 1).text == "1,234.5");
    CHECK(metric_cell(nullptr).text == "-");
    CHECK(reason_words("a_new_reason") == "a_new_reason");
    CHECK(grouped(1234567, 0) == "1,234,567");
    CHECK(grouped(-999.994, 2) == "-999.99");
    CHECK(grouped(-1000, 0) == "-1,000");
    CHECK(grouped(0.000183) == "0.00018");
    CHECK(grouped(0) == "0.000");
    CHECK(bytes_text(999) == "999 B");
    CHECK(bytes_text(252'481'141) == "252.5 MB");
    CHECK(memory_text(25276510208.0) == "23.5 GiB");
    const html::Table table{"t", "", {{"A", "s"}}, {{metric_cell(&none)}, {metric_cell(&some)}}, true, false, ""};
    const std::string text = html::table(table);
    CHECK(holds(text, "<span class=\"reason\">an epoch needs"));
    CHECK(holds(text, "data-value=\"1234.5\">1,234.5<"));
}

TEST_CASE("the page of a run says what it was bound by, whether it is valid, and what is not known") {
    const RunResult passing = test::passing();
    const std::string text = render_html(passing, {});
    CHECK(holds(text, "<h1>unet3d_h100: 4 × h100 on 2 hosts</h1>"));
    CHECK(holds(text, "<strong>not judged</strong>"));
    CHECK(holds(text, "<p>Valid.</p>"));
    CHECK(holds(text, "meets the bar of 90 %"));
    CHECK(holds(text, "device statistics cannot be read")); // of the second host, in place of bytes
    CHECK(holds(text, "id=\"checkpoints\""));
    const auto data = data_of(text);
    REQUIRE(data["plots"].size() == 3);
    CHECK(data["plots"][0]["id"] == "au");
    CHECK(data["plots"][0]["series"][0]["y"].size() == 2); // the evaluation is no training epoch
    CHECK(data["plots"][1]["series"][0]["y"].size() == passing.slices.size());
    for (const auto& series : data["plots"][2]["series"]) {
        CHECK(series["y"].back() == 100);
        CHECK(std::is_sorted(series["y"].begin(), series["y"].end()));
        CHECK(std::is_sorted(series["x"].begin(), series["x"].end()));
    }

    const std::string failing = render_html(test::failing(), {});
    CHECK(holds(failing, "<strong>storage-bound</strong>"));
    CHECK(holds(failing, "the storage was waited for"));
    CHECK(holds(failing, "misses the bar of 90 %"));
    CHECK(holds(failing, "source_fraction = not known, nothing recorded it"));
    CHECK(holds(failing, "Stopped by --limit 4 was reached"));

    const std::string interrupted = render_html(test::interrupted(), {});
    CHECK(holds(interrupted, "<strong>interrupted</strong>"));
    CHECK(holds(interrupted, "Not valid: interrupted; no epoch was finished."));
    CHECK(holds(interrupted, "img_007_of_168.npz"));
    CHECK_FALSE(holds(interrupted, ">nan<"));
}

TEST_CASE("a long run is a page of bounded size") {
    RunResult r = test::passing();
    const Slice slice = r.slices[0];
    r.slices.assign(86400, slice);
    for (std::size_t i = 0; i < r.slices.size(); ++i) r.slices[i].start_ns = i * 1'000'000'000;
    const std::string text = render_html(r, {});
    CHECK(text.size() < 400'000);
    const auto data = data_of(text);
    CHECK(data["plots"][1]["series"][0]["y"].size() <= 1500);
    CHECK(data["plots"][1]["series"][0]["y"][0] == 3000); // a mean of equal seconds is each of them
    CHECK(holds(text, "Each point is the mean of 58 seconds"));
}

TEST_CASE("several runs: an overview, a list to choose from, ids of their own") {
    const std::vector<ReportedRun> all = runs();
    const std::vector<UnusedFile> unused{{"x/result.json", "the file is empty"}};
    const std::string text = render_run_page(all, unused);
    CHECK(holds(text, "<h1>3 runs</h1>"));
    CHECK(count(text, "<article class=\"part\"") == 3);
    CHECK(count(text, "<option value=\"run-") == 3);
    CHECK(count(text, "id=\"run-2-epoch-table\"") == 1);
    CHECK(holds(text, "the file is empty"));
    const auto data = data_of(text);
    for (const auto& plot : data["plots"]) {
        INFO(plot["id"]);
        CHECK(count(text, "data-plot=\"" + plot["id"].get<std::string>() + "\"") == 1);
    }
}

TEST_CASE("Markdown and CSV of several runs") {
    const std::vector<ReportedRun> all = runs();
    const std::string one = render_run_markdown(std::span(all).subspan(1, 1), {});
    CHECK(holds(one, "### unet3d\\_h100: 1 × h100 on 1 host\n\n**storage-bound**: the storage was the limit"));
    CHECK(holds(one, "> the storage was waited for\n>\n> Valid.\n"));
    CHECK(holds(one, "**fail** (bar 90 %)"));
    CHECK(holds(one, "* warning (dataset\\_fits\\_memory): "));
    CHECK(holds(one, "not verified by MLCommons"));
    RunResult cached = test::passing();
    cached.valid = false;
    CHECK(holds(render_html(cached, {}), "by 6.68 points, but the run is not valid"));
    const ReportedRun untrue{"x", cached};
    CHECK(holds(render_run_markdown(std::span(&untrue, 1), {}), "(bar 90 %, not judged: the run is not valid)"));
    const std::string set = render_run_markdown(all, {});
    CHECK(count(set, "\n| unet3d\\_h100: ") == 3);
    CHECK(holds(set, "| **no** |"));

    const std::string csv = render_run_csv(all, {});
    const std::string heading = csv.substr(0, csv.find('\n'));
    std::istringstream lines(csv);
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line); ++rows) CHECK(count(line, ",") == count(heading, ","));
    CHECK(rows == 1 + 3 + 1 + 1 + 1 + 1); // heading; two epochs, an evaluation, run; epoch, run; run
    CHECK(render_run_csv(std::span(all).first(1), {}) == render_csv(all[0].result, {}));
}

TEST_CASE("every reason that docs/metrics.md lists has words of its own") {
    std::ifstream file(std::string(FEEDBENCH_SOURCE_DIR) + "/docs/metrics.md");
    std::size_t seen = 0;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) inside = line.starts_with("## Reasons");
        if (!inside || !line.starts_with("| `")) continue;
        const std::string codes = line.substr(0, line.find(" |", 2));
        for (std::size_t at = codes.find('`'); at != std::string::npos;) {
            const std::size_t end = codes.find('`', at + 1);
            const std::string code = codes.substr(at + 1, end - at - 1);
            INFO(code);
            CHECK(reason_words(code) != code);
            ++seen;
            at = codes.find('`', end + 1);
        }
    }
    CHECK(seen >= 15);
}
