// What follows from several keys together: computed defaults, and combinations that cannot be.
//
// Thread: one, at start-up. Owner: load_workload. Units: those of the keys.
// Errors: Error::path is the place of the key that is wrong, or the file.
// Source: DLIO's own checks of its configuration, and the rules' definitions of the workloads.
#pragma once

#include "harness/config/assignments.hpp"

#include <map>
#include <string>

namespace feedbench::config {

// Key -> why it has the value that it has ("computed: follows framework").
using ComputedOrigins = std::map<std::string, std::string>;

// Fills in what was not said, and refuses what cannot be.
Expected<ComputedOrigins> derive(Workload& workload, const Assignments& said);

// Bytes of an element of a DLIO (numpy) type name; 0 when unknown.
std::uint32_t element_bytes(std::string_view type);
// "h100" from "unet3d_h100_s3"; empty when the name holds none.
std::string accelerator_in(std::string_view name);

// Why dataset.parquet.columns cannot be those of this section; empty where they can.
std::string why_no_table(const DatasetSection& section);

} // namespace feedbench::config
