#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include "harness/types/random.hpp"
#include "workloads/max_search.hpp"

using namespace feedbench;
using namespace feedbench::workloads;

namespace {

using Curve = std::function<double(std::uint32_t)>;

struct Played {
    std::uint32_t found = 0, missed = 0, probes = 0, confirmations = 0, probes_at_found = 0;
    SearchStop stop = SearchStop::none;
};

// Plays a search against what probes and what full runs would give. `fed`: what the scout hears.
Played play(const SearchOptions& options, const Curve& probe, const Curve& full, TrialOutcome scouted) {
    MaxSearch search(options);
    Played played;
    std::map<std::uint32_t, std::uint32_t> asked;
    for (;;) {
        const Trial trial = search.next();
        if (trial.kind == TrialKind::done) break;
        REQUIRE(trial.accelerator_count >= options.unit);
        REQUIRE(trial.accelerator_count <= options.limit);
        REQUIRE(trial.accelerator_count % options.unit == 0);
        if (trial.kind == TrialKind::scout) {
            search.give(scouted);
        } else if (trial.kind == TrialKind::probe) {
            CHECK(search.probes_left() > 0);
            CHECK(++asked[trial.accelerator_count] <= 3);
            REQUIRE(++played.probes <= MaxSearch::kMostProbes);
            search.give({probe(trial.accelerator_count)});
        } else {
            REQUIRE(++played.confirmations <= MaxSearch::kMostConfirmations);
            search.give({full(trial.accelerator_count)});
        }
    }
    played.found = search.found();
    played.missed = search.missed();
    played.stop = search.stop();
    played.probes_at_found = asked[played.found];
    CHECK((played.found == 0 || search.passed(played.found)));
    CHECK(search.next().kind == TrialKind::done);
    return played;
}
Played play(const SearchOptions& options, const Curve& curve, TrialOutcome scouted = {}) {
    return play(options, curve, curve, scouted);
}

// Storage with a fixed rate: full at n0, AU falls as 1/N behind it.
Curve saturating(double n0) {
    return [n0](std::uint32_t n) { return n <= n0 ? 100.0 : 100.0 * n0 / n; };
}
std::uint32_t last_that_passes(const Curve& curve, const SearchOptions& options) {
    std::uint32_t last = 0;
    for (std::uint32_t n = options.unit; n <= options.limit && curve(n) >= options.bar_percentage; n += options.unit)
        last = n;
    return last;
}

SearchOptions up_to(std::uint32_t limit, std::uint32_t unit = 1) {
    SearchOptions options;
    options.limit = limit / unit * unit;
    options.unit = unit;
    return options;
}

} // namespace

TEST_CASE("a falling curve of any shape: the exact N, whatever the scout said") {
    struct Shape {
        const char* name;
        std::function<Curve(double knee)> make;
    };
    const std::vector<Shape> shapes{
        {"saturating", [](double knee) { return saturating(knee); }},
        {"cliff", [](double knee) -> Curve { return [knee](std::uint32_t n) { return n <= knee ? 100.0 : 1.0; }; }},
        {"linear", [](double knee) -> Curve { return [knee](std::uint32_t n) { return 100 - 10 * n / knee; }; }},
        {"flat near the bar",
         [](double knee) -> Curve {
             return [knee](std::uint32_t n) { return 90.0 + 0.4 * std::tanh((knee + 0.5 - n) / 10); };
         }},
        {"quadratic",
         [](double knee) -> Curve { return [knee](std::uint32_t n) { return 100 - 10 * n * n / knee / knee; }; }},
        {"steps",
         [](double knee) -> Curve { return [knee](std::uint32_t n) { return 100.0 - 5 * std::floor(2 * n / knee); }; }},
    };
    for (const Shape& shape : shapes)
        for (const double knee : {1.0, 2.0, 3.0, 7.0, 10.4, 33.0, 100.0, 777.0, 3000.5})
            for (const std::uint32_t unit : {1u, 2u, 6u})
                for (const double fed : {0.0, 0.3 * knee, 0.95 * knee, 5 * knee}) {
                    const SearchOptions options = up_to(4096, unit);
                    const Curve curve = shape.make(knee);
                    const std::uint32_t expected = last_that_passes(curve, options);
                    INFO(shape.name << ", knee " << knee << ", unit " << unit << ", scout " << fed);
                    const Played played = play(options, curve, {{}, fed, false});
                    CHECK(played.found == expected);
                    CHECK(played.stop == (expected == 0               ? SearchStop::minimum_missed
                                          : expected == options.limit ? SearchStop::limit_reached
                                                                      : SearchStop::bar_missed));
                    if (played.stop == SearchStop::bar_missed) CHECK(played.missed == expected + unit);
                    if (played.stop == SearchStop::bar_missed) CHECK(played.confirmations >= 1);
                }
}

TEST_CASE("storage of a fixed rate: a handful of probes, however many accelerators") {
    for (const double n0 : {20.0, 333.0, 5000.0, 50000.0}) {
        const Played played = play(up_to(65536), saturating(n0), {{}, n0, false});
        CHECK(played.found == std::floor(n0 / 0.9 + 1e-9));
        CHECK(played.probes <= 8);
        CHECK(played.confirmations <= 2);
        const Played doubled = play(up_to(65536), saturating(n0), {{}, 1, true});
        CHECK(doubled.found == played.found);
        CHECK(doubled.probes <= 26);
    }
}

TEST_CASE("a start that was given is probed first, with no scouting") {
    SearchOptions options = up_to(1000, 4);
    options.start = 42;
    const MaxSearch search(options);
    CHECK(search.next().kind == TrialKind::probe);
    CHECK(search.next().accelerator_count == 40);
    options.start = 3; // less than a unit
    CHECK(MaxSearch(options).next().accelerator_count == 4);
    options.start = 5000; // more than the limit
    CHECK(MaxSearch(options).next().accelerator_count == 1000);
    CHECK(play(options, saturating(90)).found == 100);
}

TEST_CASE("nothing passes: N is 0, and the minimum is the reason") {
    const Played played = play(up_to(4096, 8), [](std::uint32_t) { return 12.0; });
    CHECK(played.found == 0);
    CHECK(played.missed == 8);
    CHECK(played.stop == SearchStop::minimum_missed);
    CHECK(played.confirmations == 0);
    // A probe without a figure is one that missed.
    MaxSearch search(up_to(1));
    search.give({{}, 0, false});
    search.give({});
    search.give({});
    CHECK(search.stop() == SearchStop::minimum_missed);
}

TEST_CASE("everything passes: the limit is the answer and the reason") {
    for (const std::uint32_t limit : {1u, 2u, 100u, 65536u}) {
        const Played played = play(up_to(limit), [](std::uint32_t) { return 99.5; }, {{}, 64, true});
        CHECK(played.found == limit);
        CHECK(played.stop == SearchStop::limit_reached);
        CHECK(played.confirmations == 1);
    }
}

TEST_CASE("a probe near the bar is repeated, and longer") {
    SearchOptions options = up_to(1000);
    options.start = 100;
    MaxSearch search(options);
    search.give({90.4});
    CHECK(search.next().accelerator_count == 100);
    CHECK(search.next().length_factor == 2);
    search.give({89.8});
    CHECK(search.next().accelerator_count == 100); // one each: the third decides
    CHECK_FALSE(search.passed(100));
    search.give({90.1});
    CHECK(search.passed(100));
    CHECK(search.next().accelerator_count > 100);
}

TEST_CASE("noise of a few points of AU: within 5 % of the true N") {
    for (const double n0 : {40.0, 150.0, 900.0})
        for (const double noise_points : {0.5, 2.0})
            for (std::uint64_t seed = 1; seed <= 40; ++seed) {
                Random random(seed);
                const Curve truth = saturating(n0);
                const auto noisy = [&](double spread) -> Curve {
                    return [&truth, &random, spread](std::uint32_t n) {
                        return std::min(100.0, truth(n) + spread * 2 * (2 * random.uniform() - 1));
                    };
                };
                INFO("n0 " << n0 << ", noise " << noise_points << ", seed " << seed);
                // A run of full length averages.
                const Played played = play(up_to(65536), noisy(noise_points), noisy(noise_points / 4), {{}, n0, false});
                CHECK(played.found == Approx(n0 / 0.9).epsilon(0.05));
            }
}

TEST_CASE("one probe that was disturbed does not decide the answer") {
    // The storage had a bad moment at the guess, and only once.
    for (const bool confirm : {true, false}) {
        SearchOptions options = up_to(1000);
        options.start = 90;
        options.confirm = confirm;
        std::uint32_t probes = 0;
        const Curve truth = saturating(90);
        const Played played =
            play(options, [&](std::uint32_t n) { return ++probes == 1 ? 40.0 : truth(n); }, truth, {});
        CHECK(played.found == 100);
    }
}

TEST_CASE("a run of full length has the last word, downwards") {
    SearchOptions options = up_to(1000);
    // Probes are too kind by a twentieth.
    const Played played = play(options, saturating(105), saturating(90), {{}, 105, false});
    CHECK(played.found == 100);
    CHECK(played.missed == 101);
    CHECK(played.stop == SearchStop::bar_missed);
    CHECK(played.confirmations <= MaxSearch::kMostConfirmations);

    MaxSearch search(options);
    search.give({{}, 90, false});
    while (search.next().kind == TrialKind::probe) search.give({saturating(90)(search.next().accelerator_count)});
    REQUIRE(search.next().kind == TrialKind::confirm);
    CHECK(search.next().accelerator_count == 100);
    CHECK(search.passed(100));
    search.give({80.0});
    CHECK_FALSE(search.passed(100));
    CHECK(search.overruled(100));
    CHECK(search.next().accelerator_count == 88);
    search.give({91.0});
    CHECK(search.found() == 88);
    CHECK(search.missed() == 100);
    CHECK(search.next().accelerator_count == 89);
}

TEST_CASE("a run of full length has the last word, upwards where the probe was near the bar") {
    // The full run is kinder by 0.6 points: one more accelerator passes.
    const Curve probe = [](std::uint32_t n) { return n <= 50 ? 95.0 : n == 51 ? 89.5 : 70.0; };
    const Curve full = [](std::uint32_t n) { return n <= 51 ? 90.2 : 70.0; };
    const Played played = play(up_to(500), probe, full, {{}, 45, false});
    CHECK(played.found == 51);
    CHECK(played.confirmations == 2);
}

TEST_CASE("no run of full length passes: N is 0 and the trials end") {
    const Played played = play(up_to(4096), saturating(900), [](std::uint32_t) { return 89.9; }, {{}, 900, false});
    CHECK(played.found == 0);
    CHECK(played.stop == SearchStop::trials_spent);
    CHECK(played.confirmations == MaxSearch::kMostConfirmations);
}

TEST_CASE("without runs of full length the neighbours of the answer are probed twice") {
    SearchOptions options = up_to(1000);
    options.confirm = false;
    const Played played = play(options, saturating(90.9), {{}, 90.9, false});
    CHECK(played.found == 101);
    CHECK(played.confirmations == 0);
    CHECK(played.probes_at_found >= 2);
}

TEST_CASE("probes that contradict each other end the search all the same") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const Curve any = [&](std::uint32_t) { return 80 + 20 * random.uniform(); };
        const Played played = play(up_to(65536), any, any, {{}, 100.0 * random.uniform(), seed % 2 == 0});
        CHECK(played.stop != SearchStop::none);
    }
}
