#include "harness/verdict/rule.hpp"

namespace feedbench::verdict {

std::span<const Rule> rules() { return {}; }

std::vector<Finding> judge(const RunResult& result, std::span<const Rule> rules) {
    std::vector<Finding> findings;
    for (const Rule& rule : rules)
        if (std::optional<std::string> evidence = rule.judge(result))
            findings.push_back({std::string(rule.name), std::string(rule.verdict), std::move(*evidence)});
    return findings;
}

} // namespace feedbench::verdict
