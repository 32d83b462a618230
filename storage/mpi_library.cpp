#include "storage/mpi_library.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace feedbench::storage {

std::string mpi_error_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

int errno_of_mpi(int code) {
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(code, &error_class);
    switch (error_class) {
    case MPI_ERR_NO_SUCH_FILE:
        return ENOENT;
    case MPI_ERR_ACCESS:
        return EACCES;
    case MPI_ERR_FILE_EXISTS:
        return EEXIST;
    case MPI_ERR_NO_SPACE:
        return ENOSPC;
    case MPI_ERR_QUOTA:
        return EDQUOT;
    case MPI_ERR_READ_ONLY:
        return EROFS;
    default:
        return EIO;
    }
}

Status begin_mpi(const std::string& uri) {
    int is_running = 0, has_ended = 0;
    MPI_Initialized(&is_running);
    MPI_Finalized(&has_ended);
    if (has_ended) return config_error("MPI has been finalised already", uri);
    if (is_running) return {};
    if (const char* asked = std::getenv("FEEDBENCH_MPI"); asked && asked[0] == '0')
        return config_error("mpiio: is MPI's own I/O, and FEEDBENCH_MPI=0 forbids MPI", uri);
    int level = 0;
    const char* threads = std::getenv("FEEDBENCH_MPI_THREADS");
    const bool is_single = threads && std::string_view(threads) != "multiple";
    if (MPI_Init_thread(nullptr, nullptr, is_single ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
        return config_error("MPI cannot be started without a launcher here; run feedbench under mpirun", uri);
    std::atexit([] { MPI_Finalize(); });
    return {};
}

bool mpi_takes_threads() {
    int level = 0;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

Expected<MPI_Info> mpi_hints(const std::string& hints, const std::string& uri) {
    MPI_Info info = MPI_INFO_NULL;
    std::string_view left = hints;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(';'), left.size());
        const std::string pair(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0 || equals > MPI_MAX_INFO_KEY ||
            pair.size() - equals > MPI_MAX_INFO_VAL) {
            if (info != MPI_INFO_NULL) MPI_Info_free(&info);
            return config_error("storage option 'hints': '" + pair + "' is not key=value", uri);
        }
        if (info == MPI_INFO_NULL) MPI_Info_create(&info);
        MPI_Info_set(info, pair.substr(0, equals).c_str(), pair.substr(equals + 1).c_str());
    }
    return info;
}

} // namespace feedbench::storage
