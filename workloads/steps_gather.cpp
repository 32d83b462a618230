#include "workloads/steps_gather.hpp"

#include <cstring>

#include "harness/accelerator/steps_h5.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::size_t kRecordsAPiece = 16384; // 1.3 MiB

std::vector<StepRecord> moved(std::span<const StepRecord> records, std::int64_t offset_ns) {
    std::vector<StepRecord> out(records.begin(), records.end());
    for (StepRecord& record : out)
        for (std::uint64_t* time : {&record.request_ns, &record.ready_ns, &record.think_end_ns, &record.barrier_end_ns})
            *time = static_cast<std::uint64_t>(static_cast<std::int64_t>(*time) + offset_ns);
    return out;
}

} // namespace

Status gather_steps(const RunRequest& request, accelerator::StepLog& log, std::int64_t clock_offset_ns) {
    cluster::Communicator& communicator = *request.communicator;
    // Every rank's file name is empty or none is: the request is the same everywhere.
    if (request.steps_path.empty()) return {};
    if (communicator.rank() != 0) {
        const Status replayed = log.replay(kRecordsAPiece, [&](std::span<const StepRecord> records) -> Status {
            const auto piece = moved(records, clock_offset_ns);
            communicator.send(
                0, std::string(reinterpret_cast<const char*>(piece.data()), piece.size() * sizeof(StepRecord)));
            return {};
        });
        communicator.send(0, {}); // an empty piece ends this rank's part
        return replayed;
    }
    auto file = accelerator::StepsFile::create({request.steps_path, request.run_id, request.time_origin_unix_ns});
    Status status = file ? Status{} : Status(file.error());
    const auto append = [&](std::span<const StepRecord> records) -> Status {
        communicator.tick();
        if (status) status = (*file)->append(records);
        return {};
    };
    if (const Status replayed = log.replay(kRecordsAPiece, append); !replayed && status) status = replayed;
    for (int rank = 1; rank < communicator.size(); ++rank)
        for (;;) {
            const std::string bytes = communicator.receive(rank);
            if (bytes.empty()) break;
            std::vector<StepRecord> records(bytes.size() / sizeof(StepRecord));
            std::memcpy(records.data(), bytes.data(), records.size() * sizeof(StepRecord));
            (void)append(records).has_value();
        }
    if (status) status = (*file)->close();
    return status;
}

} // namespace feedbench::workloads
