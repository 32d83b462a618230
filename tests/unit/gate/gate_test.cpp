// What may be compared, what an answer says in each format, which policies are refused.
#include "reporters/gate/gate.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reporters/gate/formats.hpp"
#include "tests/unit/gate/synthetic.hpp"

using namespace feedbench;
using namespace feedbench::gate;
using namespace feedbench::gate::test;
using Catch::Matchers::Contains;

namespace {

GateReport report_of(double slower, Counts counts = {5, 5}) {
    Pair pair = pair_of(7, {}, slower, counts);
    GateReport report = judge(std::move(pair.baseline), std::move(pair.candidate), built_in_policy());
    report.baseline_name = "lab|nas <1>";
    report.candidate_name = "new & \"fast\"";
    return report;
}

void set(GateRun& run, const std::string& key, const std::string& value) {
    for (Fact& one : run.identity)
        if (one.key == key) one.value = value;
}

std::string refusal(const std::string& yaml) {
    const auto policy = load_policy_text(yaml, "gates/x.yaml");
    return policy ? "accepted" : policy.error().describe();
}

} // namespace

TEST_CASE("Every fact that must be equal forbids a comparison, with both values", "[gate]") {
    for (const std::string& key : identity_keys()) {
        Pair pair = pair_of(1, {}, 0, {3, 3});
        for (GateRun& run : pair.candidate) set(run, key, "other");
        const std::string before = fact(pair.baseline[0].identity, key);
        const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
        CHECK(report.answer == Answer::not_comparable);
        CHECK(exit_code_of(report.answer) == 4);
        CHECK(report.metrics.empty());
        CHECK(report.reason == key + ": baseline " + (before.empty() ? "nothing" : before) + ", candidate other");
        Policy policy = built_in_policy();
        policy.allow_differences = {key};
        const GateReport allowed = judge(pair.baseline, pair.candidate, policy);
        CHECK(allowed.answer != Answer::not_comparable);
        CHECK(allowed.comparability.allowed.size() == 1);
    }
}

TEST_CASE("Runs of one side that differ among themselves, and runs that are not valid", "[gate]") {
    Pair pair = pair_of(1, {}, 0, {3, 3});
    set(pair.baseline[1], "accelerator_count", "8");
    pair.candidate[2].valid = false;
    pair.candidate[2].path = "results/x/result.json";
    pair.candidate[2].reasons = {"a cache answered"};
    const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
    CHECK(report.answer == Answer::not_comparable);
    CHECK(report.reason == "accelerator_count: baseline 4 (2 runs), 8 (1 run), candidate 4; the candidate's "
                           "results/x/result.json is not valid: a cache answered");
    CHECK_THAT(render_console(report, {}), Contains("not valid: a cache answered"));
    CHECK_THAT(render_junit(report, {}), Contains("<error type=\"not comparable\""));
}

TEST_CASE("A metric that is there on one side only, on none, or without a value", "[gate]") {
    Pair pair = pair_of(1, {}, 0, {5, 5});
    const auto drop = [](std::vector<GateRun>& runs, const std::string& key) {
        for (GateRun& run : runs) std::erase_if(run.figures, [&](const Metric& m) { return m.key == key; });
    };
    for (auto* side : {&pair.baseline, &pair.candidate}) drop(*side, "checkpoint_GiB_per_second");
    drop(pair.candidate, "cpu_s_per_GB_process");
    const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
    CHECK(report.answer == Answer::pass);
    CHECK_FALSE(report.metrics[4].applies);
    CHECK(report.metrics[3].words == "client CPU s/GB: the candidate has none (there is no such row)");
    CHECK_THAT(render_console(report, {}), !Contains("checkpoint") && Contains("note: client CPU s/GB"));

    pair.candidate[0].figures[1].value.reset(); // AU, which is required
    pair.candidate[0].figures[1].reason = "metric_window_empty";
    const GateReport missing = judge(pair.baseline, pair.candidate, built_in_policy());
    CHECK(missing.answer == Answer::not_enough_data);
    CHECK(missing.reason == "AU %: the candidate has none (metric_window_empty)");
}

TEST_CASE("A row without a value or reason, or below zero, is no figure", "[gate]") {
    Pair pair = pair_of(1, {}, 0, {5, 5});
    for (GateRun& run : pair.candidate) run.figures[4].value.reset(); // checkpoints, with no reason
    for (GateRun& run : pair.candidate) run.figures[3].value = -1;    // CPU: below its smallest difference
    for (GateRun& run : pair.candidate) run.figures[0].value = -1;
    const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
    CHECK(report.metrics[4].words == "checkpoint GiB/s: the candidate has none (it has no value)");
    CHECK(report.metrics[0].words == "MB/s: the candidate has none (it is below 0)");
    CHECK(report.metrics[3].outcome == Outcome::improved);
}

TEST_CASE("Small differences of small figures are none", "[gate]") {
    Pair pair = pair_of(1, {0.001, Tail::normal}, 0, {5, 5});
    for (GateRun& run : pair.baseline) run.figures[2].value = 1e-6; // p99 wait
    for (GateRun& run : pair.candidate) run.figures[2].value = 9e-4;
    CHECK(judge(pair.baseline, pair.candidate, built_in_policy()).metrics[2].outcome == Outcome::unchanged);
    for (GateRun& run : pair.candidate) run.figures[2].value = 5e-3;
    const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
    CHECK(report.metrics[2].outcome == Outcome::regressed);
    CHECK(report.answer == Answer::regressed);
}

TEST_CASE("What scatters too much to be judged is no pass", "[gate]") {
    const Answers answers = answers_of(10, {0.10, Tail::normal}, 0, {3, 3});
    CHECK(answers.not_enough_data >= 7);
    Pair pair = pair_of(3, {0.10, Tail::normal}, 0, {3, 3});
    const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
    CHECK(report.metrics[0].outcome == Outcome::unclear);
    CHECK_THAT(report.reason, Contains("cannot be ruled out, and 15.0 % is what must be"));
}

TEST_CASE("Console, Markdown, JUnit and JSON say the same", "[gate]") {
    const GateReport report = report_of(0.08);
    REQUIRE(report.answer == Answer::regressed);
    const std::string console = render_console(report, {}), markdown = render_markdown(report, {}),
                      junit = render_junit(report, {});
    CHECK_THAT(console, Contains("feedbench gate: regressed   (policy default)\n") && Contains("MB/s") &&
                            Contains("which is more than 2.0 %"));
    CHECK_THAT(console, !Contains("\033"));
    CHECK_THAT(render_console(report, {true, 100}), Contains("31mregressed"));
    CHECK_THAT(markdown, Contains("### :x: Storage gate: regressed") && Contains("| **regressed** |") &&
                             Contains("lab\\|nas &lt;1>") && Contains("not verified by MLCommons"));
    CHECK_THAT(junit, Contains("tests=\"6\" failures=\"2\" errors=\"0\" skipped=\"0\"") &&
                          Contains("value=\"new &amp; &quot;fast&quot;\"") && Contains("<failure type=\"regressed\""));
    const auto json = nlohmann::json::parse(render_json(report, {}));
    CHECK(json["answer"] == "regressed");
    CHECK(json["exit_code"] == 1);
    CHECK(json["metrics"][0]["outcome"] == "regressed");
    CHECK(json["metrics"][0]["worse_fraction"].get<double>() == Approx(0.08).margin(0.02));
    CHECK(json["metrics"][0]["baseline_runs"].size() == 5);
    CHECK(json["metric_confidence"].get<double>() == Approx(0.996)); // 98 % for five metrics
    CHECK(json["metrics"][0]["parts"] == "20 one-second slices a run");
    CHECK(render_json(report_of(0.08), {}) == render_json(report, {})); // seeded: the same to the last digit

    CHECK_THAT(render_console(report_of(0), {}),
               Contains("feedbench gate: pass") && Contains("no metric has become worse"));
    CHECK_THAT(render_console(report_of(-0.10), {}), Contains("feedbench gate: pass") && Contains("better by"));
    CHECK_THAT(render_junit(report_of(0, {1, 1}), {}),
               Contains("errors=\"2\"") && Contains("<error type=\"not enough data\""));
}

TEST_CASE("Text from files cannot break the XML", "[gate]") {
    GateReport report = report_of(0);
    report.candidate_name = "a\x01\xff&<>\"";
    CHECK_THAT(render_junit(report, {}), Contains("value=\"a ?&amp;&lt;&gt;&quot;\""));
    report.candidate_name = "caf\xc3\xa9";
    CHECK_THAT(render_junit(report, {}), Contains("value=\"caf\xc3\xa9\""));
}

TEST_CASE("The built-in policy is the default file; all policies of the house load", "[gate]") {
    const auto file = load_policy(FEEDBENCH_SOURCE_DIR "/configs/gates/default.yaml");
    REQUIRE(file);
    const Policy built_in = built_in_policy();
    CHECK(file->confidence == built_in.confidence);
    CHECK(file->spread_factor == built_in.spread_factor);
    CHECK(file->min_runs_baseline == built_in.min_runs_baseline);
    CHECK(file->min_runs_candidate == built_in.min_runs_candidate);
    REQUIRE(file->metrics.size() == built_in.metrics.size());
    for (std::size_t i = 0; i < built_in.metrics.size(); ++i) {
        const MetricRule &a = file->metrics[i], &b = built_in.metrics[i];
        CHECK(std::tie(a.key, a.heading, a.better, a.tolerance, a.resolution, a.min_difference, a.required) ==
              std::tie(b.key, b.heading, b.better, b.tolerance, b.resolution, b.min_difference, b.required));
    }
    for (const std::string& name : policy_names()) {
        const auto policy = load_policy(name);
        INFO(name);
        REQUIRE(policy);
        CHECK_FALSE(policy->description.empty());
    }
}

TEST_CASE("A policy that is wrong is refused with file, line and the nearest key", "[gate]") {
    CHECK_THAT(refusal("metrics:\n  delivered_MB_per_second:\n    tolerence: 0.1\n"),
               Contains("gates/x.yaml:3") && Contains("unknown key 'tolerence'; did you mean tolerance?"));
    CHECK_THAT(refusal("confidance: 0.9\nmetrics: {au_mean_percentage: }\n"),
               Contains("gates/x.yaml:1") && Contains("did you mean confidence?"));
    CHECK_THAT(refusal("metrics:\n  delivered_MB_per_secnd: {}\n"),
               Contains("gates/x.yaml:2") &&
                   Contains("did you mean delivered_MB_per_second? a row of your own needs 'better: higher'"));
    CHECK_THAT(refusal("allow_differences: [host_cuont]\nmetrics: {au_mean_percentage: }\n"),
               Contains("did you mean host_count?"));
    CHECK_THAT(refusal("metrics: {au_mean_percentage: {tolerance: much}}\n"),
               Contains("'tolerance' must be a number from 0 to 100, found 'much'"));
    CHECK_THAT(refusal("metrics: {au_mean_percentage: {better: up}}\n"), Contains("higher or lower, found 'up'"));
    CHECK_THAT(refusal("metrics: {au_mean_percentage: {tolerance: 0.5, resolution: 0.1}}\n"),
               Contains("below its tolerance"));
    CHECK_THAT(refusal("metrics: {au_mean_percentage: }\nmetrics: {au_mean_percentage: }\n"),
               Contains("'metrics' is said twice"));
    CHECK_THAT(refusal("confidence: 2\n"), Contains("from 0.5 to 0.9999"));
    CHECK_THAT(refusal("min_runs_baseline: 2.5\n"), Contains("whole number"));
    CHECK_THAT(refusal("confidence: 0.9\n"), Contains("there are no metrics"));
    CHECK_THAT(refusal("- a\n"), Contains("must be a mapping"));
    CHECK_THAT(refusal("a: [\n"), Contains("not valid YAML"));
    CHECK_THAT(refusal(""), Contains("empty"));
    CHECK(refusal("metrics: {my_row: {better: lower}}\n") == "accepted");
    const auto missing = load_policy("defualt");
    REQUIRE_FALSE(missing);
    CHECK_THAT(missing.error().describe(), Contains("did you mean default?"));
    CHECK(exit_code(missing.error().kind) == 2);
}
