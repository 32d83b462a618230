#include "harness/metrics/formula_value.hpp"

#include <algorithm>
#include <cmath>

namespace feedbench::metrics {

FormulaValue ratio(double part, double whole, std::string_view reason) {
    if (!(whole > 0) || !std::isfinite(part / whole)) return FormulaValue::none(reason);
    return FormulaValue::of(part / whole);
}

FormulaValue mean(std::span<const FormulaValue> values) {
    double sum = 0, count = 0;
    std::string_view reason = kNoSteps;
    for (const FormulaValue& value : values) {
        if (value) {
            sum += *value.number;
            ++count;
        } else if (reason == kNoSteps) {
            reason = value.reason;
        }
    }
    return count > 0 ? FormulaValue::of(sum / count) : FormulaValue::none(reason);
}

FormulaValue population_stdev(std::span<const FormulaValue> values) {
    const FormulaValue middle = mean(values);
    if (!middle) return middle;
    double squares = 0, count = 0;
    for (const FormulaValue& value : values) {
        if (!value) continue;
        squares += (*value.number - *middle.number) * (*value.number - *middle.number);
        ++count;
    }
    return FormulaValue::of(std::sqrt(squares / count));
}

FormulaValue quantile(std::vector<double> values, double quantile, std::string_view reason_if_empty) {
    if (values.empty()) return FormulaValue::none(reason_if_empty);
    const double wanted = std::ceil(quantile * static_cast<double>(values.size()));
    const std::size_t rank = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, values.size());
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank - 1), values.end());
    return FormulaValue::of(values[rank - 1]);
}

} // namespace feedbench::metrics
