// What every command shares: the ranks, the options that all know, the workload, the loop.
//
// Thread: main thread of every rank. Owner: main(). Units: none. Errors: printed once, by rank 0; exit codes of DESIGN
// section 9.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "harness/cluster/stall_watch.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

namespace CLI {
class App;
}

namespace feedbench::cli {

struct WorkloadOptions {
    std::string workload;
    std::vector<std::string> params;    // -p
    std::vector<std::string> overrides; // ++workload.section.key=value
    std::string data_folder;            // --data-dir
    bool dry_run = false;
    double stall_timeout_s = 300;
};

class Session {
  public:
    Session(int* argc, char*** argv);
    ~Session();

    cluster::Communicator& communicator() { return *communicator_; }
    bool is_first() const { return communicator_->rank() == 0; }
    const std::vector<std::string>& arguments() const { return arguments_; }
    std::string command_line() const;
    // A person looks at this stream. Under mpirun it is a pseudo-terminal whatever stands behind it: no.
    bool on_terminal(int fd) const;

    // Rank 0 reads the file, all ranks get its text: nothing but the binary needs to be on the other hosts.
    Expected<Workload> load(const WorkloadOptions& options);
    // Made at first use; a second call with another clock is a mistake (asserted).
    Expected<engine::Reactor*> reactor(bool virtual_clock, bool need_uring);

    void set_stall_timeout(double seconds);
    // Prints an error (rank 0) and gives the exit code.
    int fail(const Error& error);
    // SIGINT and SIGTERM set this flag; a second one ends the process at once.
    static const volatile std::sig_atomic_t* signal_flag();
    static void catch_signals();

  private:
    std::vector<std::string> arguments_;
    std::unique_ptr<cluster::Communicator> communicator_;
    std::unique_ptr<engine::Clock> clock_;
    std::unique_ptr<engine::Reactor> reactor_;
    std::unique_ptr<cluster::StallWatch> watch_;
};

// The positional workload, -p, ++workload..., --data-dir and --dry-run.
void add_workload_options(CLI::App& command, WorkloadOptions& options);

// --stall-timeout, for every command that touches storage.
void add_stall_timeout(CLI::App& command, double& seconds);

// "2026-11-30T09:00:00.123456+0000" of now, and "20261130_090000".
std::string iso_time_now();
std::string run_stamp_now();
std::int64_t unix_time_ns();

} // namespace feedbench::cli
