#include <catch2/catch.hpp>

#include "workloads/max_words.hpp"

using namespace feedbench;
using namespace feedbench::workloads;

namespace {

// 33 accelerators missed the bar at 1000 MB/s; 32 had reached it.
struct Missed {
    MaxPlan plan;
    ScalingPoint point{33, 87.5, 1000, 0.01, 5, "storage-bound", false, false};
    StopFacts facts;
    Missed() {
        facts.stop = SearchStop::bar_missed;
        facts.plan = &plan;
        facts.found = 32;
        facts.missed = &point;
        facts.ceiling_MB_per_second = 5000;
    }
};

using Catch::Contains;
using Catch::StartsWith;

} // namespace

TEST_CASE("it is the storage's limit where the client had room, with the numbers") {
    const Missed missed;
    const std::string words = stop_words(missed.facts);
    CHECK_THAT(words, StartsWith("storage: with 33 accelerators AU 87.50 % at 1000.0 MB/s"));
    CHECK_THAT(words, Contains("20.0 % of the 5000.0 MB/s"));
}

TEST_CASE("it is not called the storage's limit where the client was nearer than a tenth to its own") {
    for (const double ceiling : {900.0, 1000.0, 1111.0}) { // 1000 / 1111 = 0.90009
        Missed missed;
        missed.facts.ceiling_MB_per_second = ceiling;
        CHECK_THAT(stop_words(missed.facts), StartsWith("client: "));
        CHECK_THAT(stop_words(missed.facts), Contains("the storage may feed more"));
    }
    Missed room;
    room.facts.ceiling_MB_per_second = 1112; // 0.8993
    CHECK_THAT(stop_words(room.facts), StartsWith("storage: "));
}

TEST_CASE("a client-bound run, or null: storage, is the client's limit whatever the ceiling was") {
    Missed missed;
    missed.point.verdict = "client-bound";
    CHECK_THAT(stop_words(missed.facts), StartsWith("client: "));
    missed.point.verdict.clear();
    missed.facts.null_storage = true;
    missed.facts.ceiling_MB_per_second.reset();
    CHECK_THAT(stop_words(missed.facts), StartsWith("client: "));
}

TEST_CASE("whose limit it was is not known from a cache, or without a ceiling") {
    Missed missed;
    missed.point.verdict = "cached";
    CHECK_THAT(stop_words(missed.facts), StartsWith("not known: "));
    missed.point.verdict = "storage-bound";
    missed.facts.ceiling_MB_per_second.reset();
    missed.facts.ceiling_reason = "not asked for";
    CHECK_THAT(stop_words(missed.facts), StartsWith("not known: "));
    CHECK_THAT(stop_words(missed.facts), Contains("not asked for"));
    missed.facts.virtual_time = true;
    CHECK_THAT(stop_words(missed.facts), StartsWith("storage: "));
}

TEST_CASE("a bar that was missed only in the run of full length is said so") {
    Missed missed;
    missed.facts.missed_passed_probe = true;
    CHECK_THAT(stop_words(missed.facts), Contains("in a run of full length (a short probe had passed)"));
    missed.point.au_percentage.reset();
    CHECK_THAT(stop_words(missed.facts), Contains("no AU at all"));
}

TEST_CASE("limit, dataset, minimum, contradiction and interruption have their own words") {
    Missed missed;
    missed.plan.limit = 32;
    missed.facts.stop = SearchStop::limit_reached;
    missed.facts.missed = nullptr;
    missed.plan.limit_of = MaxPlan::LimitOf::asked;
    CHECK_THAT(stop_words(missed.facts), StartsWith("limit: 32 ") && Contains("--limit"));
    missed.plan.limit_of = MaxPlan::LimitOf::all;
    CHECK_THAT(stop_words(missed.facts), StartsWith("limit: 32 ") && Contains("feedbench's own"));
    missed.plan.limit_of = MaxPlan::LimitOf::data;
    missed.plan.sample_count = 168;
    CHECK_THAT(stop_words(missed.facts), StartsWith("dataset: 32 ") && Contains("168 samples"));
    missed.facts.broken = "interrupted";
    CHECK_THAT(stop_words(missed.facts), StartsWith("not known: ") && Contains("interrupted") && Contains("32 "));

    Missed none;
    none.facts.found = 0;
    none.facts.stop = SearchStop::minimum_missed;
    CHECK_THAT(stop_words(none.facts), Contains("N is 0"));
    none.facts.stop = SearchStop::trials_spent;
    CHECK_THAT(stop_words(none.facts), StartsWith("not known: ") && Contains("contradict"));
}
