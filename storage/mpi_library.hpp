// The MPI library as mpiio: needs it: begun where nobody has, hints, errors.
//
// Thread: reactor thread (MPI_THREAD_FUNNELED). Owner: whoever gets an MPI_Info frees it. Units: none. Errors:
// config_error where MPI may not or cannot be begun. Source: MPI 3.1, chapter 13 (I/O) and 8.7 (start-up).
#pragma once

#include <mpi.h>

#include <string>

#include "harness/types/error.hpp"

namespace feedbench::storage {

// A process that no launcher started does not touch MPI, unless MPI's I/O is what was asked for: then it is a job of
// one rank, and MPI ends with the process.
Status begin_mpi(const std::string& uri);
// Whether several threads may call MPI at once.
bool mpi_takes_threads();

// "key=value;key=value"; MPI_INFO_NULL for none.
Expected<MPI_Info> mpi_hints(const std::string& hints, const std::string& uri);

std::string mpi_error_text(int code);
int errno_of_mpi(int code); // EIO where MPI's class says no more

} // namespace feedbench::storage
