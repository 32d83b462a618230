// steps.h5: every step of every accelerator as one table, for people who want to look closer than the report does.
//
// Thread: one user at a time; append and close write to disk and may wait for libhdf5's lock: not for the reactor
// thread while it measures, unless the writer accepts that. Owner: the run. Units: ns of the run's clock, bytes (see
// StepRecord). Errors: storage (with errno where the library tells it), format when reading. Memory: one block of
// records, whatever the run. Source: DESIGN sections 8 and 9; fields and an example are in docs/steps.md. Nothing
// half-written has the final name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "harness/types/error.hpp"
#include "harness/types/step_record.hpp"

namespace feedbench::accelerator {

inline constexpr std::uint32_t kStepsSchemaVersion = 1;
inline constexpr std::uint32_t kStepsBlockRecords = 4096; // records of a chunk of the table, and of the buffer

struct StepsDescription {
    std::string path;                     // final name; until close() the file is <path>.partial
    std::string run_id;                   // as in result.json
    std::int64_t time_origin_unix_ns = 0; // calendar time at 0 of the run's clock
};

class StepsFile {
  public:
    static Expected<std::unique_ptr<StepsFile>> create(const StepsDescription& description);
    StepsFile(const StepsFile&) = delete;
    StepsFile& operator=(const StepsFile&) = delete;
    ~StepsFile(); // without close(): the partial file is removed

    // Keeps the order of the records. After an error the file can only be given up.
    Status append(std::span<const StepRecord> records);
    // Writes what is left, syncs and gives the file its name. Once; append may not follow.
    Status close();
    std::uint64_t record_count() const;

  private:
    struct State;
    explicit StepsFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Calls `block` with all records in order, some thousand at a time, until it returns an error; answers how many there
// are.
Expected<std::uint64_t> read_steps(const std::string& path,
                                   const std::function<Status(std::span<const StepRecord>)>& block);

} // namespace feedbench::accelerator
