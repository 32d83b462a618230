#include "reporters/progress.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "fake_terminal.hpp"
#include "reporters/live_rate.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;
using feedbench::reporters::test::FakeTerminal;

namespace {

Progress at(double elapsed_s, std::uint64_t done, std::uint32_t epoch = 0, std::string_view phase = "epoch") {
    Progress p;
    p.phase = phase;
    p.epoch_index = epoch;
    p.epoch_count = 5;
    p.done = done;
    p.total = 1000;
    p.elapsed_s = elapsed_s;
    return p;
}

Slice second_of(double MB, std::uint32_t in_flight = 128, double cores = 0.43) {
    Slice slice;
    slice.bytes = static_cast<std::uint64_t>(MB * 1e6);
    slice.in_flight_reads = in_flight;
    slice.process_cpu_ns = static_cast<std::uint64_t>(cores * 1e9);
    return slice;
}

std::ptrdiff_t count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

// Two epochs into a run with steady storage, a slow second and stalled accelerators.
void play(ProgressView& view, FakeTerminal& terminal) {
    Progress p = at(70, 590, 1);
    view.on_progress(p);
    for (const double MB : {1.0, 5000.0, 5400.0, 2700.0, 5400.0}) view.on_slice(second_of(MB));
    terminal.now_s += 0.5;
    p = at(72, 610, 1);
    p.eta_s = 45;
    p.au_so_far_percentage = 91.2;
    p.MB_per_second_now = 5321;
    p.stalled_accelerators = 3;
    view.on_progress(p);
}

} // namespace

TEST_CASE("one line says where the run is, and says less where there is less room") {
    Progress p = at(72, 610, 1);
    p.eta_s = 45;
    p.au_so_far_percentage = 91.2;
    p.MB_per_second_now = 5321;
    p.stalled_accelerators = 3;
    CHECK(progress_line(p) == "epoch 2/5  [############........]  61 %  610/1000 steps  AU 91.2 %  5321.0 MB/s  3 "
                              "waiting  1:12 elapsed, 0:45 left");
    CHECK(progress_line(p, 101) ==
          "epoch 2/5  [############........]  61 %  610/1000 steps  AU 91.2 %  5321.0 MB/s  3 waiting  0:45 left");
    CHECK(progress_line(p, 80) == "epoch 2/5  61 %  610/1000 steps  AU 91.2 %  5321.0 MB/s  3 waiting  0:45 left");
    CHECK(progress_line(p, 60) == "epoch 2/5  61 %  AU 91.2 %  5321.0 MB/s  0:45 left");
    CHECK(progress_line(p, 30) == "epoch 2/5  61 %  0:45 left");
    CHECK(progress_line(p, 12) == "epoch 2/5  6");
    CHECK(progress_line(p, 0).empty());
    Progress datagen;
    datagen.phase = "datagen";
    datagen.unit = "bytes";
    datagen.done = 1'500'000'000;
    datagen.total = 6'000'000'000;
    CHECK(progress_line(datagen) == "datagen  [#####...............]  25 %  1.50/6.00 GB  0:00 elapsed");
    datagen.done = 7'000'000'000; // more than was announced
    CHECK(progress_line(datagen).find("100 %") != std::string::npos);
}

TEST_CASE("a log gets a line every ten seconds, however often progress is reported") {
    FakeTerminal log;
    const auto view = make_progress_log(log.output());
    for (int i = 0; i < 1000; ++i) {
        log.now_s = 1000 + i * 0.1;
        view->on_progress(at(i * 0.1, static_cast<std::uint64_t>(i)));
    }
    CHECK(count(log.written, '\n') == 10);
    CHECK(count(log.written, '\r') == 0);
    CHECK(count(log.written, '\033') == 0);
    view->on_progress(at(100, 0, 0, "checkpoint")); // a new phase is said at once
    CHECK(count(log.written, '\n') == 11);
    // Virtual time outruns the clock on the wall: an hour of it in a second is not 360 lines.
    for (int i = 0; i < 3600; ++i) view->on_progress(at(100 + i, 0, 0, "checkpoint"));
    CHECK(count(log.written, '\n') == 11);
}

TEST_CASE("the panel: golden frames of a run on a wide terminal") {
    FakeTerminal terminal;
    const auto view = make_progress_panel(terminal.output());
    view->on_message("unet3d_h100: 4 accelerators");
    view->on_progress(at(0.5, 1));
    CHECK(terminal.screen() == "unet3d_h100: 4 accelerators\n"
                               "epoch 1/5  [....................]   0 %  1/1000 steps  0:01 elapsed\n");
    terminal.now_s += 60;
    view->on_epoch(test::passing().epochs[0]);
    terminal.now_s += 10;
    play(*view, terminal);
    const std::string epoch = "epoch 1: AU 96.68 %, 8171.5 MB/s, 56.02 samples/s, 12 steps in ";
    const std::string panel = "epoch 2/5  [############........]  61 %  610/1000 steps  1:12 elapsed, 0:45 left\n"
                              "  AU 91.2 %   3 stalled accelerators   128 reads in flight   0.43 CPU cores\n"
                              "  MB/s now 5321.0   sustained 4625.0   lowest second 2700.0\n"
                              "  ##=#\n";
    terminal.size.columns = 90;
    terminal.now_s += 1;
    Progress p = at(72, 610, 1);
    p.eta_s = 45;
    p.au_so_far_percentage = 91.2;
    p.MB_per_second_now = 5321;
    p.stalled_accelerators = 3;
    view->on_progress(p);
    const std::string screen = terminal.screen();
    INFO(screen);
    CHECK(screen.find("unet3d_h100: 4 accelerators\n" + epoch) == 0);
    CHECK(screen.substr(screen.find('\n', screen.find(epoch)) + 1) == panel);
    CHECK(terminal.cursor_is_at_line_start());
    view->finish({});
    view->finish({});
    CHECK(terminal.screen().find("MB/s now") == std::string::npos);
    CHECK(terminal.screen().find(epoch) != std::string::npos);
    CHECK(terminal.cursor_is_at_line_start());
}

TEST_CASE("the panel on other terminals: blocks, narrow, low, resized, gone") {
    FakeTerminal terminal;
    const auto view = make_progress_panel(terminal.output(true));
    play(*view, terminal);
    CHECK(terminal.screen().find("  ██▅█\n") != std::string::npos);
    CHECK(count(terminal.screen(), '\n') == 4);
    const auto again = [&](unsigned columns, unsigned rows) {
        terminal.size = {columns, rows};
        terminal.now_s += 1;
        Progress p = at(73, 620, 1);
        p.eta_s = 44;
        p.au_so_far_percentage = 91.2;
        p.MB_per_second_now = 5321;
        view->on_progress(p);
    };
    SECTION("narrower than 60: one line that fits, and nothing is left of the panel") {
        again(52, 24);
        CHECK(terminal.screen() == "epoch 2/5  62 %  AU 91.2 %  5321.0 MB/s  0:44 left\n");
        again(80, 24);
        CHECK(count(terminal.screen(), '\n') == 4);
    }
    SECTION("too few lines: one line") {
        again(80, 4);
        CHECK(count(terminal.screen(), '\n') == 1);
    }
    SECTION("absurdly small: nothing wraps, nothing crashes") {
        again(1, 1);
        CHECK(terminal.screen().size() <= 3);
    }
    SECTION("a view that goes without its end leaves nothing behind") {
        again(80, 24);
        const_cast<std::unique_ptr<ProgressView>&>(view).reset();
        CHECK(terminal.screen() == "\n");
    }
}

TEST_CASE("a terminal is drawn anew a few times a second only") {
    FakeTerminal terminal;
    const bool panel = GENERATE(true, false);
    const auto view = panel ? make_progress_panel(terminal.output()) : make_progress_line(terminal.output());
    for (int i = 0; i < 1000; ++i) {
        terminal.now_s = 1000 + i * 0.01;
        view->on_progress(at(i * 0.01, static_cast<std::uint64_t>(i)));
    }
    CHECK(count(terminal.written, '\r') <= 51);
    CHECK(count(terminal.written, '\r') >= 40);
    CHECK(count(terminal.screen(), '\n') == 1);
    CHECK(terminal.screen().find("epoch 1/5") == 0);
}

TEST_CASE("phases that count bytes have their own curve, and the second in which an epoch begins does not count") {
    LiveRate rate;
    Progress p = at(0, 0);
    rate.on_progress(p);
    CHECK_FALSE(rate.mean_MB_per_second());
    rate.on_slice(second_of(1));
    CHECK_FALSE(rate.min_MB_per_second());
    rate.on_slice(second_of(100));
    rate.on_slice(second_of(50));
    CHECK(rate.mean_MB_per_second() == 75);
    CHECK(rate.min_MB_per_second() == 50);
    CHECK(rate.recent().size() == 2);
    rate.restart();
    CHECK_FALSE(rate.mean_MB_per_second());

    Progress checkpoint = at(3, 0, 0, "checkpoint");
    checkpoint.unit = "bytes";
    for (int i = 0; i < 40; ++i) {
        checkpoint.elapsed_s += 0.25;
        checkpoint.MB_per_second_now = 10 + i;
        rate.on_progress(checkpoint);
        rate.on_slice(second_of(0)); // slices count reads of samples
    }
    CHECK(rate.recent().size() == 9); // one a second, without the first
    CHECK(rate.min_MB_per_second() == 14);
    for (int i = 0; i < 1000; ++i) rate.on_slice(second_of(1));
    CHECK(rate.recent().size() <= LiveRate::kMostRecent);
    CHECK(sparkline({0, 50, 100}, 2, false) == "=#");
    CHECK(sparkline({0, 0}, 5, false) == "__");
    CHECK(sparkline({}, 5, true).empty());
}

TEST_CASE("JSON progress: one object a line, a second apart, with null for what is not known") {
    using nlohmann::json;
    FakeTerminal machine;
    const auto view = make_progress_json(machine.output());
    view->on_message("a \"message\"\nof two lines");
    play(*view, machine);
    machine.now_s += 0.4;
    view->on_progress(at(73, 620, 1)); // too early
    machine.now_s += 0.2;
    view->on_progress(at(74, 630, 1));
    view->on_epoch(test::passing().epochs[0]);
    view->finish({.status = "failed", .valid = false, .verdict = "", .results_folder = "/r", .message = "EIO"});
    view->finish({});
    std::vector<json> events;
    std::size_t from = 0;
    for (std::size_t to = 0; (to = machine.written.find('\n', from)) != std::string::npos; from = to + 1)
        events.push_back(json::parse(machine.written.substr(from, to - from)));
    CHECK(from == machine.written.size());
    REQUIRE(events.size() == 5);
    for (const json& event : events) CHECK(event.at("progress_schema_version") == 1);
    CHECK(events[0].at("text") == "a \"message\"\nof two lines");
    CHECK(events[1].at("event") == "progress");
    CHECK(events[1].at("epoch_index") == 1);
    CHECK(events[1].at("done") == 590);
    CHECK(events[1].at("eta_s").is_null());
    CHECK(events[1].at("MB_per_second_mean").is_null());
    CHECK(events[1].at("cpu_cores").is_null());
    CHECK(events[2].at("done") == 630);
    CHECK(events[2].at("MB_per_second_mean") == 4625);
    CHECK(events[2].at("MB_per_second_min") == 2700);
    CHECK(events[2].at("in_flight_reads") == 128);
    CHECK(events[3].at("event") == "epoch");
    CHECK(events[3].at("metrics").size() == test::passing().epochs[0].metrics.size());
    CHECK(events[4].at("event") == "end");
    CHECK(events[4].at("message") == "EIO");
}
