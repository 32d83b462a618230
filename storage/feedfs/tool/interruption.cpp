#include "storage/feedfs/tool/interruption.hpp"

#include <csignal>
#include <initializer_list>

namespace feedbench::feedfs::tool {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void note(int which) {
    interrupted = 1;
    std::signal(which, SIG_DFL);
}

} // namespace

void watch_interruption() {
    for (const int which : {SIGINT, SIGTERM}) std::signal(which, note);
}

bool is_interrupted() { return interrupted != 0; }

} // namespace feedbench::feedfs::tool
