#include "reporters/html/plot.hpp"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/html/text.hpp"

namespace feedbench::html {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* shape_name(Shape shape) {
    switch (shape) {
    case Shape::line:
        return "line";
    case Shape::steps:
        return "steps";
    case Shape::bars:
        return "bars";
    case Shape::area:
        return "area";
    case Shape::dots:
        return "dots";
    }
    return "line";
}

// Six digits: more than a screen has pixels, and half the bytes.
Json number(double value) {
    if (!std::isfinite(value)) return nullptr;
    return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

} // namespace

std::string figure(const Plot& plot) {
    std::string out = fmt::format("<figure class=\"plot\" id=\"{0}\" data-plot=\"{0}\">\n", escape(plot.id));
    if (!plot.title.empty()) out += fmt::format("<h3>{}</h3>\n", escape(plot.title));
    out += fmt::format("<div class=\"canvas\" role=\"img\" aria-label=\"{}\"></div>\n",
                       escape(plot.summary.empty() ? plot.title : plot.summary));
    if (!plot.summary.empty()) out += fmt::format("<figcaption>{}</figcaption>\n", escape(plot.summary));
    return out + "</figure>\n";
}

std::string plot_json(const Plot& plot) {
    Json out = {{"id", plot.id},
                {"xLabel", plot.x_label},
                {"yLabel", plot.y_label},
                {"rightLabel", plot.right_label},
                {"xLog", plot.x_log},
                {"yFromZero", plot.y_from_zero},
                {"xNames", plot.x_names},
                {"series", Json::array()},
                {"thresholds", Json::array()}};
    if (plot.y_max) out["yMax"] = number(*plot.y_max);
    for (const Series& series : plot.series) {
        Json one = {{"label", series.label},   {"unit", series.unit},        {"shape", shape_name(series.shape)},
                    {"colour", series.colour}, {"right", series.right_axis}, {"showPoints", series.show_points},
                    {"names", series.names}};
        Json x = Json::array(), y = Json::array();
        for (const Point& point : series.points) {
            x.push_back(number(point.x));
            y.push_back(point.y ? number(*point.y) : Json(nullptr));
        }
        one["x"] = std::move(x);
        one["y"] = std::move(y);
        out["series"].push_back(std::move(one));
    }
    for (const Threshold& threshold : plot.thresholds)
        out["thresholds"].push_back({{"value", number(threshold.value)}, {"label", threshold.label}});
    for (const Threshold& mark : plot.x_marks)
        out["xMarks"].push_back({{"value", number(mark.value)}, {"label", mark.label}});
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace feedbench::html
