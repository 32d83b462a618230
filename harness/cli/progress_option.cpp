#include "harness/cli/progress_option.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "harness/cli/session.hpp"
#include "harness/cluster/communicator.hpp"

namespace feedbench::cli {
namespace {

const char* from_environment(const char* name) { return std::getenv(name); }

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// The locale decides, in the order in which the C library asks.
bool shows_unicode() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        std::string text(value);
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
    }
    return false;
}

bool is_dumb() {
    const char* term = std::getenv("TERM");
    return term == nullptr || *term == '\0' || std::string_view(term) == "dumb";
}

} // namespace

bool passes_lines_on(std::string_view command_line) {
    static constexpr std::array<std::string_view, 4> kLaunchers{"mpirun", "mpiexec", "orterun", "prterun"};
    static constexpr std::array<std::string_view, 6> kMarks{"tag-output", "timestamp-output", "xterm",
                                                            "output",     "prepend-rank",     "l"};
    bool first = true;
    while (!command_line.empty()) {
        const std::size_t end = std::min(command_line.find('\0'), command_line.size());
        std::string_view word = command_line.substr(0, end);
        command_line.remove_prefix(std::min(end + 1, command_line.size()));
        if (std::exchange(first, false)) {
            word.remove_prefix(word.rfind('/') + 1); // npos + 1 is 0
            if (std::ranges::find(kLaunchers, word) == kLaunchers.end()) return false;
        } else if (word.starts_with('-')) {
            word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
            if (std::ranges::find(kMarks, word) != kMarks.end()) return false;
        } else if (word.substr(word.rfind('/') + 1) == "feedbench") {
            break; // what follows is ours
        }
    }
    return !first;
}

Terminal Terminal::find() {
    if (!cluster::launched_by_mpi(from_environment)) return Terminal(isatty(2) == 1 ? 2 : -1, false);
    const std::string parent = "/proc/" + std::to_string(getppid());
    if (!passes_lines_on(text_of(parent + "/cmdline"))) return Terminal(-1, false);
    const int fd = open((parent + "/fd/2").c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && isatty(fd) != 1) {
        close(fd);
        return Terminal(-1, false);
    }
    return Terminal(fd, true);
}

Terminal::Terminal(Terminal&& other) noexcept : fd_(std::exchange(other.fd_, -1)), owned_(other.owned_) {}

Terminal::~Terminal() {
    if (owned_ && fd_ >= 0) close(fd_);
}

reporters::TerminalSize Terminal::size() const {
    winsize window{};
    if (fd_ >= 0 && ioctl(fd_, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0)
        return {window.ws_col, window.ws_row};
    const auto number = [](const char* name, unsigned otherwise) {
        const char* text = std::getenv(name);
        const int value = text == nullptr ? 0 : std::atoi(text);
        return value > 0 && value < 10000 ? static_cast<unsigned>(value) : otherwise;
    };
    return {number("COLUMNS", 80), number("LINES", 24)};
}

void add_progress_option(CLI::App& command, std::string& form, std::string_view without_terminal) {
    std::vector<std::string> names{"auto"};
    std::string help;
    for (const reporters::ProgressForm& one : reporters::progress_forms()) {
        names.emplace_back(one.name);
        help += fmt::format("{}{} ({})", help.empty() ? "" : ", ", one.name, one.help);
    }
    command
        .add_option("--progress", form,
                    fmt::format("What is shown on stderr meanwhile: {}; auto: panel on a terminal, else {}", help,
                                without_terminal))
        ->check(CLI::IsMember(names))
        ->capture_default_str();
}

std::unique_ptr<reporters::ProgressView> make_progress(const std::string& form, std::string_view without_terminal) {
    auto terminal = std::make_shared<Terminal>(Terminal::find());
    std::string_view chosen = form;
    if (form == "auto") chosen = terminal->is_there() && !is_dumb() ? "panel" : without_terminal;
    reporters::ProgressOutput output;
    output.size = [terminal] { return terminal->size(); };
    output.now_s = [] { return static_cast<double>(unix_time_ns()) / 1e9; };
    output.unicode = shows_unicode();
    return reporters::find_progress_form(chosen)->make(std::move(output));
}

} // namespace feedbench::cli
