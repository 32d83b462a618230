// JUnit XML as CI systems read it: one suite, one case for comparability and one for each metric.
#include <fmt/format.h>

#include "reporters/gate/formats.hpp"

namespace feedbench::gate {
namespace {

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t length = byte < 0x80                   ? 1
                                   : byte >= 0xc2 && byte < 0xe0 ? 2
                                   : (byte & 0xf0) == 0xe0       ? 3
                                   : byte >= 0xf0 && byte < 0xf5 ? 4
                                                                 : 0;
        if (length == 0 || i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k)
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
        i += length;
    }
    return true;
}

// XML 1.0 text and attributes: markup escaped, characters that XML does not allow replaced.
std::string escaped(std::string_view text) {
    std::string out;
    const bool readable = is_utf8(text); // a path may hold any bytes
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (byte < 0x20 || byte == 0x7f)
            out += ' ';
        else if (byte >= 0x80 && !readable)
            out += '?';
        else
            out += c;
    }
    return out;
}

struct Counts {
    int tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string open_case(const std::string& name) {
    return fmt::format("    <testcase classname=\"feedbench.gate\" name=\"{}\" time=\"0\"", escaped(name));
}

std::string comparable_case(const GateReport& report, Counts& counts) {
    ++counts.tests;
    std::string out = open_case("comparable");
    if (report.answer != Answer::not_comparable) return out + "/>\n";
    ++counts.errors;
    return out + fmt::format(">\n      <error type=\"not comparable\" message=\"{}\"/>\n    </testcase>\n",
                             escaped(report.reason));
}

std::string metric_case(const MetricAnswer& m, bool decides, Counts& counts) {
    ++counts.tests;
    std::string out = open_case(m.rule.key);
    const std::string message = escaped(m.words);
    switch (m.outcome) {
    case Outcome::regressed:
        ++counts.failures;
        return out + fmt::format(">\n      <failure type=\"regressed\" message=\"{}\"/>\n    </testcase>\n", message);
    case Outcome::unclear:
    case Outcome::absent:
        if (decides && m.rule.required) {
            ++counts.errors;
            return out +
                   fmt::format(">\n      <error type=\"not enough data\" message=\"{}\"/>\n    </testcase>\n", message);
        }
        ++counts.skipped;
        return out + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", message);
    default:
        return out + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", message);
    }
}

std::string property(const char* name, const std::string& value) {
    return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
}

} // namespace

std::string render_junit(const GateReport& report, const reporters::RenderOptions&) {
    Counts counts;
    std::string cases = comparable_case(report, counts);
    for (const MetricAnswer& m : report.metrics)
        if (m.applies) cases += metric_case(m, report.answer == Answer::not_enough_data, counts);
    // An answer that no single metric carries: too few runs, or nothing that could be judged.
    if (report.answer == Answer::not_enough_data && counts.errors == 0) {
        ++counts.tests;
        ++counts.errors;
        cases += open_case("enough data") +
                 fmt::format(">\n      <error type=\"not enough data\" message=\"{}\"/>\n    </testcase>\n",
                             escaped(report.reason));
    }
    const std::string totals = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\"",
                                           counts.tests, counts.failures, counts.errors, counts.skipped);
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"feedbench\" " + totals + ">\n";
    out += "  <testsuite name=\"feedbench.gate\" " + totals + ">\n    <properties>\n";
    out += property("answer", std::string(answer_text(report.answer)));
    out += property("policy", report.policy.name) + property("baseline", report.baseline_name) +
           property("candidate", report.candidate_name);
    out += property("workload", describe(report.candidate.front()));
    return out + "    </properties>\n" + cases + "  </testsuite>\n</testsuites>\n";
}

} // namespace feedbench::gate
