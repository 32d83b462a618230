// Every rule once where it must fire, and none where nothing is wrong.
#include <catch2/catch.hpp>

#include <functional>

#include "reporters/compare/suspicions.hpp"
#include "tests/unit/compare/rows.hpp"

using namespace feedbench::compare;
using namespace feedbench::compare::test;
using feedbench::ingest::IngestedRun;
using feedbench::ingest::Kind;
using feedbench::ingest::RankFigures;

namespace {

// 104 GiB written in 8 s and read in `load_s`, on hosts with 100 GiB.
IngestedRun checkpoints(double written_count, double load_s) {
    IngestedRun r = run(1);
    r.kind = Kind::checkpoint;
    r.edition = "2.0";
    r.host_memory_GiB = 100;
    r.checkpoint.emplace();
    r.checkpoint->size_GiB = 104;
    r.checkpoint->save = {written_count, 13, 13, 8};
    r.checkpoint->load = {10, 104 / load_s, 104 / load_s, load_s};
    return r;
}

struct Case {
    const char *rule, *words;
    std::function<void(std::vector<IngestedRun>&)> change;
};

// The same change in every run.
std::function<void(std::vector<IngestedRun>&)> all(std::function<void(IngestedRun&)> change) {
    return [change](std::vector<IngestedRun>& runs) {
        for (IngestedRun& run : runs) change(run);
    };
}

const std::vector<Case>& cases() {
    static const std::vector<Case> kCases{
        {"below_bar", "misses its bar by 1.50 points", all([](IngestedRun& r) { r.au_percentage = 88.5; })},
        {"just_above_bar", "in one run only 0.0011",
         [](auto& runs) { runs[3].au_percentage = runs[3].au_percentage_of_epochs = 90.0011; }},
        {"just_above_bar", "in one run 2.0000 below",
         [](auto& runs) { runs[3].au_percentage = runs[3].au_percentage_of_epochs = 88; }},
        {"low_utilization", "AU is 95.0 %, but effective utilization 75.2 %",
         all([](IngestedRun& r) { r.effective_utilization_percentage = 75.2; })},
        {"later_epochs_faster", "x1.20", all([](IngestedRun& r) { r.epochs[0].samples_per_second = 80 / 1.2; })},
        {"later_epochs_slower", "x0.87", all([](IngestedRun& r) { r.epochs[0].samples_per_second = 80 / 0.87; })},
        {"fits_memory", "is 0.65 of", all([](IngestedRun& r) { r.dataset_GiB = 0.65 * 256; })},
        {"small_dataset", "4.994 times", all([](IngestedRun& r) { r.dataset_GiB = 4.994 * 256; })},
        {"impossible", "157 % of what 4 h100", all([](IngestedRun& r) { r.effective_utilization_percentage = 157; })},
        {"impossible", "AU is 101.00 %", all([](IngestedRun& r) { r.au_percentage = 101; })},
        {"outside_blocks", "12 % of the epochs' time", all([](IngestedRun& r) {
             r.whole_epoch_utilization_percentage = 0.88 * *r.effective_utilization_percentage;
         })},
        {"times_disagree", "epoch 5 of run2", [](auto& runs) { runs[1].epochs[4].block_s = 0.967 * 14000 / 80; }},
        {"report_disagrees", "no run of the report has", [](auto& runs) { runs[2].report_lacks_run = true; }},
        {"report_disagrees", "the report's mean is 81.000",
         all([](IngestedRun& r) { r.report_mean_samples_per_second = 81; })},
        {"summary_disagrees", "of its epochs is 94.0000 %", [](auto& runs) { runs[0].au_percentage_of_epochs = 94; }},
        {"summary_disagrees", "the files of the ranks give AU 93.000 %",
         [](auto& runs) {
             runs[0].ranks = RankFigures{};
             runs[0].ranks->au_percentage = 93;
         }},
        {"declared_text", "the folder's name 'x' says 16 accelerators, the summary says 4",
         [](auto& runs) {
             runs[0].declared = {{"accelerators", "16", "the folder's name 'x'"}};
         }},
        {"declared_text", "says accelerator 'a100', used is 'h100'",
         [](auto& runs) {
             runs[0].declared = {{"accelerator", "a100", "metadata"}};
         }},
        {"declared_text", "fit h100, declared is a100", all([](IngestedRun& r) { r.accelerator_model = "a100"; })},
        {"wide_spread", "differ by 12.8 %", [](auto& runs) { runs[1].samples_per_second = 70; }},
        {"run_count", "4 runs, the rules ask for 5", [](auto& runs) { runs.pop_back(); }},
        {"wrong_clock", "began in 2021", [](auto& runs) { runs[0].start_time = "2021-01-01T00:00:00"; }},
        {"slept_long", "slept 3.1 % longer",
         [](auto& runs) {
             runs[0].ranks = RankFigures{};
             runs[0].ranks->think_time_s = 0.333;
         }},
        {"own_verdict", "judged run1 client-bound", [](auto& runs) { runs[0].verdict = "client-bound"; }},
        {"own_verdict", "run1 is not valid: cached", [](auto& runs) { runs[0].invalid_reasons = {"cached"}; }},
        {"checkpoint_count", "8 checkpoints written and 10 read, the rules ask for 10 and 10",
         [](auto& runs) { runs = {checkpoints(8, 4)}; }},
        {"read_from_memory", "a checkpoint is 1.04 of the client hosts' memory",
         [](auto& runs) { runs = {checkpoints(10, 4)}; }},
        {"warm_up", "is the warm-up",
         [](auto& runs) {
             runs.push_back(run(6));
             for (IngestedRun& r : runs) r.edition = "3.0";
         }},
        {"reading", "guessed; repaired",
         [](auto& runs) {
             runs[0].notes = {"guessed"};
             runs[1].notes = {"guessed", "repaired"};
         }},
    };
    return kCases;
}

} // namespace

TEST_CASE("nothing is suspicious about a good result") { CHECK(row_of(five()).footnotes.empty()); }

TEST_CASE("every rule fires where it must, in words with the numbers") {
    for (const Case& one : cases()) {
        INFO(one.rule << ": " << one.words);
        std::vector<IngestedRun> runs = five();
        one.change(runs);
        const std::string words = footnote(row_of(runs), one.rule);
        INFO(words);
        CHECK(words.find(one.words) != std::string::npos);
    }
}

TEST_CASE("every rule of the table has a case here") {
    for (const Suspicion& rule : suspicions()) {
        INFO(rule.rule);
        bool found = false;
        for (const Case& one : cases()) found = found || one.rule == rule.rule;
        CHECK(found);
    }
}

TEST_CASE("rules of submissions leave other results in peace") {
    std::vector<IngestedRun> runs{run(1)};
    runs[0].division.clear();
    runs[0].edition.clear();
    runs[0].submitter.clear();
    runs[0].dataset_GiB = 3 * 256.0;
    runs[0].start_time = "2021-01-01T00:00:00";
    CHECK(row_of(runs).footnotes.empty());
}
