#include "harness/cli/session.hpp"

#include <CLI/CLI.hpp>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/config/profiles.hpp"
#include "harness/types/units.hpp"

namespace feedbench::cli {

namespace {

volatile std::sig_atomic_t g_signal = 0;
engine::Reactor* g_reactor = nullptr;

void on_signal(int number) {
    if (g_signal != 0) _exit(130); // asked twice
    g_signal = number;
    if (g_reactor) g_reactor->wake();
}

Expected<std::string> read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return config_error(std::string("cannot be read: ") + std::strerror(errno), path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace

Session::Session(int* argc, char*** argv)
    : communicator_(cluster::make_communicator(argc, argv)),
      watch_(std::make_unique<cluster::StallWatch>(*communicator_, to_ns(WorkloadOptions{}.stall_timeout_s))) {
    communicator_->life().say("starting");
    for (int i = 0; i < *argc; ++i) arguments_.emplace_back((*argv)[i]);
}

Session::~Session() {
    g_reactor = nullptr;
    communicator_->life().say("waiting for the other ranks to end");
    communicator_->barrier(); // while it is still watched
}

void Session::set_stall_timeout(double seconds) { watch_->set_timeout(to_ns(seconds)); }

std::string Session::command_line() const {
    std::string text;
    for (const std::string& argument : arguments_) text += (text.empty() ? "" : " ") + argument;
    return text;
}

bool Session::on_terminal(int fd) const {
    return isatty(fd) == 1 &&
           !cluster::launched_by_mpi([](const char* name) -> const char* { return std::getenv(name); });
}

Expected<Workload> Session::load(const WorkloadOptions& options) {
    const cluster::Doing doing(communicator_->life(), "reading the workload file " + options.workload);
    config::LoadRequest request;
    request.workload = options.workload;
    request.params = options.params;
    request.dlio_overrides = options.overrides;
    if (!options.data_folder.empty()) request.params.push_back("dataset.data_folder=" + options.data_folder);
    std::string path, text;
    Status status;
    if (is_first()) {
        auto found = config::find_workload(options.workload);
        if (found) {
            path = *found;
            auto content = read_text(path);
            if (content)
                text = *content;
            else
                status = content.error();
        } else
            status = found.error();
    }
    if (status = cluster::agree(*communicator_, status); !status) return status.error();
    path = communicator_->broadcast(path);
    text = communicator_->broadcast(text);
    return config::load_workload_text(text, path, request); // the same answer on every rank
}

Expected<engine::Reactor*> Session::reactor(bool virtual_clock, bool need_uring) {
    if (reactor_) {
        assert(clock_->is_virtual() == virtual_clock);
        return reactor_.get();
    }
    clock_ = virtual_clock ? engine::make_virtual_clock() : engine::make_real_clock();
    engine::Reactor::Options options;
    options.use_uring = !virtual_clock;
    auto made = engine::Reactor::make(*clock_, options);
    // Nobody asked for the ring by name: the loop can sleep without one. Asked for, its absence is an error.
    if (!made && !need_uring) {
        options.use_uring = false;
        made = engine::Reactor::make(*clock_, options);
    }
    if (auto status = cluster::agree(*communicator_, made ? Status{} : Status(made.error())); !status)
        return status.error();
    reactor_ = std::move(*made);
    g_reactor = reactor_.get();
    if (virtual_clock)
        watch_->stand_down();
    else
        watch_->watch(*reactor_);
    return reactor_.get();
}

int Session::fail(const Error& error) {
    if (is_first()) {
        std::fflush(stdout);
        std::fprintf(stderr, "feedbench: error: %s\n", error.describe().c_str());
    }
    return exit_code(error.kind);
}

const volatile std::sig_atomic_t* Session::signal_flag() { return &g_signal; }

void Session::catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

void add_workload_options(CLI::App& command, WorkloadOptions& options) {
    command
        .add_option("workload", options.workload, "Name of a profile (feedbench list) or path to a workload YAML file")
        ->required();
    command.add_option("-p,--param", options.params, "section.key=value, over the file's value; may be repeated")
        ->allow_extra_args(false)
        ->expected(1)
        ->take_all();
    command.add_option("--data-dir", options.data_folder, "The dataset's folder (dataset.data_folder): path or URI");
    command.add_flag("--dry-run", options.dry_run,
                     "Print the effective configuration, the plan, memory and disk need; do nothing");
    command.allow_extras(); // ++workload.section.key=value
}

void add_stall_timeout(CLI::App& command, double& seconds) {
    command
        .add_option("--stall-timeout", seconds,
                    "Seconds in which nothing gets on (no operation completes, a call does not return) before the job "
                    "stops and says what is outstanding where")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

std::int64_t unix_time_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

namespace {
std::tm local_now(long& microseconds) {
    const std::int64_t ns = unix_time_ns();
    const auto now = static_cast<std::time_t>(ns / 1'000'000'000);
    microseconds = static_cast<long>(ns % 1'000'000'000 / 1000);
    std::tm broken{};
    localtime_r(&now, &broken);
    return broken;
}
} // namespace

std::string iso_time_now() {
    long us = 0;
    const std::tm broken = local_now(us);
    char date[32], zone[16], text[80];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &broken);
    std::strftime(zone, sizeof zone, "%z", &broken);
    std::snprintf(text, sizeof text, "%s.%06ld%s", date, us, zone);
    return text;
}

std::string run_stamp_now() {
    long us = 0;
    const std::tm broken = local_now(us);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &broken);
    return text;
}

} // namespace feedbench::cli
