// The rules, one function a file of the same name; the table that orders them is in rules.cpp.
//
// Thread: any (pure functions). Owner: none. Units: as in RunResult. Errors: none; nothing where a rule does not fire,
// and where the facts that it needs are missing. Source: DESIGN sections 1 and 8; thresholds.hpp.
#pragma once

#include <optional>

#include "harness/verdict/rule.hpp"

namespace feedbench::verdict {

std::optional<Evidence> implausible(const RunResult& result);
std::optional<Evidence> cached(const RunResult& result);
std::optional<Evidence> checkpoint_cached(const RunResult& result);
std::optional<Evidence> client_network(const RunResult& result);
std::optional<Evidence> client_memory(const RunResult& result);
std::optional<Evidence> client_cpu(const RunResult& result);
std::optional<Evidence> checkpoint_client(const RunResult& result); // checkpoint_bound.cpp, both
std::optional<Evidence> checkpoint_storage(const RunResult& result);
std::optional<Evidence> storage_bound(const RunResult& result);
std::optional<Evidence> accelerator_bound(const RunResult& result);
std::optional<Evidence> inconclusive(const RunResult& result);
std::optional<Evidence> checkpoint_gap(const RunResult& result); // checkpoint_bound.cpp
std::optional<Evidence> memory_storage(const RunResult& result);

} // namespace feedbench::verdict
