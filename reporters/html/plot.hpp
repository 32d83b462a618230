// What a plot shows, and the figure that holds it: the script of the page draws it with uPlot.
//
// Thread: plain values, pure functions. Owner: the caller. Units: named in the labels. Errors: none. Source: uPlot 1.6
// (MIT). A point without a y is a gap. Series of one plot may have points at different x.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace feedbench::html {

enum class Shape { line, steps, bars, area, dots }; // area: steps that are filled; dots: points alone

struct Point {
    double x = 0;
    std::optional<double> y;
};

struct Series {
    std::string label, unit{};   // "AU", "%"
    std::vector<Point> points{}; // x ascends
    Shape shape = Shape::line;
    std::string colour = "accent"; // a colour of page.css: accent, good, warn, bad, think, storage, client, barrier,
                                   // outside, series-1 ... series-8
    bool right_axis = false;
    bool show_points = false;         // mark every point of a line
    std::vector<std::string> names{}; // of the points, shown beside the cursor; empty: none
};

// A value that is to be reached, or not to be passed: a dashed line across the plot, on the left axis.
struct Threshold {
    double value = 0;
    std::string label;
};

struct Plot {
    std::string id;                            // unique in the page: letters, digits, '-'
    std::string title;                         // above the plot
    std::string summary;                       // what one sees, in one sentence: below the plot and for screen readers
    std::string x_label, y_label, right_label; // each with its unit
    bool x_log = false;
    bool y_from_zero = true;
    std::optional<double> y_max;      // the axis reaches at least this far
    std::vector<std::string> x_names; // x is 1, 2, ... and stands for these; empty: x is a number
    std::vector<Series> series;
    std::vector<Threshold> thresholds;
    std::vector<Threshold> x_marks; // places along x: thin lines from top to bottom, "epoch 2"
};

// <figure> with a place for the plot; put it into the body, and the plot into Page::plots.
std::string figure(const Plot& plot);
// One object of the page's data block.
std::string plot_json(const Plot& plot);

} // namespace feedbench::html
