#include <catch2/catch.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reporters/compare/formats.hpp"
#include "tests/unit/compare/rows.hpp"

using namespace feedbench::compare;
using namespace feedbench::compare::test;
using feedbench::ingest::IngestedRun;

namespace {

// Two rows with a footnote each, of which one is shared; names that would break tables; a file that was not used.
Comparison sample() {
    feedbench::ingest::Ingested all;
    all.runs = five();
    all.runs.pop_back();
    const std::vector<IngestedRun> four = all.runs;
    for (IngestedRun run : four) {
        run.set_path = "/t/Else";
        run.system = "a|b, \"c\" <d> *e*";
        run.description.path = "x";
        run.description.watts = 2400;
        run.nominal_MB_per_second = 9000;
        all.runs.push_back(run);
    }
    all.problems = {{"/t/x.json", "the file is empty", "a summary", false},
                    {"/t/._y.json", "AppleDouble", "nothing", true}};
    return compare(std::move(all));
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
}

} // namespace

TEST_CASE("console: a place, a name, its figures; footnotes once; files that were not used") {
    const std::string text = render_console(sample(), {});
    CHECK(text.find("unet3d / h100 / edition 1.0 / closed\n") == 0);
    CHECK(text.find("1.  Acme, Sys [1]\n") != std::string::npos);
    CHECK(text.find("2.  Acme, a|b, \"c\" <d> *e* [1]\n") != std::string::npos);
    CHECK(text.find("  [1] 4 runs, the rules ask for 5\n") != std::string::npos);
    CHECK(text.find("[2]") == std::string::npos);
    CHECK(text.find("not used\n  /t/x.json\n      the file is empty; right is: a summary\n") != std::string::npos);
    CHECK(text.find("broken or odd, but not in the way\n  /t/._y.json\n") != std::string::npos);
    CHECK(text.find("8 runs, 2 results, 1 group.") != std::string::npos);
    CHECK(text.find('\033') == std::string::npos);
    for (const unsigned width : {60u, 100u, 200u})
        for (const std::string& line : lines(render_console(sample(), {false, width})))
            if (line.find("  ") == 0 && line.find("[") == std::string::npos) CHECK(line.size() <= width);
}

TEST_CASE("Markdown: every row has as many cells as the heading, and names cannot break the table") {
    const std::string text = render_markdown(sample(), {});
    CHECK(text.find("a\\|b, \"c\" &lt;d> \\*e\\*") != std::string::npos);
    std::size_t cells = 0, rows = 0;
    for (const std::string& line : lines(text)) {
        if (line.empty()) cells = 0;
        if (!line.starts_with("|")) continue;
        std::size_t bars = 0;
        for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
        if (cells == 0) cells = bars;
        CHECK(bars == cells);
        ++rows;
    }
    CHECK(rows == 8);
    CHECK(text.find("1. 4 runs, the rules ask for 5") != std::string::npos);
    CHECK(text.find("| /t/x.json | the file is empty | a summary | no |") != std::string::npos);
}

TEST_CASE("CSV: a line a result, figures that read back exactly, rules by name") {
    const std::vector<std::string> all = lines(render_csv(sample(), {}));
    REQUIRE(all.size() == 3);
    CHECK(all[0].starts_with(
        "kind,workload,variant,accelerator,edition,division,position,submitter,system,tool,accelerator_count,"));
    CHECK(all[0].ends_with(",footnotes,source"));
    CHECK(all[1].starts_with("training,unet3d,,h100,1.0,closed,1,Acme,Sys,reference,4,2,4,95,5,5,80,"));
    CHECK(all[1].ends_with(",run_count,/t/Acme/results/Sys/unet3d-h100"));
    CHECK(all[2].find("\"a|b, \"\"c\"\" <d> *e*\"") != std::string::npos);
    for (const Column& column : columns(feedbench::ingest::Kind::training))
        CHECK(all[0].find("," + std::string(column.key) + ",") != std::string::npos);
}

TEST_CASE("JSON: everything, with null and a reason where there is no figure") {
    const auto json = nlohmann::json::parse(render_json(sample(), {}));
    CHECK(json["comparison_schema_version"] == kComparisonSchemaVersion);
    CHECK(json["problems"].size() == 2);
    const auto& row = json["groups"][0]["rows"][0];
    CHECK(row["runs"].size() == 4);
    CHECK(row["runs"][0]["epochs"].size() == 5);
    CHECK(row["footnotes"][0]["rule"] == "run_count");
    bool found = false;
    for (const auto& metric : row["metrics"]) {
        if (metric["key"] != "watts") continue;
        found = true;
        CHECK(metric["value"].is_null());
        CHECK(metric["reason"] == "no system description");
    }
    CHECK(found);
    CHECK(row["metrics"].size() == columns(feedbench::ingest::Kind::training).size());
}

TEST_CASE("every column is a metric of every row") {
    const Row row = row_of(five());
    for (const Column& column : columns(feedbench::ingest::Kind::training)) {
        INFO(column.key);
        CHECK(feedbench::reporters::row(row.metrics, column.key) != nullptr);
    }
}
