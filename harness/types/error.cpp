#include "harness/types/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace feedbench {

namespace {
struct ErrnoName {
    int value;
    const char* name;
};
constexpr std::array kErrnoNames{ErrnoName{EPERM, "EPERM"},
                                 ErrnoName{ENOENT, "ENOENT"},
                                 ErrnoName{EIO, "EIO"},
                                 ErrnoName{EBADF, "EBADF"},
                                 ErrnoName{EAGAIN, "EAGAIN"},
                                 ErrnoName{ENOMEM, "ENOMEM"},
                                 ErrnoName{EACCES, "EACCES"},
                                 ErrnoName{EEXIST, "EEXIST"},
                                 ErrnoName{EXDEV, "EXDEV"},
                                 ErrnoName{ENOTDIR, "ENOTDIR"},
                                 ErrnoName{EISDIR, "EISDIR"},
                                 ErrnoName{EINVAL, "EINVAL"},
                                 ErrnoName{ENFILE, "ENFILE"},
                                 ErrnoName{EMFILE, "EMFILE"},
                                 ErrnoName{EFBIG, "EFBIG"},
                                 ErrnoName{ENOSPC, "ENOSPC"},
                                 ErrnoName{EROFS, "EROFS"},
                                 ErrnoName{ENOTEMPTY, "ENOTEMPTY"},
                                 ErrnoName{ENOSYS, "ENOSYS"},
                                 ErrnoName{ESTALE, "ESTALE"},
                                 ErrnoName{EDQUOT, "EDQUOT"},
                                 ErrnoName{EOPNOTSUPP, "EOPNOTSUPP"},
                                 ErrnoName{ETIMEDOUT, "ETIMEDOUT"},
                                 ErrnoName{ECANCELED, "ECANCELED"},
                                 ErrnoName{ENODATA, "ENODATA"},
                                 ErrnoName{ENAMETOOLONG, "ENAMETOOLONG"},
                                 ErrnoName{ELOOP, "ELOOP"},
                                 ErrnoName{EINTR, "EINTR"},
                                 ErrnoName{EBUSY, "EBUSY"},
                                 ErrnoName{ENODEV, "ENODEV"},
                                 ErrnoName{ENXIO, "ENXIO"},
                                 ErrnoName{EPIPE, "EPIPE"},
                                 ErrnoName{EREMOTEIO, "EREMOTEIO"},
                                 ErrnoName{ECONNREFUSED, "ECONNREFUSED"},
                                 ErrnoName{ECONNRESET, "ECONNRESET"},
                                 ErrnoName{ECONNABORTED, "ECONNABORTED"},
                                 ErrnoName{EHOSTUNREACH, "EHOSTUNREACH"},
                                 ErrnoName{ENETUNREACH, "ENETUNREACH"},
                                 ErrnoName{EPROTONOSUPPORT, "EPROTONOSUPPORT"},
                                 ErrnoName{EADDRNOTAVAIL, "EADDRNOTAVAIL"}};
} // namespace

std::string errno_name(int errno_value) {
    for (const auto& entry : kErrnoNames)
        if (entry.value == errno_value) return entry.name;
    return std::to_string(errno_value);
}

std::string Error::describe() const {
    std::string text;
    if (rank >= 0) {
        text += "rank " + std::to_string(rank);
        if (!host.empty() || accelerator >= 0) {
            text += " (";
            if (!host.empty()) text += "host " + host;
            if (accelerator >= 0)
                text += std::string(host.empty() ? "" : ", ") + "accelerator " + std::to_string(accelerator);
            text += ")";
        }
        text += ": ";
    }
    if (!operation.empty()) text += operation + " ";
    text += path;
    if (offset >= 0) text += " at offset " + std::to_string(offset);
    if (!operation.empty() || !path.empty() || offset >= 0) text += ": ";
    if (errno_value != 0) {
        text += std::string(std::strerror(errno_value)) + " (" + errno_name(errno_value) + ")";
        if (!message.empty()) text += ": ";
    }
    return text + message;
}

Error config_error(std::string message, std::string path) {
    return Error{
        .kind = ErrorKind::config, .message = std::move(message), .operation = {}, .path = std::move(path), .host = {}};
}
Error usage_error(std::string message) {
    return Error{.kind = ErrorKind::usage, .message = std::move(message), .operation = {}, .path = {}, .host = {}};
}
Error storage_error(std::string operation, std::string path, int errno_value, std::string message,
                    std::int64_t offset) {
    return Error{.kind = ErrorKind::storage,
                 .message = std::move(message),
                 .operation = std::move(operation),
                 .path = std::move(path),
                 .offset = offset,
                 .errno_value = errno_value,
                 .host = {}};
}
Error format_error(std::string path, std::string message, std::int64_t offset) {
    return Error{.kind = ErrorKind::format,
                 .message = std::move(message),
                 .operation = {},
                 .path = std::move(path),
                 .offset = offset,
                 .host = {}};
}
Error internal_error(std::string message) {
    return Error{.kind = ErrorKind::internal, .message = std::move(message), .operation = {}, .path = {}, .host = {}};
}

int exit_code(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::config:
        return 2;
    case ErrorKind::storage:
    case ErrorKind::format:
    case ErrorKind::stalled:
    case ErrorKind::internal:
        return 3;
    case ErrorKind::invalid:
        return 4;
    case ErrorKind::interrupted:
        return 130;
    }
    return 3;
}

} // namespace feedbench
