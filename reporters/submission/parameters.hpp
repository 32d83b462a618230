// Which keys of a workload a submission may change, as one table, and what a run did change.
//
// Thread: any (constant table); PublishedProfiles: one. Owner: none. Units: as in the keys. Errors: a profile that is
// not there. Source: rules of editions 1.0, 2.0, 3.0: tables of parameters that CLOSED and OPEN may change; a key that
// is not in the table may not be changed.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"
#include "reporters/submission/edition_facts.hpp"

namespace feedbench::submission {

struct ParameterRule {
    std::string_view key; // "reader.read_threads"; a trailing * stands for the rest
    unsigned divisions;   // that may change it
    unsigned editions;
    std::string_view model; // empty: every one
    std::optional<double> least, most;
    std::string_view why; // for keys of feedbench's own and those that another rule judges
};

struct ParameterChange {
    std::string key, value, published; // published: empty where that is not known
};

std::span<const ParameterRule> parameter_rules();

// Empty: the change is allowed. Else what would be right.
std::string objection(const ParameterChange& change, const EditionFacts& edition, unsigned division,
                      std::string_view model);

// The workloads as published, each read once.
class PublishedProfiles {
  public:
    // Every key in which `values` differs from the published workload; keys that only one side has are passed over.
    Expected<std::vector<ParameterChange>> changes(const std::vector<ConfigValue>& values, std::string_view model,
                                                   std::string_view accelerator);
    Expected<const Workload*> find(std::string_view model, std::string_view accelerator);

  private:
    std::map<std::string, Expected<Workload>, std::less<>> known_;
};

} // namespace feedbench::submission
