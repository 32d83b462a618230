// --progress of the commands that take a while, and the terminal that a person may be looking at.
//
// Thread: main thread. Owner: the command. Units: none. Errors: CLI11's, for an unknown form. Source: docs/progress.md.
#pragma once

#include <memory>
#include <string>

#include "reporters/progress.hpp"

namespace CLI {
class App;
}

namespace feedbench::cli {

// auto: a panel where a person looks, else `without_terminal`.
void add_progress_option(CLI::App& command, std::string& form, std::string_view without_terminal = "log");

std::unique_ptr<reporters::ProgressView> make_progress(const std::string& form,
                                                       std::string_view without_terminal = "log");

// A terminal on which stderr of this process appears: its own, or that of the launcher that passes its lines on.
class Terminal {
  public:
    // Looks at fd 2, and where a launcher of MPI is the parent on this host at the parent's; `none` otherwise, and
    // where the launcher puts marks before every line.
    static Terminal find();
    Terminal(Terminal&& other) noexcept;
    Terminal& operator=(Terminal&&) = delete;
    ~Terminal();
    bool is_there() const { return fd_ >= 0; }
    reporters::TerminalSize size() const;

  private:
    explicit Terminal(int fd, bool owned) : fd_(fd), owned_(owned) {}
    int fd_;
    bool owned_;
};

// Of the command line of a launcher ("mpirun\0--tag-output\0..."): whether it passes its ranks' lines on as they are.
bool passes_lines_on(std::string_view command_line);

} // namespace feedbench::cli
