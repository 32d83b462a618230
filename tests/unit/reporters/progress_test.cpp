#include "reporters/progress.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;

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
std::ptrdiff_t count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }
} // namespace

TEST_CASE("one line says where the run is") {
    Progress p = at(72, 610, 1);
    p.eta_s = 45;
    p.au_so_far_percentage = 91.2;
    p.MB_per_second_now = 5321;
    p.stalled_accelerators = 3;
    CHECK(progress_line(p) == "epoch 2/5  [############........]  61 %  610/1000 steps  AU 91.2 %  5321.0 MB/s  3 "
                              "waiting  1:12 elapsed, 0:45 left");
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
    std::string log;
    ProgressPrinter printer(false, [&](std::string_view text) { log += text; });
    for (int i = 0; i < 1000; ++i) printer.on_progress(at(i * 0.1, static_cast<std::uint64_t>(i)));
    CHECK(count(log, '\n') == 10);
    CHECK(count(log, '\r') == 0);
    CHECK(count(log, '\033') == 0);
    printer.on_progress(at(100, 0, 0, "checkpoint")); // a new phase is said at once
    CHECK(count(log, '\n') == 11);
}

TEST_CASE("a terminal's line renews itself a few times a second and is ended before other text") {
    std::string screen;
    {
        ProgressPrinter printer(true, [&](std::string_view text) { screen += text; });
        for (int i = 0; i < 1000; ++i) printer.on_progress(at(i * 0.01, static_cast<std::uint64_t>(i)));
        CHECK(count(screen, '\r') <= 51);
        CHECK(count(screen, '\r') >= 40);
        CHECK(count(screen, '\n') == 0);
        printer.on_message("a message");
        CHECK(screen.find("\r\033[Ka message\n") != std::string::npos);
        printer.on_progress(at(20, 999));
        const auto lines = count(screen, '\n');
        printer.finish();
        printer.finish();
        CHECK(count(screen, '\n') == lines + 1);
    }
    CHECK(count(screen, '\n') == 2);
}

TEST_CASE("an epoch's end is one line with its figures") {
    std::string log;
    ProgressPrinter printer(false, [&](std::string_view text) { log += text; });
    printer.on_epoch(test::passing().epochs[0]);
    CHECK(count(log, '\n') == 1);
    CHECK(log.find("epoch 1: AU 96.68 %, 8171.5 MB/s, 56.02 samples/s, 12 steps in ") == 0);
}
