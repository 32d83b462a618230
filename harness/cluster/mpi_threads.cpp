#include "harness/cluster/mpi_threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace feedbench::cluster {
namespace {

constexpr std::size_t kMostText = std::size_t{256} << 10;

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

std::string workload_text(std::string_view argument) {
    if (!argument.ends_with(".yaml") && !argument.ends_with(".yml")) return {};
    std::ifstream file{std::string(argument)};
    std::string text(kMostText, '\0');
    file.read(text.data(), kMostText);
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return text;
}

bool asks_for_threads(std::string_view argument) {
    if (has(argument, "mpiio:") || has(argument, "storage_options.collective=")) return true;
    const std::string text = workload_text(argument);
    return has(text, "mpiio:") || has(text, "collective:");
}

} // namespace

bool wants_mpi_threads(int argc, const char* const* argv) {
    if (const char* said = std::getenv("FEEDBENCH_MPI_THREADS")) return std::string_view(said) == "multiple";
    return std::any_of(argv, argv + argc, asks_for_threads);
}

} // namespace feedbench::cluster
