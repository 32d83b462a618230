// The table's row as libhdf5 describes it: one named field for each member of StepRecord.
//
// Thread: under formats::hdf5::Library. Owner: the caller. Units: bytes. Errors: an invalid handle.
// Source: harness/types/step_record.hpp. Little endian in the file, as in memory on every machine that we build for.
#pragma once

#include <array>
#include <cstddef>

#include "formats/hdf5_library.hpp"
#include "harness/types/step_record.hpp"

namespace feedbench::accelerator {

struct StepField {
    const char* name;
    std::size_t offset, bytes;
};

#define FEEDBENCH_STEP_FIELD(member)                                                                                   \
    StepField { #member, offsetof(StepRecord, member), sizeof(StepRecord::member) }
inline constexpr std::array kStepFields{FEEDBENCH_STEP_FIELD(accelerator_index), FEEDBENCH_STEP_FIELD(epoch_index),
                                        FEEDBENCH_STEP_FIELD(block_index),       FEEDBENCH_STEP_FIELD(step_index),
                                        FEEDBENCH_STEP_FIELD(sample_count),      FEEDBENCH_STEP_FIELD(request_ns),
                                        FEEDBENCH_STEP_FIELD(ready_ns),          FEEDBENCH_STEP_FIELD(think_drawn_ns),
                                        FEEDBENCH_STEP_FIELD(think_end_ns),      FEEDBENCH_STEP_FIELD(barrier_end_ns),
                                        FEEDBENCH_STEP_FIELD(storage_wait_ns),   FEEDBENCH_STEP_FIELD(client_wait_ns),
                                        FEEDBENCH_STEP_FIELD(bytes_delivered)};
#undef FEEDBENCH_STEP_FIELD

constexpr std::size_t step_field_bytes() {
    std::size_t bytes = 0;
    for (const StepField& field : kStepFields) bytes += field.bytes;
    return bytes;
}
static_assert(step_field_bytes() == sizeof(StepRecord), "a member of StepRecord is missing in the table");

inline formats::hdf5::Handle step_type() {
    formats::hdf5::Handle type(H5Tcreate(H5T_COMPOUND, sizeof(StepRecord)), H5Tclose);
    if (!type.is_valid()) return {};
    for (const StepField& field : kStepFields) {
        const hid_t element = field.bytes == 2 ? H5T_STD_U16LE : field.bytes == 4 ? H5T_STD_U32LE : H5T_STD_U64LE;
        if (H5Tinsert(type.get(), field.name, field.offset, element) < 0) return {};
    }
    return type;
}

} // namespace feedbench::accelerator
