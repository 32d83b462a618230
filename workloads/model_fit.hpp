// The parameters of `model:` from a measured run: what the run says of its storage, what it does not, and why.
//
// Thread: any. Owner: the caller. Units: as storage/model_parameters.hpp. Errors: a result that cannot say anything
// (not complete, another kind, nothing read). Source: docs/simulate.md.
#pragma once

#include <string>
#include <vector>

#include "harness/types/run_result.hpp"
#include "storage/model_parameters.hpp"
#include "workloads/run_sight.hpp"

namespace feedbench::workloads {

struct FitNote {
    std::string parameter, text; // "bandwidth": where it comes from, or why it could not be determined
};

struct ModelFit {
    storage::ModelParameters parameters;
    FitLimit limit = FitLimit::nothing;
    std::vector<FitNote> notes;
};

// `name`: of the result's file, for messages.
Expected<ModelFit> fit_model(const RunResult& measured, const std::string& name);

// Makes the model `faster` times as fast in what the limit names; nothing where accelerators hardly waited.
void speed_up(ModelFit& fit, double faster);

// The AU of a run, in percent; nothing where its window was empty.
std::optional<double> au_of(const RunResult& result);

} // namespace feedbench::workloads
