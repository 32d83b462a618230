// Whether MPI is to be begun for several threads. Its locks cost every call a little, and one thread calls MPI, unless
// MPI reads the files (storage/mpi_jobs.hpp, storage/mpi_collective.hpp). MPI wants to know before a workload is read.
//
// Thread: any, before MPI is begun. Owner: nothing is kept. Units: none. Errors: none; a workload's file that cannot be
// read is refused by who loads it.
#pragma once

namespace feedbench::cluster {

// FEEDBENCH_MPI_THREADS=multiple or =single decides; else the command line, or a workload's file (.yaml, .yml; its
// first 256 KiB) named there, that asks for mpiio: or for collective reads.
bool wants_mpi_threads(int argc, const char* const* argv);

} // namespace feedbench::cluster
