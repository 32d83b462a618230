// A file of the mpiio backend. Internal to storage/mpiio.cpp.
//
// Thread: reactor thread (perform_on_posix, next_piece_bytes, take_piece: any). Owner: who opened it. Units: bytes.
// Errors: MPI's codes (mpi_library.hpp).
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/engine/io_op.hpp"
#include "storage/mpi_library.hpp"
#include "storage/posix_base.hpp"

namespace feedbench::storage {

// A file that is open in the MPI library. Open MPI hands requests to the C library's aio, which serves those of one
// descriptor one after another: several reads at once need several descriptors, opened when they are first needed.
struct MpiFile final : engine::File {
    static constexpr std::size_t kMostLanes = 4;
    struct Lane {
        MPI_File file = MPI_FILE_NULL;
        std::uint32_t in_flight = 0;
    };
    ~MpiFile() override { close(); }
    MpiFile() = default;
    MpiFile(const MpiFile&) = delete;
    MpiFile& operator=(const MpiFile&) = delete;
    int open_lane(MPI_Info hints) {
        MPI_File file = MPI_FILE_NULL;
        const int code = MPI_File_open(MPI_COMM_SELF, path.c_str(), mode, hints, &file);
        if (code == MPI_SUCCESS) lanes.push_back({file});
        return code;
    }
    // The least busy descriptor, or one more.
    std::size_t lane_for(engine::IoKind kind, MPI_Info hints) {
        const auto least = std::min_element(lanes.begin(), lanes.end(),
                                            [](const auto& a, const auto& b) { return a.in_flight < b.in_flight; });
        const auto at = static_cast<std::size_t>(least - lanes.begin());
        if (least->in_flight == 0 || kind == engine::IoKind::write || lanes.size() >= kMostLanes) return at;
        return open_lane(hints) == MPI_SUCCESS ? lanes.size() - 1 : at; // too many open files: one fewer
    }
    void close() {
        for (Lane& lane : lanes) MPI_File_close(&lane.file);
        lanes.clear();
    }
    std::unique_ptr<engine::File> posix; // the same file for everything but data
    std::string path;
    int mode = MPI_MODE_RDONLY;
    std::vector<Lane> lanes;
};

inline MpiFile& mpi_file_of(engine::IoOp& op) { return static_cast<MpiFile&>(*op.file); }

// The same operation on the posix file.
inline void perform_on_posix(PosixBackend& backend, engine::IoOp& op) {
    engine::IoOp inner;
    inner.kind = op.kind;
    inner.file = mpi_file_of(op).posix.get();
    inner.path = op.path;
    inner.size_hint = op.size_hint;
    backend.perform_blocking(inner);
    PosixBackend::account(inner);
    op.result = inner.result;
    op.message = std::move(inner.message);
}

// From `place` to the end of op's file as it is now: it may have been cut since it was opened.
inline std::uint64_t bytes_behind(const engine::IoOp& op, std::uint64_t place) {
    struct stat now {};
    const auto& file = static_cast<const MpiFile&>(*op.file);
    const bool is_known = ::fstat(static_cast<const PosixFile&>(*file.posix).fd, &now) == 0;
    const std::uint64_t size = is_known ? static_cast<std::uint64_t>(now.st_size) : file.size_bytes;
    return place < size ? size - place : 0;
}

// How much of what is left of a read or a write goes into one call of MPI, which counts bytes in int; 0: it has ended.
inline int next_piece_bytes(const engine::IoOp& op) {
    constexpr std::uint64_t kMaxPieceBytes = 1U << 30;
    const auto done = static_cast<std::uint64_t>(op.result);
    std::uint64_t bytes = std::min(op.bytes - done, kMaxPieceBytes);
    // OMPIO asks for what lies behind a file's end for ever, ROMIO counts it as read.
    if (bytes > 0 && op.kind == engine::IoKind::read) bytes = std::min(bytes, bytes_behind(op, op.offset + done));
    return static_cast<int>(bytes);
}

inline void fail_with_mpi(engine::IoOp& op, int code) {
    op.result = -errno_of_mpi(code);
    op.message = "MPI: " + mpi_error_text(code);
}

// What a call that ended with `code` says of op; the bytes that it moved, 0: there is no use in going on.
inline int take_piece(engine::IoOp& op, const MPI_Status& status, int code) {
    if (code != MPI_SUCCESS) {
        fail_with_mpi(op, code);
        return 0;
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes > 0) {
        op.result += bytes;
        return bytes;
    }
    if (op.kind == engine::IoKind::write) {
        op.result = -EIO;
        op.message = "MPI wrote nothing, and said that all is well";
    }
    return 0;
}

inline void account_write(engine::IoOp& op) {
    if (op.kind != engine::IoKind::write || op.result < 0) return;
    op.file->size_bytes = std::max(op.file->size_bytes, op.offset + op.bytes);
    mpi_file_of(op).posix->size_bytes = op.file->size_bytes;
}

} // namespace feedbench::storage
